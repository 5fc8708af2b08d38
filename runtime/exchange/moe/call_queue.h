// call_queue.h - executes calls in the order of a stream on a host thread, because they need the
// network and the caller must not wait.
//
//   post()        on the stream: records `reached`, then waits for a word of pinned memory
//   the thread    executes the call after `reached`, on streams of its own, and writes the word
//
// So later work of the stream follows the call. One call runs at a time, in the order of posts.
//
// Work that the thread launches must not be queued behind a stream that waits for it, and the
// thread must not wait in the driver. So its streams have the highest priority, other streams
// should be fewer than CUDA_DEVICE_MAX_CONNECTIONS, and kernels must be loaded before.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_CALL_QUEUE_H
#define COLL_RUNTIME_EXCHANGE_MOE_CALL_QUEUE_H

#include "runtime/dl/gpu_memory.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::rt {

class CallQueue {
public:
  // Returns, within its own deadline, when all its work on streams has ended, even if it
  // failed.
  using Call = std::function<Status(dl::CudaEvent reached)>;

  // The thread calls `fail` for a call that failed, before the stream continues; later calls are
  // not begun. kCollUnsupported if the driver's streams cannot wait for words.
  static Result<std::unique_ptr<CallQueue>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   std::function<void(const Status &)> fail);
  ~CallQueue(); // calls finish(); afterwards no stream waits
  // Waits until all calls have ended, so that streams continue. No more calls may be posted.
  void finish();

  // Does not block. Returns the call's number, from 1.
  Result<uint32_t> post(dl::CudaStream stream, Call call);
  // Waits until this call has ended, or was not begun.
  void wait(uint32_t number);

private:
  struct Posted {
    Call call;
    dl::CudaEvent reached = nullptr;
    uint32_t number = 0;
  };

  CallQueue(std::shared_ptr<dl::GpuContext> gpu, std::function<void(const Status &)> fail)
      : gpu_(std::move(gpu)), fail_(std::move(fail)) {}
  Result<dl::CudaEvent> freeEvent();
  static Status perform(const Posted &posted);
  void run();

  const std::shared_ptr<dl::GpuContext> gpu_;
  const std::function<void(const Status &)> fail_;
  dl::GpuMemory pinned_; // the word: number of the last call that has ended
  uint32_t posted_ = 0;

  std::mutex mutex_; // protects the members below
  std::condition_variable changed_;
  std::deque<Posted> calls_;
  std::vector<dl::CudaEvent> free_;
  uint32_t ended_ = 0;
  bool isEnding_ = false;
  std::thread thread_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_CALL_QUEUE_H
