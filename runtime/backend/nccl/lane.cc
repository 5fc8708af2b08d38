#include "runtime/backend/nccl/lane.h"

#include "runtime/backend/call/signature.h"
#include "runtime/backend/nccl/issue.h"
#include "runtime/base/env.h"

#include <cstring>

namespace coll::rt::nccl {

namespace {

// How long a call in `aside` may take to return after its communicator was aborted.
constexpr int64_t kAbortUs = 5'000'000;
constexpr size_t kMostWarm = 4096;

} // namespace

NcclLane::NcclLane(gpu::Gpu &gpu, const dl::Nccl &nccl, std::shared_ptr<Endings> ends,
                   std::vector<int> ranks, int position)
    : Lane(gpu, std::move(ranks), position), nccl_(nccl),
      blocks_(envInt(EnvVar::NcclBlocking) != 0), ends_(std::move(ends)) {}

NcclLane::~NcclLane() {
  parent_ = nullptr; // it may already be destroyed
  if (!killed_ && (isAside_ || (base_ && !comm_)))
    kill(); // no rank waits for the call any more, or for a communicator that is being created
  if (killed_ || !base_)
    return;
  // A failure has no effect any more.
  ends_->add([&nccl = nccl_, &cuda = gpu_.cuda(), context = gpu_.context(), base = base_,
              comm = comm_ != base_ ? comm_ : nullptr] {
    dl::CudaScope scope(cuda, context->context());
    (void)nccl.commDestroy(base);
    if (comm)
      (void)nccl.commDestroy(comm);
    return Status();
  });
}

//===-- making ------------------------------------------------------------------===//

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
  dl::NcclConfig config; // non-blocking
  dl::NcclResult result = nccl_.commInitRankConfig(&base_, size(), id, position_, &config);
  return dl::ncclStatus(nccl_, result, "ncclCommInitRankConfig");
}

// The base is ready, or has completed its operation.
Status NcclLane::split() {
  if (!blocks_) {
    comm_ = base_;
  } else if (splitting_) {
    splitting_ = false;
    comm_ = made_;
    if (!comm_)
      return Status::internal("ncclCommSplit made no communicator");
  } else {
    dl::NcclConfig blocking;
    blocking.blocking = 1;
    splitting_ = true;
    return check(nccl_.commSplit(base_, /*color=*/0, /*key=*/position_, &made_, &blocking),
                 "ncclCommSplit");
  }
  return {};
}

Status NcclLane::health() {
  if (killed_ || !begun())
    return {};
  if (isAside_)
    return endAside();
  dl::NcclResult state = dl::kNcclSuccess;
  COLL_RETURN_IF_ERROR(
      check(nccl_.commGetAsyncError(comm_ ? comm_ : base_, &state), "ncclCommGetAsyncError"));
  ready_ = comm_ && state == dl::kNcclSuccess;
  if (state != dl::kNcclSuccess || comm_)
    return check(state, "NCCL's communicator");
  COLL_RETURN_IF_ERROR(split());
  ready_ = comm_ != nullptr;
  return {};
}

//===-- operations --------------------------------------------------------------===//

bool NcclLane::needsOwnStream(const Call &call) const {
  return plan(call, nullptr).scratchBytes > 0;
}

bool NcclLane::isWarm(const gpu::LaneOp &op) {
  const Call &call = op.call;
  // During a capture NCCL registers memory with the other members.
  int capturing = dl::kCudaNotCapturing;
  if (call.stream && gpu_.cuda().streamIsCapturing(op.stream, &capturing) == dl::kCudaSuccess &&
      capturing != dl::kCudaNotCapturing)
    return false;
  // The lane of a transfer has one peer.
  uint64_t like =
      isTransfer(call.kind) ? static_cast<uint64_t>(call.kind) : hashOf(signatureOf(call));
  if (knownMemory_ > 0)
    for (const void *data : {call.src, const_cast<const void *>(call.dst)})
      like = like * 31 + reinterpret_cast<uintptr_t>(data);
  if (warm_.size() >= kMostWarm)
    warm_.clear();
  return !warm_.insert(like).second;
}

void NcclLane::memoryChanges(bool isKnown) {
  knownMemory_ += isKnown ? 1 : -1;
  warm_.clear();
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
  if (!blocks_ || plan_.steps.empty() || isWarm(op))
    return issueSteps(nccl_, comm_, size(), op.call, plan_, op.stream);
  ready_ = false;
  isAside_ = true;
  aside_.start([&nccl = nccl_, &cuda = gpu_.cuda(), context = gpu_.context(), comm = comm_,
                size = size(), call = op.call, plan = plan_, stream = op.stream] {
    dl::CudaScope scope(cuda, context->context());
    return issueSteps(nccl, comm, size, call, plan, stream);
  });
  return {};
}

Status NcclLane::finish(gpu::LaneOp &op) {
  for (const Copy &copy : plan_.after)
    COLL_RETURN_IF_ERROR(gpu_.copy(copy, op.stream));
  return {};
}

//===-- aside -------------------------------------------------------------------===//

void NcclLane::runAside(std::function<dl::NcclResult()> body, const char *call) {
  ready_ = false;
  isAside_ = true;
  aside_.start([&nccl = nccl_, &cuda = gpu_.cuda(), context = gpu_.context(), comm = comm_,
                body = std::move(body), call] {
    dl::CudaScope scope(cuda, context->context());
    return dl::ncclStatus(nccl, body(), call, comm);
  });
}

Status NcclLane::endAside() {
  if (!aside_.done())
    return {};
  Status outcome = aside_.take();
  isAside_ = false;
  ready_ = outcome.ok();
  return outcome;
}

//===-- the end -----------------------------------------------------------------===//

// Aborting a base also aborts the communicator that was split from it last (NCCL 2.19 to 2.28:
// ncclComm::childAbortFlag), which must still exist then. So the bases end first, and among them a
// base before those that were split from it. Then the call in `aside` and the work on the GPU end,
// and the communicator is destroyed last, when nothing uses it. A communicator whose call does not
// return is abandoned with it.
void NcclLane::end() {
  if (parent_)
    parent_->kill();
  // The job is over, so the outcome does not matter.
  if (base_)
    (void)nccl_.commAbort(base_);
  if (splitting_)
    comm_ = made_; // complete or not, it will not be used
  const bool isFree = !isAside_ || aside_.waitUs(kAbortUs);
  if (comm_ && comm_ != base_ && isFree)
    (void)nccl_.commAbort(comm_);
  isAside_ = false;
  base_ = comm_ = nullptr;
  ready_ = splitting_ = false;
}

} // namespace coll::rt::nccl
