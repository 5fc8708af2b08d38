#include "runtime/backend/nccl/lane.h"

#include "runtime/backend/nccl/types.h"
#include "runtime/base/dtype.h"
#include "runtime/base/env.h"

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

NcclLane::~NcclLane() {
  if (comm_ && !killed_)
    (void)nccl_.commDestroy(comm_); // nothing is left to be done about a failure
}

Status NcclLane::identify(gpu::Identity &mine) {
  if (position_ != 0)
    return {};
  dl::NcclUniqueId id;
  static_assert(sizeof(id.bytes) == sizeof(mine.bytes));
  COLL_RETURN_IF_ERROR(check(nccl_.getUniqueId(&id), "ncclGetUniqueId"));
  std::memcpy(mine.bytes, id.bytes, sizeof(mine.bytes));
  return {};
}

Status NcclLane::join(const std::vector<gpu::Identity> &all) {
  dl::NcclUniqueId id;
  std::memcpy(id.bytes, all[0].bytes, sizeof(id.bytes));
  return join(id);
}

Status NcclLane::join(const dl::NcclUniqueId &id) {
  dl::NcclConfig config;
  config.blocking = envInt(EnvVar::NcclBlocking) != 0;
  dl::NcclResult result = nccl_.commInitRankConfig(&comm_, size(), id, position_, &config);
  return dl::ncclStatus(nccl_, result, "ncclCommInitRankConfig");
}

Status NcclLane::health() {
  if (!comm_ || killed_)
    return {};
  dl::NcclResult state = dl::kNcclSuccess;
  COLL_RETURN_IF_ERROR(check(nccl_.commGetAsyncError(comm_, &state), "ncclCommGetAsyncError"));
  ready_ = state == dl::kNcclSuccess;
  return check(state, "NCCL's communicator");
}

bool NcclLane::needsOwnStream(const Call &call) const {
  return plan(call, nullptr).scratchBytes > 0;
}

Status NcclLane::issue(gpu::LaneOp &op) {
  plan_ = plan(op.call, nullptr);
  if (plan_.scratchBytes > 0) {
    Result<char *> memory = scratch(plan_.scratchBytes);
    if (!memory)
      return memory.status();
    plan_ = plan(op.call, *memory);
  }
  for (const Copy &copy : plan_.before)
    COLL_RETURN_IF_ERROR(gpu_.copy(copy, op.stream));
  return issueSteps(op.call, op.stream);
}

Status NcclLane::finish(gpu::LaneOp &op) {
  for (const Copy &copy : plan_.after)
    COLL_RETURN_IF_ERROR(gpu_.copy(copy, op.stream));
  return {};
}

Status NcclLane::issueSteps(const Call &call, dl::CudaStream stream) {
  if (plan_.steps.empty())
    return {};
  if (reduces(call.kind) && call.scale != 1)
    return issueScaled(call, stream);
  const bool isGroup = plan_.steps.size() > 1;
  if (isGroup)
    COLL_RETURN_IF_ERROR(check(nccl_.groupStart(), "ncclGroupStart"));
  Status issued;
  for (const Step &step : plan_.steps)
    if (issued.ok())
      issued = check(issueStep(step, stream), kindName(step.kind));
  if (isGroup)
    if (Status ended = check(nccl_.groupEnd(), "ncclGroupEnd"); issued.ok())
      issued = ended;
  return issued;
}

Status NcclLane::issueScaled(const Call &call, dl::CudaStream stream) {
  Step step = plan_.steps.front();
  Scalar scalar(call.reduction == kCollAvg ? call.scale / size() : call.scale, call.dtype);
  COLL_RETURN_IF_ERROR(check(
      nccl_.redOpCreatePreMulSum(&step.op, scalar.bytes, step.dtype, kScalarInHostMemory, comm_),
      "ncclRedOpCreatePreMulSum"));
  Status issued = check(issueStep(step, stream), kindName(step.kind));
  Status ended = check(nccl_.redOpDestroy(step.op, comm_), "ncclRedOpDestroy");
  return issued.ok() ? ended : issued;
}

dl::NcclResult NcclLane::issueStep(const Step &step, dl::CudaStream stream) {
  auto count = static_cast<size_t>(step.count);
  switch (step.kind) {
  case OpKind::AllReduce:
    return nccl_.allReduce(step.src, step.dst, count, step.dtype, step.op, comm_, stream);
  case OpKind::Reduce:
    return nccl_.reduce(step.src, step.dst, count, step.dtype, step.op, step.peer, comm_, stream);
  case OpKind::ReduceScatter:
    return nccl_.reduceScatter(step.src, step.dst, count, step.dtype, step.op, comm_, stream);
  case OpKind::Broadcast:
    return nccl_.broadcast(step.src, step.dst, count, step.dtype, step.peer, comm_, stream);
  case OpKind::AllGather:
    return nccl_.allGather(step.src, step.dst, count, step.dtype, comm_, stream);
  case OpKind::AllToAll:
    return nccl_.allToAll(step.src, step.dst, count, step.dtype, comm_, stream);
  case OpKind::Send:
    return nccl_.send(step.src, count, step.dtype, step.peer, comm_, stream);
  case OpKind::Recv:
    return nccl_.recv(step.dst, count, step.dtype, step.peer, comm_, stream);
  default:
    return dl::kNcclInternalError; // a plan has no other steps
  }
}

void NcclLane::end() {
  if (comm_)
    (void)nccl_.commAbort(comm_); // the job is over anyway
  comm_ = nullptr;
  ready_ = false;
}

} // namespace coll::rt::nccl
