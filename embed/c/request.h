// request.h - a step that was queued.

#ifndef COLL_EMBED_C_REQUEST_H
#define COLL_EMBED_C_REQUEST_H

#include "embed/c/tensor.h"

#include <condition_variable>
#include <mutex>

namespace coll::embed {

class Request {
public:
  static constexpr Kind kKind = Kind::Request;

  Request(std::vector<std::shared_ptr<Tensor>> batch, coll_step_callback callback, void *user)
      : batch_(std::move(batch)), callback_(callback), user_(user) {}

  void setHandle(coll_request handle) { handle_ = handle; }
  const std::vector<std::shared_ptr<Tensor>> &batch() const { return batch_; }

  // Once; then the callback is called. The batch is not needed any more.
  void complete(Outcome failure, std::vector<std::shared_ptr<Tensor>> results);
  // timeoutUs below 0: for ever. `wanted`: 0, or how many results there are to take.
  Outcome wait(int64_t timeoutUs, size_t wanted, std::vector<std::shared_ptr<Tensor>> &results);

private:
  std::vector<std::shared_ptr<Tensor>> batch_;
  const coll_step_callback callback_;
  void *const user_;
  coll_request handle_ = {0};

  std::mutex mutex_;
  std::condition_variable completed_;
  bool isComplete_ = false, isTaken_ = false;
  Outcome failure_;
  std::vector<std::shared_ptr<Tensor>> results_;
};

} // namespace coll::embed

#endif // COLL_EMBED_C_REQUEST_H
