#include "runtime/backend/nccl/aside.h"

#include "runtime/base/thread.h"

#include <chrono>
#include <utility>

namespace coll::rt::nccl {

// How long a thread waits for another call.
constexpr std::chrono::seconds kIdle(1);

void Aside::State::runCalls() {
  std::unique_lock<std::mutex> lock(mutex);
  while (changed.wait_for(lock, kIdle, [&] { return body || isEnding; }) && body) {
    std::function<Status()> call = std::exchange(body, nullptr);
    lock.unlock();
    outcome = call();
    call = nullptr; // what it owns is destroyed before the call counts as done
    done.store(true, std::memory_order_release);
    lock.lock();
  }
  isRunning = false;
}

void Aside::start(std::function<Status()> body) {
  state_->done.store(false, std::memory_order_relaxed);
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->body = std::move(body);
    if (state_->isRunning) {
      state_->changed.notify_one();
      return;
    }
    state_->isRunning = true;
  }
  if (thread_.joinable())
    thread_.join();
  Status started = startThread(thread_, "a call of NCCL", [state = state_] { state->runCalls(); });
  if (started.ok())
    return;
  state_->isRunning = false;
  state_->body = nullptr;
  state_->outcome = started;
  state_->done.store(true, std::memory_order_release);
}

Aside::~Aside() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->isEnding = true;
  }
  state_->changed.notify_one();
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
