#include "embed/c/request.h"

#include <chrono>

namespace coll::embed {

void Request::complete(Outcome failure, std::vector<std::shared_ptr<Tensor>> results) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = std::move(failure);
    results_ = std::move(results);
    batch_.clear();
    isComplete_ = true;
  }
  completed_.notify_all();
  if (callback_)
    callback_(user_, handle_);
}

Outcome Request::wait(int64_t timeoutUs, size_t wanted,
                      std::vector<std::shared_ptr<Tensor>> &results) {
  std::unique_lock<std::mutex> lock(mutex_);
  auto isComplete = [this] { return isComplete_; };
  if (timeoutUs < 0)
    completed_.wait(lock, isComplete);
  // A longer timeout counts as no timeout, so that the clock does not overflow.
  else if (!completed_.wait_for(
               lock, std::chrono::microseconds(std::min<int64_t>(timeoutUs, 31'536'000'000'000)),
               isComplete))
    return fail(COLL_TIMEOUT, "the step is not complete after " + std::to_string(timeoutUs) +
                                  " microseconds; it goes on");
  if (failure_)
    return std::make_unique<Failure>(*failure_);
  if (wanted == 0)
    return nullptr;
  if (isTaken_)
    return invalid("the results of this request were taken before");
  if (!results_.empty() && wanted != results_.size())
    return invalid("num_results is " + std::to_string(wanted) + ", but a step has " +
                   std::to_string(results_.size()) + " results");
  results = std::move(results_);
  isTaken_ = true;
  return nullptr;
}

} // namespace coll::embed
