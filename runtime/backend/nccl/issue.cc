#include "runtime/backend/nccl/issue.h"

#include "runtime/backend/nccl/types.h"
#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/base/trace.h"

#include <cstring>
#include <optional>

namespace coll::rt::nccl {

namespace {

constexpr int kScalarInHostMemory = 1; // ncclScalarHostImmediate

// A number as an element of the type, for NCCL to read.
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

// The tag of the call for profilers in NCCL: its op id + 1, because 0 means no tag. 0 if no
// profiler listens, or if the library has no tags.
uint64_t tagOf(const dl::Nccl &nccl, const CallSite &site) {
  static const bool hasPlugin = foreignEnv("NCCL_PROFILER_PLUGIN").value_or("none") != "none";
  const bool isHeard = (hasPlugin || tracing()) && nccl.version >= dl::kNcclFirstWithTags;
  return isHeard && site.op >= 0 ? static_cast<uint64_t>(site.op) + 1 : 0;
}

// The same as issueStep, for collectives. nullopt: the library has no such function.
std::optional<dl::NcclResult> issueTagged(const dl::Nccl &nccl, dl::NcclComm comm, const Step &step,
                                          uint64_t tag, dl::CudaStream stream) {
  dl::NcclCallConfig config;
  config.profilerTag = tag;
  auto count = static_cast<size_t>(step.count);
  switch (step.kind) {
  case OpKind::AllReduce:
    if (nccl.allReduceConfig)
      return nccl.allReduceConfig(step.src, step.dst, count, step.dtype, step.op, comm, stream,
                                  &config);
    break;
  case OpKind::Reduce:
    if (nccl.reduceConfig)
      return nccl.reduceConfig(step.src, step.dst, count, step.dtype, step.op, step.peer, comm,
                               stream, &config);
    break;
  case OpKind::ReduceScatter:
    if (nccl.reduceScatterConfig)
      return nccl.reduceScatterConfig(step.src, step.dst, count, step.dtype, step.op, comm, stream,
                                      &config);
    break;
  case OpKind::Broadcast:
    if (nccl.broadcastConfig)
      return nccl.broadcastConfig(step.src, step.dst, count, step.dtype, step.peer, comm, stream,
                                  &config);
    break;
  case OpKind::AllGather:
    if (nccl.allGatherConfig)
      return nccl.allGatherConfig(step.src, step.dst, count, step.dtype, comm, stream, &config);
    break;
  case OpKind::AllToAll:
    if (nccl.allToAllConfig)
      return nccl.allToAllConfig(step.src, step.dst, count, step.dtype, comm, stream, &config);
    break;
  default:
    break;
  }
  return std::nullopt;
}

dl::NcclResult issueStep(const dl::Nccl &nccl, dl::NcclComm comm, const Step &step, uint64_t tag,
                         dl::CudaStream stream) {
  if (tag != 0)
    if (std::optional<dl::NcclResult> issued = issueTagged(nccl, comm, step, tag, stream))
      return *issued;
  auto count = static_cast<size_t>(step.count);
  switch (step.kind) {
  case OpKind::AllReduce:
    return nccl.allReduce(step.src, step.dst, count, step.dtype, step.op, comm, stream);
  case OpKind::Reduce:
    return nccl.reduce(step.src, step.dst, count, step.dtype, step.op, step.peer, comm, stream);
  case OpKind::ReduceScatter:
    return nccl.reduceScatter(step.src, step.dst, count, step.dtype, step.op, comm, stream);
  case OpKind::Broadcast:
    return nccl.broadcast(step.src, step.dst, count, step.dtype, step.peer, comm, stream);
  case OpKind::AllGather:
    return nccl.allGather(step.src, step.dst, count, step.dtype, comm, stream);
  case OpKind::AllToAll:
    return nccl.allToAll(step.src, step.dst, count, step.dtype, comm, stream);
  case OpKind::Send:
    return nccl.send(step.src, count, step.dtype, step.peer, comm, stream);
  case OpKind::Recv:
    return nccl.recv(step.dst, count, step.dtype, step.peer, comm, stream);
  default:
    return dl::kNcclInternalError; // a plan has no other steps
  }
}

} // namespace

Status issueSteps(const dl::Nccl &nccl, dl::NcclComm comm, int size, const Call &call,
                  const Plan &plan, dl::CudaStream stream) {
  auto check = [&](dl::NcclResult result, const char *name) {
    return dl::ncclStatus(nccl, result, name, comm);
  };
  if (plan.steps.empty())
    return {};
  const uint64_t tag = tagOf(nccl, call.site);
  if (reduces(call.kind) && call.scale != 1) {
    Step step = plan.steps.front();
    Scalar scalar(call.reduction == kCollAvg ? call.scale / size : call.scale, call.dtype);
    COLL_RETURN_IF_ERROR(check(
        nccl.redOpCreatePreMulSum(&step.op, scalar.bytes, step.dtype, kScalarInHostMemory, comm),
        "ncclRedOpCreatePreMulSum"));
    Status issued = check(issueStep(nccl, comm, step, tag, stream), kindName(step.kind));
    Status ended = check(nccl.redOpDestroy(step.op, comm), "ncclRedOpDestroy");
    return issued.ok() ? ended : issued;
  }
  const bool isGroup = plan.steps.size() > 1;
  if (isGroup)
    COLL_RETURN_IF_ERROR(check(nccl.groupStart(), "ncclGroupStart"));
  Status issued;
  for (const Step &step : plan.steps)
    if (issued.ok())
      issued = check(issueStep(nccl, comm, step, tag, stream), kindName(step.kind));
  if (isGroup)
    if (Status ended = check(nccl.groupEnd(), "ncclGroupEnd"); issued.ok())
      issued = ended;
  return issued;
}

} // namespace coll::rt::nccl
