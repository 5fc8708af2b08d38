#include "runtime/exchange/moe/call_queue.h"

#include "runtime/base/thread.h"

#include <exception>
#include <string>

namespace coll::rt {

Result<std::unique_ptr<CallQueue>> CallQueue::create(std::shared_ptr<dl::GpuContext> gpu,
                                                     std::function<void(const Status &)> fail) {
  if (!gpu->cuda().streamWaitValue)
    return Status(
        kCollUnsupported,
        "the CUDA driver is too old: its streams cannot wait for memory (cuStreamWaitValue)");
  Result<dl::GpuMemory> pinned =
      dl::GpuMemory::create(gpu, dl::GpuMemory::Kind::Pinned, sizeof(uint32_t));
  if (!pinned)
    return pinned.status();
  std::unique_ptr<CallQueue> queue(new CallQueue(std::move(gpu), std::move(fail)));
  queue->pinned_ = pinned.take();
  *reinterpret_cast<uint32_t *>(queue->pinned_.host()) = 0;
  COLL_RETURN_IF_ERROR(startThread(queue->thread_, "calls in the order of a stream",
                                   [queue = queue.get()] { queue->run(); }));
  return queue;
}

void CallQueue::finish() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    isEnding_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

CallQueue::~CallQueue() {
  finish();
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  for (dl::CudaEvent event : free_)
    (void)gpu_->cuda().eventDestroy(event);
}

// There are as many events as calls in flight.
Result<dl::CudaEvent> CallQueue::freeEvent() {
  dl::CudaEvent event = nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) {
    COLL_RETURN_IF_ERROR(
        gpu_->check(gpu_->cuda().eventCreate(&event, dl::kCudaEventNoTiming), "cuEventCreate"));
    return event;
  }
  event = free_.back();
  free_.pop_back();
  return event;
}

Result<uint32_t> CallQueue::post(dl::CudaStream stream, Call call) {
  const dl::Cuda &cuda = gpu_->cuda();
  Result<dl::CudaEvent> reached = freeEvent();
  if (!reached)
    return reached.status();
  Status waiting = gpu_->check(cuda.eventRecord(*reached, stream), "cuEventRecord");
  if (waiting.ok())
    waiting = gpu_->check(cuda.streamWaitValue(stream,
                                               reinterpret_cast<dl::CudaAddress>(pinned_.device()),
                                               posted_ + 1, dl::kCudaWaitGeq),
                          "cuStreamWaitValue32");
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (waiting.ok())
      calls_.push_back({std::move(call), *reached, ++posted_});
    else
      free_.push_back(*reached);
  }
  if (!waiting.ok())
    return waiting;
  changed_.notify_all();
  return posted_;
}

void CallQueue::wait(uint32_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return static_cast<int32_t>(ended_ - number) >= 0; });
}

// Callers and peers choose the sizes that a call allocates, so allocation may fail.
Status CallQueue::perform(const Posted &posted) {
  try {
    return posted.call(posted.reached);
  } catch (const std::exception &error) {
    return {kCollDevice, std::string("a call has failed: ") + error.what()};
  }
}

void CallQueue::run() {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  auto *word = reinterpret_cast<uint32_t *>(pinned_.host());
  bool hasFailed = false;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return isEnding_ || !calls_.empty(); });
    if (calls_.empty())
      return;
    Posted posted = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    if (!hasFailed)
      if (Status status = perform(posted); !status.ok()) {
        hasFailed = true;
        fail_(status);
      }
    posted.call = nullptr; // releases the objects that it holds
    __atomic_store_n(word, posted.number, __ATOMIC_RELEASE);
    lock.lock();
    free_.push_back(posted.reached);
    ended_ = posted.number;
    changed_.notify_all();
  }
}

} // namespace coll::rt
