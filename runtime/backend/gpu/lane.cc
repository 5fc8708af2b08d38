#include "runtime/backend/gpu/lane.h"

#include <algorithm>
#include <utility>

namespace coll::rt::gpu {

Lane::~Lane() {
  if (stream_)
    gpu_.endStream(stream_);
}

void Lane::forget(LaneOp *op) {
  queue_.erase(std::remove(queue_.begin(), queue_.end(), op), queue_.end());
}

Status Lane::poll() {
  if (!begun() || killed_ || (ready() && queue_.empty()))
    return {};
  while (true) {
    COLL_RETURN_IF_ERROR(health());
    if (!ready())
      return {};
    if (queue_.empty() || queue_.front()->isHeld)
      return {};
    if (queue_.front()->stage == LaneOp::Stage::Issued)
      COLL_RETURN_IF_ERROR(endFront());
    else
      COLL_RETURN_IF_ERROR(beginFront());
  }
}

Status Lane::beginFront() {
  LaneOp &op = *queue_.front();
  Result<dl::CudaStream> own = stream();
  if (!own)
    return own.status();
  op.stage = LaneOp::Stage::Issued;
  auto *callers = static_cast<dl::CudaStream>(op.call.stream);
  op.stream = op.onCallersStream && !needsOwnStream(op.call) ? callers : *own;
  if (op.after)
    COLL_RETURN_IF_ERROR(gpu_.order(std::exchange(op.after, nullptr), op.stream));
  else if (callers && op.stream != callers)
    COLL_RETURN_IF_ERROR(gpu_.order(callers, op.stream));
  return issue(op);
}

// The engine has launched the operation, so later work on the stream may follow.
Status Lane::endFront() {
  LaneOp &op = *queue_.front();
  COLL_RETURN_IF_ERROR(finish(op));
  auto *callers = static_cast<dl::CudaStream>(op.call.stream);
  if (op.onCallersStream && op.stream != callers)
    COLL_RETURN_IF_ERROR(gpu_.order(op.stream, callers));
  if (!op.onCallersStream) {
    Result<dl::CudaEvent> done = gpu_.record(op.stream);
    if (!done)
      return done.status();
    op.done = *done;
  }
  op.stage = LaneOp::Stage::OnStream;
  queue_.pop_front();
  return {};
}

Result<dl::CudaStream> Lane::stream() {
  if (!stream_) {
    Result<dl::CudaStream> made = gpu_.makeStream();
    if (!made)
      return made.status();
    stream_ = *made;
  }
  return stream_;
}

// A graph keeps the addresses, so the lane keeps the memory. Memory may be allocated inside a
// capture, which the driver rejects unless the thread's mode allows it.
Result<char *> Lane::scratch(int64_t bytes) {
  if (scratch_.empty() || scratch_.back().bytes() < bytes) {
    Gpu::BesideCaptures beside(gpu_.cuda());
    Result<dl::GpuMemory> made =
        dl::GpuMemory::create(gpu_.context(), dl::GpuMemory::Kind::Device, bytes * 2);
    if (!made)
      return made.status().annotate("scratch memory");
    scratch_.push_back(made.take());
  }
  return scratch_.back().device();
}

void Lane::kill() {
  queue_.clear();
  if (!killed_)
    end();
  killed_ = true;
  if (stream_)
    gpu_.drain(stream_);
}

} // namespace coll::rt::gpu
