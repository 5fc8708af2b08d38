#include "runtime/backend/net/collective.h"

#include "runtime/backend/net/algorithms/apply.h"
#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

namespace {

// With this many members or more, there are too many pairs for the direct algorithm.
constexpr int64_t kManyMembers = 17;
constexpr int64_t kTreeBytes = 64 << 10;
constexpr int64_t kHalvingBytes = 256 << 10;
// Limit of the receive buffers of one operation.
constexpr int64_t kScratchBytes = 8 << 20;
constexpr int64_t kMinSegmentBytes = 64 << 10;
constexpr int64_t kMaxSegmentBytes = 512 << 10;

// Added to the call's tag for the schedule: keeps its tags apart from those of the exchange.
constexpr uint64_t kScheduleTags = 64;

// Whether sums may be grouped otherwise than from left to right. Partial sums are then sent in the
// elements' type, which is too narrow if the call asks for f32, and always in 8 bits; and half of
// an average cannot be divided once it has been rounded.
bool mayRegroup(const Call &call) {
  if (!isFloat(call.dtype))
    return true;
  bool isTooNarrow = call.accumulation == kCollAccumulateF32 || dtypeSize(call.dtype) == 1 ||
                     (isNarrowFloat(call.dtype) && call.reduction == kCollAvg);
  return call.order == kCollOrderAny && !isTooNarrow;
}

int64_t segmentBytesFor(int64_t n) {
  int64_t bytes = kScratchBytes / (static_cast<int64_t>(Schedule::kWindow) * n) / 4096 * 4096;
  return std::clamp(bytes, kMinSegmentBytes, kMaxSegmentBytes);
}

bool has(OpKind kind, Algorithm algorithm) {
  switch (kind) {
  case OpKind::AllReduce:
    return algorithm != Algorithm::Tree;
  case OpKind::Reduce:
    return algorithm == Algorithm::Direct || algorithm == Algorithm::Tree;
  case OpKind::ReduceScatter:
  case OpKind::AllGather:
    return algorithm == Algorithm::Direct || algorithm == Algorithm::Ring;
  case OpKind::Broadcast:
    return algorithm == Algorithm::Tree || algorithm == Algorithm::Ring;
  default:
    return algorithm == Algorithm::Direct;
  }
}

} // namespace

std::optional<Algorithm> parseAlgorithm(const std::string &name) {
  constexpr const char *kNames[] = {"auto", "direct", "ring", "halving", "tree"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i])
      return static_cast<Algorithm>(i);
  return std::nullopt;
}

Algorithm chooseAlgorithm(const Call &call, int64_t n, Algorithm choice) {
  bool regroup = !reduces(call.kind) || mayRegroup(call);
  if (choice != Algorithm::Auto && has(call.kind, choice) &&
      (regroup || choice == Algorithm::Direct))
    return choice;
  int64_t bytes = call.outer * call.count * dtypeSize(call.dtype);
  if (call.kind == OpKind::Broadcast)
    return n == 2 || bytes < kTreeBytes ? Algorithm::Tree : Algorithm::Ring;
  if (!regroup || n < kManyMembers)
    return Algorithm::Direct;
  switch (call.kind) {
  case OpKind::AllReduce:
    return bytes < kHalvingBytes ? Algorithm::Halving : Algorithm::Ring;
  case OpKind::Reduce:
    return bytes < kTreeBytes ? Algorithm::Tree : Algorithm::Direct;
  case OpKind::ReduceScatter:
  case OpKind::AllGather:
    return Algorithm::Ring;
  default:
    return Algorithm::Direct;
  }
}

bool isSmall(const Call &call, int64_t n, const CollectiveOptions &options) {
  int64_t bytes = 0;
  for (int i = 0; i < n; ++i)
    bytes += contribution(call, n, i);
  return n == 1 || bytes <= options.exchangeBytes;
}

