#include "runtime/net/bond/keeper.h"

#include <chrono>

namespace coll::net::bond {

namespace {

constexpr std::chrono::milliseconds kTick(1);

} // namespace

Keeper::~Keeper() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Keeper::add(Kept *kept) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_.insert(kept);
  changed_.notify_all();
}

void Keeper::remove(Kept *kept) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_.erase(kept);
}

void Keeper::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    if (all_.empty()) {
      changed_.wait(lock);
      continue;
    }
    for (Kept *kept : all_)
      kept->tick();
    changed_.wait_for(lock, kTick, [this] { return ending_; });
  }
}

} // namespace coll::net::bond
