#include "runtime/backend/nccl/aside.h"

#include "runtime/base/thread.h"

#include <chrono>

namespace coll::rt::nccl {

Aside::Aside(std::function<Status()> body) {
  Status started = startThread(thread_, "a call of NCCL", [state = state_, body = std::move(body)] {
    state->outcome = body();
    state->done.store(true, std::memory_order_release);
  });
  if (started.ok())
    return;
  state_->outcome = started;
  state_->done.store(true, std::memory_order_release);
}

Aside::~Aside() {
  if (!thread_.joinable())
    return;
  if (done())
    thread_.join();
  else
    thread_.detach();
}

bool Aside::waitUs(int64_t us) const {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (!done() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return done();
}

Endings::~Endings() {
  constexpr int64_t kPatienceUs = 2'000'000;
  auto begin = std::chrono::steady_clock::now();
  for (const std::unique_ptr<Aside> &one : all_)
    (void)one->waitUs(kPatienceUs - std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::steady_clock::now() - begin)
                                        .count());
}

} // namespace coll::rt::nccl
