#include "runtime/backend/net/progress.h"

#include "runtime/base/thread.h"

#include <algorithm>
#include <chrono>

namespace coll::rt::network {

namespace {

using Clock = std::chrono::steady_clock;

// The thread sleeps only briefly for this long after the last operation: waking it for each
// operation of a series would cost the rank more than a small operation takes.
constexpr auto kLinger = std::chrono::milliseconds(10);
constexpr int64_t kSleepUs = 60'000'000;

} // namespace

Status Progress::start() {
  return startThread(thread_, "operations in flight", [this] { loop(); });
}

Progress::~Progress() {
  ending_.store(true, std::memory_order_release);
  wake();
  if (thread_.joinable())
    thread_.join();
}

void Progress::add(Driven &rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  ranks_.push_back(&rank);
}

void Progress::remove(Driven &rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  ranks_.erase(std::find(ranks_.begin(), ranks_.end(), &rank));
}

Progress::Driven::Found Progress::lookAtAll() {
  std::lock_guard<std::mutex> lock(mutex_);
  Driven::Found most = Driven::Found::Nothing;
  for (Driven *rank : ranks_)
    most = std::max(most, rank->look());
  return most;
}

void Progress::sleep() {
  parker_.announce();
  // If a rank left something in flight before the announcement, it woke no thread.
  if (ending_.load(std::memory_order_acquire) || lookAtAll() != Driven::Found::Nothing)
    parker_.retract();
  else
    parker_.park(kSleepUs);
}

void Progress::loop() {
  Clock::time_point busy = Clock::now() - kLinger;
  while (!ending_.load(std::memory_order_acquire)) {
    const Driven::Found found = lookAtAll();
    if (found != Driven::Found::Nothing)
      busy = Clock::now();
    if (found == Driven::Found::Moved)
      idle_.reset();
    else if (Clock::now() - busy < kLinger)
      idle_.pause();
    else
      sleep();
  }
}

} // namespace coll::rt::network
