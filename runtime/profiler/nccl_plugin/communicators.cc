#include "runtime/profiler/nccl_plugin/communicators.h"

#include <utility>

namespace coll::profiler::plugin {

uint16_t Communicators::add(CommunicatorInfo info) {
  std::lock_guard<std::mutex> lock(mutex_);
  uint16_t number = next_;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else if (next_ > Handles::kMostCommunicators) {
    return 0;
  } else {
    ++next_;
  }
  new_.push_back({number, std::move(info)});
  count_.fetch_add(1, std::memory_order_release);
  live_[number].store(true, std::memory_order_release);
  return number;
}

bool Communicators::finish(uint16_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!isLive(number))
    return false;
  live_[number].store(false, std::memory_order_release);
  count_.fetch_sub(1, std::memory_order_release);
  finished_.push_back(number);
  return true;
}

std::vector<Communicators::Change> Communicators::takeNew() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(new_, {});
}

std::vector<uint16_t> Communicators::takeFinished() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(finished_, {});
}

void Communicators::release(uint16_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(number);
}

} // namespace coll::profiler::plugin
