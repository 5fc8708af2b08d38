// aside.h - calls NCCL on a separate thread, because the call may wait for other members without
// limit.

#ifndef COLL_RUNTIME_BACKEND_NCCL_ASIDE_H
#define COLL_RUNTIME_BACKEND_NCCL_ASIDE_H

#include "runtime/base/status.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace coll::rt::nccl {

// Belongs to one thread.
class Aside {
public:
  // `body` owns everything that it uses, or uses objects that live on: if it never returns, its
  // thread is abandoned. If no thread can be started, `body` does not run, and take() says why.
  explicit Aside(std::function<Status()> body);
  ~Aside();
  Aside(const Aside &) = delete;
  Aside &operator=(const Aside &) = delete;

  bool done() const { return state_->done.load(std::memory_order_acquire); }
  // Waits up to `us`; returns whether the call is done.
  bool waitUs(int64_t us) const;
  // The outcome. Call it only once the call is done.
  Status take() { return std::move(state_->outcome); }

private:
  struct State {
    std::atomic<bool> done{false};
    Status outcome;
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
    all_.push_back(std::make_unique<Aside>(std::move(body)));
  }

private:
  std::vector<std::unique_ptr<Aside>> all_;
};

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_ASIDE_H
