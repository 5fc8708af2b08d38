//===- permute.cc - permutations and shifts --------------------------------------===//

#include "dialect/dialect.h"
#include "dialect/sharding.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::coll;

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> pairs = getPairs();
  int64_t shift = getShiftAttr().getInt();
  if (shift != 0 && !pairs.empty()) // (C3)
    return emitOpError("has pairs and a shift");
  if (shift == 0 && getWraps()) // (C3)
    return emitOpError("wraps, but has no shift");
  if (pairs.size() % 2 != 0) // (C1)
    return emitOpError("pairs must list sources and targets, but has ")
           << pairs.size() << " entries";
  llvm::DenseSet<int64_t> sources, targets;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    // (C1) before (C2): the sets cannot hold their own sentinel values.
    for (int64_t position : {pairs[i], pairs[i + 1]})
      if (position < 0 || position >= int64_t{1} << 32) // (C1)
        return emitOpError("pair [")
               << pairs[i] << ", " << pairs[i + 1] << "] is not within the group";
    if (!sources.insert(pairs[i]).second) // (C2)
      return emitOpError("source ") << pairs[i] << " occurs twice";
    if (!targets.insert(pairs[i + 1]).second) // (C2)
      return emitOpError("target ") << pairs[i + 1] << " occurs twice";
  }
  return success();
}

LogicalResult PermuteOp::verifyGroupSize(int64_t n) {
  ArrayRef<int64_t> pairs = getPairs();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i] >= n || pairs[i + 1] >= n) // (C1)
      return emitOpError("pair [")
             << pairs[i] << ", " << pairs[i + 1] << "] is not within a group of " << n;
  int64_t shift = getShiftAttr().getInt();
  if (shift <= -n || shift >= n) // (C4)
    return emitOpError("shift ") << shift << " leads out of a group of " << n << " everywhere";
  return success();
}

static int64_t getRest(int64_t value, int64_t size) { return (value % size + size) % size; }

/// The shift that `pairs` amount to, in any order; all of them are positions in the group.
static std::optional<PermuteShift> findShift(ArrayRef<int64_t> pairs, int64_t groupSize) {
  if (pairs.empty())
    return std::nullopt;
  int64_t by = pairs[1] - pairs[0], count = pairs.size() / 2;
  bool wraps = count == groupSize;
  if (wraps)
    by = getRest(by, groupSize);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    int64_t distance = pairs[i + 1] - pairs[i];
    if ((wraps ? getRest(distance, groupSize) : distance) != by)
      return std::nullopt;
  }
  // No source occurs twice, so if the number of pairs is the largest possible, all of them are
  // there.
  if (by == 0 || (!wraps && count != groupSize - std::abs(by)))
    return std::nullopt;
  return PermuteShift{by, wraps};
}

std::optional<PermuteShift> PermuteOp::getAsShift(int64_t groupSize) {
  int64_t by = getShiftAttr().getInt();
  if (by == 0)
    return findShift(getPairs(), groupSize);
  return PermuteShift{getWraps() ? getRest(by, groupSize) : by, getWraps()};
}

SmallVector<int64_t> PermuteOp::listPairs(int64_t groupSize) {
  int64_t by = getShiftAttr().getInt();
  if (by == 0)
    return SmallVector<int64_t>(getPairs());
  SmallVector<int64_t> pairs;
  for (int64_t source = 0; source < groupSize; ++source) {
    int64_t target = getWraps() ? getRest(source + by, groupSize) : source + by;
    if (target >= 0 && target < groupSize)
      pairs.append({source, target});
  }
  return pairs;
}

PermuteOp PermuteOp::createShortest(OpBuilder &builder, Location loc, Value input,
                                    ArrayRef<int64_t> pairs, GroupAttr group, int64_t groupSize) {
  if (std::optional<PermuteShift> shift = findShift(pairs, groupSize))
    return create(builder, loc, input.getType(), input, ArrayRef<int64_t>(), group, shift->by,
                  shift->wraps);
  return create(builder, loc, input.getType(), input, pairs, group);
}
