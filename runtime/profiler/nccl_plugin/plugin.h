// plugin.h - the state of the plugin in this process, and its callbacks, for all versions of the
// ABI.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_PLUGIN_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_PLUGIN_H

#include "runtime/profiler/nccl_plugin/worker.h"

namespace coll::profiler::plugin {

// Callbacks take no lock and do no input or output; they only allocate a ring for each thread.
class Plugin {
public:
  // The only object of this process. It is never destroyed: threads of NCCL may still report events
  // while the process exits.
  static Plugin &instance();

  // Returns the context. `mask` is 0 if the plugin is off; then one line was logged.
  void *init(CommunicatorInfo info, uint64_t &mask);
  void finalize(void *context);

  // The destination of a start; false if it is dropped.
  struct Place {
    Rings::Entry *ring = nullptr;
    uint16_t communicator = 0;
  };
  bool begin(const void *context, Place &place, Record &record);
  // Pushes the start and returns the handle. `parent` is as NCCL gave it.
  void *push(const Place &place, uint64_t parent, Record &record);
  // Takes the record of a state or a stop.
  void push(const void *handle, Record &record);
  // Keeps the start of a kernel channel, and returns its handle; null if it must be pushed. Most of
  // NCCL's events are channels, so they have separate, short functions.
  void *beginKernel(const void *context, const void *parent, uint8_t channel, uint64_t stamp);
  // Takes the stop of a kernel channel that beginKernel() has kept; false if it has not.
  bool endKernel(const void *handle, uint64_t stamp);
  // Whether it is the last channel that this thread has ended.
  bool hasEndedKernel(const void *handle);

  Names &names() { return names_; }
  void setNcclVersion(int version) { ncclVersion_.store(version, std::memory_order_relaxed); }
  bool hasV7Fields() const { return ncclVersion_.load(std::memory_order_relaxed) >= 23100; }
  bool knowsNcclVersion() const { return ncclVersion_.load(std::memory_order_relaxed) != 0; }
  int pid() const { return pid_; }
  // Called in a child of fork(), which has no worker.
  void disable() { isOn_.store(false, std::memory_order_release); }
  void stopAtExit();

private:
  Plugin();
  bool turnOn();

  Names names_;
  Communicators communicators_;
  const int pid_;
  const Handles handles_;
  TickClock clock_; // read by callbacks, adjusted by the worker
  std::atomic<bool> isOn_{false};
  std::atomic<int> ncclVersion_{0};
  std::mutex mutex_; // of init and finalize
  Settings settings_;
  std::unique_ptr<Rings> rings_; // made once, by the first init
  std::unique_ptr<Worker> worker_;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_PLUGIN_H