Collective::Collective(Mesh &mesh, Mover &mover, const std::vector<int> &ranks, int me,
                       uint64_t number, const Call &call, const CollectiveOptions &options)
    : mesh_(mesh), mover_(mover), ranks_(ranks), me_(me), call_(call), choice_(options.algorithm),
      tag_(callTag(groupHash(ranks), number)) {
  isSmall_ = isSmall(call, n(), options);
  std::vector<int64_t> sizes(static_cast<size_t>(n()));
  for (int i = 0; i < n() && n() > 1 && isSmall_; ++i)
    sizes[static_cast<size_t>(i)] = contribution(call, n(), i);
  exchange_ =
      std::make_unique<Exchange>(mesh, ranks, me, tag_, number, call, sizes, options.exchangeBytes);
  if (int64_t mine = sizes[static_cast<size_t>(me)]; mine > 0)
    std::memcpy(exchange_->own(), call.src, static_cast<size_t>(mine));
}

Result<bool> Collective::advance(bool &moved) {
  if (!schedule_) {
    Result<bool> done = exchange_->advance(moved, failedPeer);
    if (!done || !*done)
      return done;
    if (isSmall_) {
      applySmall();
      return true;
    }
    COLL_RETURN_IF_ERROR(schedule());
  }
  Result<bool> done = schedule_->run(moved, failedPeer);
  if (done.ok() && *done)
    COLL_RETURN_IF_ERROR(finish());
  return done;
}

void Collective::applySmall() {
  std::vector<const char *> sources;
  for (int i = 0; i < n(); ++i)
    sources.push_back(n() == 1 ? static_cast<const char *>(call_.src) : exchange_->of(i));
  applyCall(call_, me_, sources);
}

//===-- large operations --------------------------------------------------------===//

// The source as dense blocks that arriving data does not overwrite: a copy if its rows interleave
// the blocks, or if it is the destination.
Result<const char *> Collective::stagedSource(int64_t outer, int64_t blocks) {
  const char *src = static_cast<const char *>(call_.src);
  bool interleaves = outer > 1 && blocks > 1;
  if (!interleaves && call_.src != call_.dst)
    return src;
  int64_t run = call_.count * dtypeSize(call_.dtype);
  Result<char *> copy = schedule_->scratch(outer * blocks * run);
  if (!copy)
    return copy.status();
  Mover::Ticket last = Mover::kDone;
  for (int64_t j = 0; j < blocks; ++j) {
    Result<Mover::Ticket> copied =
        mover_.copyRows(*copy + j * outer * run, run, src + j * run, blocks * run, run, outer);
    if (!copied)
      return copied.status();
    last = *copied;
  }
  COLL_RETURN_IF_ERROR(mover_.waitFor(last));
  return static_cast<const char *>(*copy);
}

Result<char *> Collective::stagedDestination(int64_t outer, int64_t blocks) {
  if (outer == 1)
    return static_cast<char *>(call_.dst);
  Result<char *> memory =
      schedule_->scratch(call_.outer * call_.count * dtypeSize(call_.dtype) * blocks);
  if (memory.ok())
    unpack_ = *memory;
  return memory;
}

Status Collective::schedule() {
  schedule_ = std::make_unique<Schedule>(mesh_, mover_, tag_ + kScheduleTags, call_.site);
  Plan plan = {*schedule_, ranks_, me_, call_.dtype, call_.reduction, segmentBytesFor(n())};
  Algorithm algorithm = chooseAlgorithm(call_, n(), choice_);
  return reduces(call_.kind) ? addReduction(plan, algorithm) : addMovement(plan, algorithm);
}

Status Collective::addReduction(const Plan &plan, Algorithm algorithm) {
  const char *src = static_cast<const char *>(call_.src);
  char *dst = static_cast<char *>(call_.dst);
  int64_t bytes = call_.outer * call_.count * dtypeSize(call_.dtype);
  if (call_.kind == OpKind::AllReduce) {
    if (algorithm == Algorithm::Ring)
      return addRingAllReduce(plan, src, dst, bytes);
    if (algorithm == Algorithm::Halving)
      return addHalvingAllReduce(plan, src, dst, bytes);
    return addDirectAllReduce(plan, src, dst, bytes);
  }
  if (call_.kind == OpKind::Reduce) {
    if (algorithm == Algorithm::Tree)
      return addTreeReduce(plan, call_.root, src, dst, bytes);
    return addDirectReduce(plan, call_.root, src, dst, bytes);
  }
  Result<const char *> blocks = stagedSource(call_.outer, n());
  if (!blocks)
    return blocks.status();
  if (algorithm == Algorithm::Ring)
    return addRingReduceScatter(plan, *blocks, dst, bytes);
  return addDirectReduceScatter(plan, *blocks, dst, bytes);
}

