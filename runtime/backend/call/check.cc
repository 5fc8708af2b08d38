#include "runtime/backend/call/check.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace coll::rt {

namespace {

// Sizes in bytes, and numbers of elements times the square of the group, must be less.
constexpr int64_t kMaxBytes = int64_t(1) << 56;

// a * b * …, or -1 if it exceeds kMaxBytes or a factor is negative.
int64_t product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    if (factor < 0)
      return -1;
  if (std::find(factors.begin(), factors.end(), 0) != factors.end())
    return 0;
  for (int64_t factor : factors) {
    if (result > kMaxBytes / factor)
      return -1;
    result *= factor;
  }
  return result;
}

Status checkBuffers(const Call &call, CallExtents extents) {
  const int64_t srcSize = dtypeSize(call.dtype), dstSize = dtypeSize(dstType(call));
  if (extents.src > 0 && !call.src)
    return Status::invalid("the source is null");
  if (extents.dst > 0 && !call.dst)
    return Status::invalid("the destination is null");
  const char *src = static_cast<const char *>(call.src);
  const char *dst = static_cast<const char *>(call.dst);
  std::less<const char *> before;
  if (extents.src > 0 && extents.dst > 0 && src != dst &&
      before(src, dst + extents.dst * dstSize) && before(dst, src + extents.src * srcSize))
    return Status::invalid("source and destination overlap and are not equal");
  return {};
}

Status checkPairs(const Call &call, int64_t n) {
  if (call.numPairs < 0 || call.numPairs > n || (call.numPairs > 0 && !call.pairs))
    return Status::invalid(std::to_string(call.numPairs) + " pairs in a group of " +
                           std::to_string(n));
  std::vector<bool> isSource(static_cast<size_t>(n)), isTarget(static_cast<size_t>(n));
  for (int32_t p = 0; p < call.numPairs; ++p) {
    int32_t source = call.pairs[2 * p], target = call.pairs[2 * p + 1];
    std::string pair = "pair [" + std::to_string(source) + ", " + std::to_string(target) + "]";
    if (source < 0 || source >= n || target < 0 || target >= n)
      return Status::invalid(pair + " reaches outside the group of " + std::to_string(n));
    if (isSource[static_cast<size_t>(source)] || isTarget[static_cast<size_t>(target)])
      return Status::invalid(pair + " repeats a source or a target");
    isSource[static_cast<size_t>(source)] = isTarget[static_cast<size_t>(target)] = true;
  }
  return {};
}

Status checkCounts(const Call &call, int64_t n) {
  if (call.count < 0 || call.outer < 0 || call.dstOuter < 0 || call.dstCount < 0)
    return Status::invalid("a count is negative");
  if (product({call.outer, call.count, n, n, 8}) < 0 ||
      (call.kind == OpKind::RootUpdate && product({call.dstCount, n, n, 8}) < 0))
    return Status::invalid("the counts are too large");
  if (call.kind == OpKind::AllToAll &&
      product({call.dstOuter, call.dstCount}) != call.outer * call.count)
    return Status::invalid("blocks of " + std::to_string(call.outer) + " x " +
                           std::to_string(call.count) + " do not fill blocks of " +
                           std::to_string(call.dstOuter) + " x " + std::to_string(call.dstCount));
  return {};
}

} // namespace

Status setCodes(Call &call, const CallCodes &codes) {
  if (!isValidDtype(codes.dtype))
    return Status::invalid("there is no element type " + std::to_string(codes.dtype));
  if (codes.reduction < 0 || codes.reduction >= kNumReductions)
    return Status::invalid("there is no reduction " + std::to_string(codes.reduction));
  if (codes.accumulation != kCollAccumulateAny && codes.accumulation != kCollAccumulateF32)
    return Status::invalid("there is no accumulation " + std::to_string(codes.accumulation));
  if (codes.order != kCollOrderAny && codes.order != kCollOrderRank)
    return Status::invalid("there is no order " + std::to_string(codes.order));
  call.dtype = static_cast<CollDtype>(codes.dtype);
  call.reduction = static_cast<CollReduction>(codes.reduction);
  call.accumulation = static_cast<CollAccumulation>(codes.accumulation);
  call.order = static_cast<CollOrder>(codes.order);
  return {};
}

Status checkCall(const Call &call, int64_t n, int64_t position) {
  if (call.kind == OpKind::Init || call.kind == OpKind::Barrier)
    return {};
  COLL_RETURN_IF_ERROR(checkCounts(call, n));
  if (reduces(call.kind) && !reductionTakes(call.reduction, call.dtype))
    return Status::invalid(std::string("reduction ") + reductionName(call.reduction) +
                           " does not take " + dtypeName(call.dtype));
  if (call.accumulation == kCollAccumulateF32 && !isNarrowFloat(call.dtype))
    return Status::invalid(std::string(dtypeName(call.dtype)) +
                           " cannot be combined in f32: it is not a float narrower than f32");
  if (hasRoot(call.kind) && (call.root < 0 || call.root >= n))
    return Status::invalid("root " + std::to_string(call.root) + " is outside the group of " +
                           std::to_string(n));
  if (isTransfer(call.kind) && (call.peer < 0 || call.peer >= n))
    return Status::invalid("peer " + std::to_string(call.peer) + " is outside the group of " +
                           std::to_string(n));
  if (call.kind == OpKind::RootUpdate && !call.update)
    return Status::invalid("a root_update names no optimizer");
  if (call.tag < 0)
    return Status::invalid("tag " + std::to_string(call.tag) + " is negative");
  if (call.kind == OpKind::Permute)
    COLL_RETURN_IF_ERROR(checkPairs(call, n));
  return checkBuffers(call, extentsOf(call, n, position));
}

CollDtype dstType(const Call &call) {
  return call.update ? call.update->parameterType() : call.dtype;
}

CallExtents extentsOf(const Call &call, int64_t n, int64_t position) {
  bool atRoot = call.root == position;
  int64_t one = call.outer * call.count;
  switch (call.kind) {
  case OpKind::AllReduce:
  case OpKind::Permute:
    return {one, one};
  case OpKind::Reduce:
    return {one, atRoot || call.dst ? one : 0};
  case OpKind::Broadcast:
    return {atRoot ? one : 0, one};
  case OpKind::AllGather:
    return {one, one * n};
  case OpKind::Gather:
    return {one, atRoot || call.dst ? one * n : 0};
  case OpKind::Scatter:
    return {atRoot ? one * n : 0, one};
  case OpKind::ReduceScatter:
    return {one * n, one};
  case OpKind::AllToAll:
    return {one * n, one * n};
  case OpKind::RootUpdate:
    return {one, call.dstCount};
  case OpKind::Send:
    return {one, 0};
  case OpKind::Recv:
    return {0, one};
  case OpKind::Init:
  case OpKind::Barrier:
    break;
  }
  return {};
}

// Whether a permute takes the member's part to another one.
static bool sends(const Call &permute, int64_t position) {
  for (int32_t p = 0; p < permute.numPairs; ++p)
    if (permute.pairs[2 * p] == position)
      return permute.pairs[2 * p + 1] != position;
  return false;
}

int64_t payloadBytes(const Call &call, int64_t n, int64_t position) {
  if (call.kind == OpKind::Permute && !sends(call, position))
    return 0;
  return extentsOf(call, n, position).src * dtypeSize(call.dtype);
}

} // namespace coll::rt
