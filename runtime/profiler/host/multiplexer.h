// multiplexer.h - passes one stream of profiler events to any number of plugins.
//
// Each plugin has its own context for each communicator, its own activation mask, and its own
// handle for each event, which it also receives as the parent. A mask includes parents: a plugin
// that wants an event gets its parents, too.
//
// Contexts and handles that the caller gets are numbers, not addresses: one that is outdated, from
// another process, or garbage is looked up, not followed, and then ignored.
//   - An event that is stopped stays known as a parent until kMaxEvents others have begun.
//   - A state or a stop after the stop is dropped.
//   - finalize() stops the events in flight, the latest first.
//   - If all places of events are in flight, or all of communicators in use, new ones are dropped.
// drops() counts the dropped events.
//
// Threads: several threads may call every function at once, but for one event only one after the
// other. Only init() and finalize() take locks; events need no allocation.

#ifndef COLL_RUNTIME_PROFILER_HOST_MULTIPLEXER_H
#define COLL_RUNTIME_PROFILER_HOST_MULTIPLEXER_H

#include "runtime/profiler/host/plugin.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::profiler {

inline constexpr size_t kMaxPlugins = 8;

class Multiplexer {
public:
  static constexpr size_t kMaxEvents = 1 << 15;
  static constexpr size_t kMaxCommunicators = 1 << 12; // at once

  struct Drops {
    uint64_t events = 0;      // no place, or no such context
    uint64_t lateChanges = 0; // states and stops of events that have ended
  };

  // Takes the first kMaxPlugins plugins.
  explicit Multiplexer(std::vector<std::shared_ptr<Plugin>> plugins);
  ~Multiplexer();
  Multiplexer(const Multiplexer &) = delete;
  Multiplexer &operator=(const Multiplexer &) = delete;

  size_t numPlugins() const { return plugins_.size(); }

  // Null if no plugin wants the communicator. A plugin that rejects it is reported in one warning,
  // and is not asked again.
  void *init(const CommunicatorInfo &info);
  // The events that any plugin wants of any communicator.
  uint64_t mask() const;
  // Whether a plugin wants events of this type; `type` is one bit.
  bool wants(void *context, uint64_t type) const;
  // `event` is as in the ABI, but with handles that start() returned. Null if no plugin takes the
  // event. `pid` of a proxy op decides whether its parent is looked up.
  void *start(void *context, const abi::EventDescriptorV7 &event);
  void stop(void *handle);
  void record(void *handle, abi::EventState state, const abi::StateArgsV7 &args);
  void finalize(void *context);

  Drops drops() const;

private:
  // A communicator as one plugin sees it.
  struct Seat {
    bool isTaken = false;
    void *context = nullptr;
    std::atomic<int> *mask = nullptr; // the plugin may write it at any time
  };
  struct Communicator {
    std::atomic<uint32_t> generation{0}; // odd: in use
    std::atomic<int32_t> callers{0};     // calls to plugins in progress
    std::array<Seat, kMaxPlugins> seats;
  };
  // `key` is 0: free; the handle: in flight; the handle | kOver: stopped.
  struct Event {
    std::atomic<uint64_t> key{0};
    std::atomic<uint64_t> context{0};
    std::array<std::atomic<void *>, kMaxPlugins> handles{};
  };
  using Handles = std::array<void *, kMaxPlugins>;

  // Prevents that a communicator is finalized while the object lives.
  class Visit;

  Communicator *find(uint64_t context) const;
  Event *eventOf(uint64_t handle) const;
  // The handles of an event that is in flight or has ended; all null if it is unknown.
  Handles lookUp(void *handle) const;
  Event *claim(uint64_t &handle);
  uint64_t requestedEvents(const Seat &seat, const Plugin &plugin) const;
  void stopEvent(Event &event);
  void stopAllOf(uint64_t context);

  std::vector<std::shared_ptr<Plugin>> plugins_;
  std::array<std::atomic<bool>, kMaxPlugins> isRefused_{};
  const uint64_t salt_; // tells apart the numbers of processes

  std::mutex mutex_; // of init and finalize
  std::unique_ptr<Communicator[]> communicators_;
  std::vector<std::unique_ptr<std::atomic<int>[]>> masks_;
  std::unique_ptr<Event[]> events_;
  std::atomic<uint64_t> nextEvent_{0};
  mutable std::atomic<uint64_t> droppedEvents_{0}, lateChanges_{0};
};

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_MULTIPLEXER_H
