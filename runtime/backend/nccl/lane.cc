#include "runtime/backend/nccl/lane.h"

#include "runtime/backend/nccl/types.h"
#include "runtime/base/dtype.h"
#include "runtime/base/env.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::nccl {

namespace {

constexpr int kScalarInHostMemory = 1; // ncclScalarHostImmediate

// The number as an element of the type, for NCCL to read.
struct Scalar {
  Scalar(double value, CollDtype dtype) {
    float single = static_cast<float>(value);
    uint16_t half = dtype == kCollF16 ? f32ToF16(single) : f32ToBf16(single);
    if (dtype == kCollF64)
      std::memcpy(bytes, &value, sizeof(value));
    else if (dtype == kCollF32)
      std::memcpy(bytes, &single, sizeof(single));
    else
      std::memcpy(bytes, &half, sizeof(half));
  }
  alignas(8) char bytes[8] = {};
};

} // namespace

Lane::~Lane() {
  if (comm_ && !killed_) {
    (void)gpu_.nccl().commDestroy(comm_); // nothing is left to be done about a failure
    comm_ = nullptr;
  }
  if (stream_)
    gpu_.endStream(stream_);
}

Status Lane::join(const dl::NcclUniqueId &id) {
  dl::NcclConfig config;
  config.blocking = envInt(EnvVar::NcclBlocking) != 0;
  dl::NcclResult result = gpu_.nccl().commInitRankConfig(&comm_, size_, id, position_, &config);
  return dl::ncclStatus(gpu_.nccl(), result, "ncclCommInitRankConfig");
}

void Lane::forget(LaneOp *op) {
  queue_.erase(std::remove(queue_.begin(), queue_.end(), op), queue_.end());
}

Status Lane::health() {
  if (!comm_ || killed_)
    return {};
  dl::NcclResult state = dl::kNcclSuccess;
  COLL_RETURN_IF_ERROR(
      check(gpu_.nccl().commGetAsyncError(comm_, &state), "ncclCommGetAsyncError"));
  ready_ = state == dl::kNcclSuccess;
  return check(state, "NCCL's communicator");
}

Status Lane::poll() {
  if (!comm_ || killed_ || (ready_ && queue_.empty()))
    return {};
  while (true) {
    COLL_RETURN_IF_ERROR(health());
    if (!ready_)
      return {};
    if (queue_.empty())
      return {};
    if (queue_.front()->stage == LaneOp::Stage::Issued)
      COLL_RETURN_IF_ERROR(endFront());
    else
      COLL_RETURN_IF_ERROR(beginFront());
  }
}

Status Lane::beginFront() {
  LaneOp &op = *queue_.front();
  if (!stream_) {
    Result<dl::CudaStream> made = gpu_.makeStream();
    if (!made)
      return made.status();
    stream_ = *made;
  }
  op.stage = LaneOp::Stage::Issued;
  return issue(op);
}

Status Lane::issue(LaneOp &op) {
  const bool hasAllToAll = gpu_.nccl().allToAll != nullptr;
  op.plan = planOf(op.call, size_, position_, nullptr, hasAllToAll);
  auto *callers = static_cast<dl::CudaStream>(op.call.stream);
  // Scratch memory is used in the order of the lane's own stream.
  op.stream = op.onCallersStream && op.plan.scratchBytes == 0 ? callers : stream_;
  if (op.plan.scratchBytes > 0) {
    Result<char *> memory = scratch(op.plan.scratchBytes);
    if (!memory)
      return memory.status();
    op.plan = planOf(op.call, size_, position_, *memory, hasAllToAll);
  }
  if (callers && op.stream != callers)
    COLL_RETURN_IF_ERROR(gpu_.order(callers, op.stream));
  for (const Copy &copy : op.plan.before)
    COLL_RETURN_IF_ERROR(gpu_.copy(copy, op.stream));
  return issueSteps(op.call, op.plan, op.stream);
}

// NCCL has launched the operation: what comes after it may follow.
Status Lane::endFront() {
  LaneOp &op = *queue_.front();
  for (const Copy &copy : op.plan.after)
    COLL_RETURN_IF_ERROR(gpu_.copy(copy, op.stream));
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

Status Lane::issueSteps(const Call &call, const Plan &plan, dl::CudaStream stream) {
  const dl::Nccl &nccl = gpu_.nccl();
  if (plan.steps.empty())
    return {};
  if (reduces(call.kind) && call.scale != 1) {
    Step step = plan.steps.front();
    double factor = call.reduction == kCollAvg ? call.scale / size_ : call.scale;
    Scalar scalar(factor, call.dtype);
    COLL_RETURN_IF_ERROR(check(
        nccl.redOpCreatePreMulSum(&step.op, scalar.bytes, step.dtype, kScalarInHostMemory, comm_),
        "ncclRedOpCreatePreMulSum"));
    Status issued = check(issueStep(step, stream), kindName(step.kind));
    Status ended = check(nccl.redOpDestroy(step.op, comm_), "ncclRedOpDestroy");
    return issued.ok() ? ended : issued;
  }
  const bool isGroup = plan.steps.size() > 1;
  if (isGroup)
    COLL_RETURN_IF_ERROR(check(nccl.groupStart(), "ncclGroupStart"));
  Status issued;
  for (const Step &step : plan.steps)
    if (issued.ok())
      issued = check(issueStep(step, stream), kindName(step.kind));
  if (isGroup)
    if (Status ended = check(nccl.groupEnd(), "ncclGroupEnd"); issued.ok())
      issued = ended;
  return issued;
}

dl::NcclResult Lane::issueStep(const Step &step, dl::CudaStream stream) {
  const dl::Nccl &nccl = gpu_.nccl();
  auto count = static_cast<size_t>(step.count);
  switch (step.kind) {
  case OpKind::AllReduce:
    return nccl.allReduce(step.src, step.dst, count, step.dtype, step.op, comm_, stream);
  case OpKind::Reduce:
    return nccl.reduce(step.src, step.dst, count, step.dtype, step.op, step.peer, comm_, stream);
  case OpKind::ReduceScatter:
    return nccl.reduceScatter(step.src, step.dst, count, step.dtype, step.op, comm_, stream);
  case OpKind::Broadcast:
    return nccl.broadcast(step.src, step.dst, count, step.dtype, step.peer, comm_, stream);
  case OpKind::AllGather:
    return nccl.allGather(step.src, step.dst, count, step.dtype, comm_, stream);
  case OpKind::AllToAll:
    return nccl.allToAll(step.src, step.dst, count, step.dtype, comm_, stream);
  case OpKind::Send:
    return nccl.send(step.src, count, step.dtype, step.peer, comm_, stream);
  case OpKind::Recv:
    return nccl.recv(step.dst, count, step.dtype, step.peer, comm_, stream);
  default:
    return dl::kNcclInternalError; // a plan has no other steps
  }
}

Result<char *> Lane::scratch(int64_t bytes) {
  if (scratch_.empty() || scratch_.back().bytes() < bytes) {
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
  if (comm_ && !killed_)
    (void)gpu_.nccl().commAbort(comm_); // the job is over anyway
  comm_ = nullptr;
  killed_ = true;
  ready_ = false;
  if (stream_)
    gpu_.drain(stream_);
}

} // namespace coll::rt::nccl
