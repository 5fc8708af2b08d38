// poller.h - one thread that waits for descriptors and deadlines.

#ifndef COLL_RUNTIME_NET_POLLER_H
#define COLL_RUNTIME_NET_POLLER_H

#include "runtime/net/socket.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace coll::net {

// Called on the thread of the poller to which the handler was added.
class PollHandler {
public:
  virtual ~PollHandler() = default;
  virtual void onEvents(uint32_t events) = 0;
  // The deadline has passed; it is cleared before the call.
  virtual void onDeadline() = 0;
  // Poller::post() was called.
  virtual void onPosted() {}
};

// Uses level-triggered epoll. All functions may be called from any thread, also by handlers. The
// poller shares ownership of a handler until remove().
class Poller {
public:
  // After work, the thread polls for spinUs before it sleeps, because waking it costs more than
  // most messages take.
  static Result<std::unique_ptr<Poller>> create(int64_t spinUs = 0);
  // Stops, and releases the handlers.
  ~Poller();
  // Ends the thread: no handler is called afterwards. Must not be called by a handler.
  void stop();

  // Reserves a number for add(), so that a handler knows its number before its first event.
  uint64_t reserve() { return next_.fetch_add(1); }
  // deadlineUs 0: no deadline; fd -1: only posts and deadlines. The handler keeps `fd` open until
  // remove().
  Status add(uint64_t id, int fd, uint32_t events, std::shared_ptr<PollHandler> handler,
             int64_t deadlineUs = 0);
  void modify(uint64_t id, int fd, uint32_t events);
  void setDeadline(uint64_t id, int64_t deadlineUs);
  // Calls the handler's onPosted() soon, once for all earlier posts. Costs no system call while the
  // thread is busy.
  void post(uint64_t id);
  // A call of the handler may still be running, unless the caller is the poller's thread.
  void remove(uint64_t id, int fd);
  size_t numHandlers() const;
  // Whether the calling thread is this poller's thread.
  bool isOwnThread() const { return std::this_thread::get_id() == thread_.get_id(); }
  // Whether the thread would handle a post at once because it is polling.
  bool awake() const { return spinUs_ > 0 && !asleep_.load(std::memory_order_relaxed); }

private:
  struct Entry {
    std::shared_ptr<PollHandler> handler;
    int64_t deadlineUs = 0;
    bool posted = false;
  };

  Poller(Fd epoll, Fd wake, int64_t spinUs)
      : epoll_(std::move(epoll)), wake_(std::move(wake)), spinUs_(spinUs) {}
  void loop();
  int timeoutMs();
  bool dispatch(int timeoutMs);
  bool runPosted();
  void breathe() const;
  void runDeadlines();
  void wake();

  Fd epoll_, wake_;
  const int64_t spinUs_;
  std::atomic<uint64_t> next_{1};
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_; // a leaf: held only for the map
  std::unordered_map<uint64_t, Entry> entries_;
  std::vector<uint64_t> posted_;
  std::atomic<bool> anyPosted_{false}, asleep_{true};
  bool sleeping_ = false;  // the thread sleeps, and a post has to wake it
  int64_t earliestUs_ = 0; // no deadline is earlier; 0: there is none
  std::thread thread_;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_POLLER_H
