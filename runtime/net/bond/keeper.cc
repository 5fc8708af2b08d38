#include "runtime/net/bond/keeper.h"

#include "runtime/base/thread.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace coll::net::bond {

namespace {

constexpr std::chrono::milliseconds kTick(1);

} // namespace

Status Keeper::start() {
  return rt::startThread(thread_, "connections over several devices", [this] { run(); });
}

Keeper::~Keeper() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void Keeper::add(std::shared_ptr<Kept> kept) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_.push_back(std::move(kept));
  changed_.notify_all();
}

void Keeper::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_ || !all_.empty()) {
    if (all_.empty()) {
      changed_.wait(lock);
      continue;
    }
    auto over = std::stable_partition(
        all_.begin(), all_.end(), [](const std::shared_ptr<Kept> &kept) { return kept->tick(); });
    std::vector<std::shared_ptr<Kept>> ended(std::make_move_iterator(over),
                                             std::make_move_iterator(all_.end()));
    all_.erase(over, all_.end());
    if (!ended.empty()) {
      lock.unlock();
      ended.clear(); // may destroy the connections
      lock.lock();
    }
    changed_.wait_for(lock, kTick);
  }
}

} // namespace coll::net::bond
