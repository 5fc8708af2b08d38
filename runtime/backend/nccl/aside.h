// aside.h - calls NCCL on a separate thread, because the call may wait for other members without
// limit.

#ifndef COLL_RUNTIME_BACKEND_NCCL_ASIDE_H
#define COLL_RUNTIME_BACKEND_NCCL_ASIDE_H

#include "runtime/base/status.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::rt::nccl {

// One call at a time, on a thread that is kept while calls follow each other closely. Belongs to
// one thread.
class Aside {
public:
  Aside() = default;
  // If a call is still running, its thread is abandoned and ends with it.
  ~Aside();
  Aside(const Aside &) = delete;
  Aside &operator=(const Aside &) = delete;

  // Starts a call; none may be running, and the outcome of the one before is forgotten. `body` owns
  // everything that it uses, or uses objects that live on. If no thread can be started, `body` does
  // not run, and take() says why.
  void start(std::function<Status()> body);
  // Whether no call is running.
  bool done() const { return state_->done.load(std::memory_order_acquire); }
  // Waits up to `us`; returns done().
  bool waitUs(int64_t us) const;
  // The outcome of the last call. Call it only once that is done.
  Status take() { return std::move(state_->outcome); }

private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<Status()> body; // the next call, until it begins
    bool isRunning = false;       // the thread, which will see `body`
    bool isEnding = false;
    std::atomic<bool> done{true};
    Status outcome;

    void runCalls();
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

// Destroys communicators, in any order; the destruction of each waits for the other members'.
// Belongs to one thread.
class Endings {
public:
  // Waits for the destructions for a limited time, so not for a member that ends much later.
  ~Endings();
  void add(std::function<Status()> body) {
    all_.push_back(std::make_unique<Aside>());
    all_.back()->start(std::move(body));
  }

private:
  std::vector<std::unique_ptr<Aside>> all_;
};

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_ASIDE_H