Status Collective::addMovement(const Plan &plan, Algorithm algorithm) {
  int64_t bytes = call_.outer * call_.count * dtypeSize(call_.dtype);
  bool atRoot = hasRoot(call_.kind) && me_ == call_.root;
  if (call_.kind == OpKind::Broadcast) {
    // The root sends from its source, so that its destination may be written at the same time.
    char *data = static_cast<char *>(atRoot ? const_cast<void *>(call_.src) : call_.dst);
    if (atRoot)
      plan.schedule.copy(call_.dst, call_.src, bytes);
    algorithm == Algorithm::Tree ? addTreeBroadcast(plan, call_.root, data, bytes)
                                 : addRingBroadcast(plan, call_.root, data, bytes);
    return {};
  }
  bool scatters = call_.kind == OpKind::Scatter || call_.kind == OpKind::AllToAll;
  bool gathers = call_.kind == OpKind::AllGather || call_.kind == OpKind::AllToAll ||
                 (call_.kind == OpKind::Gather && atRoot);
  Result<const char *> src = nullptr;
  if (call_.kind != OpKind::Scatter || atRoot)
    src = stagedSource(call_.outer, scatters ? n() : 1);
  Result<char *> dst = static_cast<char *>(call_.dst);
  if (gathers)
    dst = stagedDestination(call_.kind == OpKind::AllToAll ? call_.dstOuter : call_.outer, n());
  if (!src || !dst)
    return src.ok() ? dst.status() : src.status();
  switch (call_.kind) {
  case OpKind::AllGather:
    algorithm == Algorithm::Ring ? addRingAllGather(plan, *src, *dst, bytes)
                                 : addDirectAllGather(plan, *src, *dst, bytes);
    break;
  case OpKind::Gather:
    addGather(plan, call_.root, *src, *dst, bytes);
    break;
  case OpKind::Scatter:
    addScatter(plan, call_.root, *src, *dst, bytes);
    break;
  case OpKind::AllToAll:
    addAllToAll(plan, *src, *dst, bytes);
    break;
  case OpKind::Permute: {
    int source = -1, target = -1;
    for (int32_t p = 0; p < call_.numPairs; ++p) {
      if (call_.pairs[2 * p] == me_)
        target = call_.pairs[2 * p + 1];
      if (call_.pairs[2 * p + 1] == me_)
        source = call_.pairs[2 * p];
    }
    addPermute(plan, source, target, *src, *dst, bytes);
    break;
  }
  default:
    return Status::internal("no schedule for this operation");
  }
  return {};
}

Status Collective::finish() {
  Mover::Ticket last = Mover::kDone;
  if (unpack_) {
    const bool isAllToAll = call_.kind == OpKind::AllToAll;
    const int64_t outer = isAllToAll ? call_.dstOuter : call_.outer;
    const int64_t run = (isAllToAll ? call_.dstCount : call_.count) * dtypeSize(call_.dtype);
    for (int j = 0; j < n(); ++j) {
      Result<Mover::Ticket> copied =
          mover_.copyRows(static_cast<char *>(call_.dst) + j * run, n() * run,
                          unpack_ + j * outer * run, run, run, outer);
      if (!copied)
        return copied.status();
      last = *copied;
    }
  }
  const int64_t bytes = destinationBytes(call_, n());
  if (Unreached what = unreached(call_, me_); what == Unreached::Zeros) {
    COLL_RETURN_IF_ERROR(mover_.zero(call_.dst, bytes));
  } else if (what == Unreached::Copy) {
    Result<Mover::Ticket> copied = mover_.copy(call_.dst, call_.src, bytes);
    if (!copied)
      return copied.status();
    last = *copied;
  }
  return mover_.waitFor(last);
}

std::vector<int> Collective::waitingFor() const {
  return schedule_ ? schedule_->waitingFor() : exchange_->waitingFor();
}

} // namespace coll::rt::network
