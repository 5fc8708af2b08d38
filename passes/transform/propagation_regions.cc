//===- propagation_regions.cc - loops and branches ---------------------------------===//

#include "passes/transform/propagation.h"

#include "dialect/sharding.h"

namespace mlir::coll {

void Propagation::setArguments(Region &region, ArrayRef<ShardingAttr> carried) {
  for (BlockArgument argument : region.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      decided_.shardings[argument] = carried[getCarriedIndex(argument)];
}

/// More split than before: dimensions that only the yielded value splits, and a
/// partial yielded value unless the body needs the carried one combined.
ShardingAttr Propagation::join(Operation *op, int64_t index, ShardingAttr carried,
                               ShardingAttr yielded) {
  SmallVector<StringAttr> used(carried.getPartialAxes());
  for (DimShardingAttr dim : carried.getDims())
    llvm::append_range(used, dim.getAxes());
  auto isFree = [&](StringAttr axis) { return !llvm::is_contained(used, axis); };
  SmallVector<DimShardingAttr> dims(carried.getDims());
  for (auto [dim, request] : llvm::zip(dims, yielded.getDims())) {
    if (!dim.getAxes().empty() || !llvm::all_of(request.getAxes(), isFree))
      continue;
    dim = request;
    llvm::append_range(used, request.getAxes());
  }
  SmallVector<StringAttr> partial(carried.getPartialAxes());
  bool whole = llvm::any_of(op->getRegions(), [&](Region &region) {
    int64_t skipped = isa<scf::ForOp>(op) ? 1 : 0;
    return decided_.combined.contains(region.getArgument(index + skipped));
  });
  if (partial.empty() && yielded.isPartial() && !whole &&
      yielded.getPartialKind() == ReductionKind::Sum &&
      llvm::all_of(yielded.getPartialAxes(), isFree))
    partial.assign(yielded.getPartialAxes().begin(), yielded.getPartialAxes().end());
  return ShardingAttr::get(carried.getContext(), carried.getMesh(), dims, partial,
                           ReductionKind::Sum);
}

/// One round over the body; true if its yields split the carried values further.
bool Propagation::growCarried(Operation *op, SmallVectorImpl<ShardingAttr> &carried) {
  for (Region &region : op->getRegions()) {
    setArguments(region, carried);
    visitBlock(region.front());
  }
  bool grew = false;
  Operation *yield = op->getRegions().back().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
    if (!carried[index])
      continue;
    ShardingAttr joined = join(op, index, carried[index], effective(value));
    grew |= joined != carried[index];
    carried[index] = joined;
  }
  return grew;
}

void Propagation::visitLoop(Operation *op) {
  unsigned bounds = isa<scf::ForOp>(op) ? 3 : 0;
  unsigned skipped = isa<scf::ForOp>(op) ? 1 : 0;
  SmallVector<ShardingAttr> carried;
  SmallVector<Value> open;
  for (auto [index, init] : llvm::enumerate(op->getOperands().drop_front(bounds))) {
    ShardingAttr sharding = effective(init);
    carried.push_back(sharding ? join(op, index, sharding.withoutPartial(), sharding) : nullptr);
    if (sharding && isNeutral(init))
      for (Region &region : op->getRegions())
        open.push_back(region.getArgument(index + skipped));
  }
  // In the first round, an initial zero counts as partial over any axes; afterwards the carried
  // values have the shardings of that round.
  neutral_.insert(open.begin(), open.end());
  growCarried(op, carried);
  for (Value value : open)
    neutral_.erase(value);
  while (growCarried(op, carried))
    ;
  setResults(op, carried);
}

/// The sharding of the result of two branches that yield `a` and `b`. If one splits a dimension
/// further than the other, the other takes its part, which is free; if they differ, the common
/// leading axes remain. The result is partial if both yield partial values.
static ShardingAttr meet(ShardingAttr a, ShardingAttr b) {
  if (a == b)
    return a;
  bool samePartial =
      a.getPartialAxes() == b.getPartialAxes() && a.getPartialKind() == b.getPartialKind();
  SmallVector<StringAttr> used;
  if (samePartial)
    llvm::append_range(used, a.getPartialAxes());
  SmallVector<DimShardingAttr> dims;
  for (auto [left, right] : llvm::zip(a.getDims(), b.getDims())) {
    DimShardingAttr longer = left.getAxes().size() >= right.getAxes().size() ? left : right;
    DimShardingAttr shorter = longer == left ? right : left;
    size_t common = 0;
    while (common < shorter.getAxes().size() &&
           shorter.getAxes()[common] == longer.getAxes()[common])
      ++common;
    bool isPrefix = common == shorter.getAxes().size();
    ArrayRef<StringAttr> axes = isPrefix ? longer.getAxes() : longer.getAxes().take_front(common);
    axes = axes.take_while([&](StringAttr axis) { return !llvm::is_contained(used, axis); });
    llvm::append_range(used, axes);
    dims.push_back(DimShardingAttr::get(a.getContext(), axes, axes.empty() ? 1 : longer.getUnit()));
  }
  return ShardingAttr::get(a.getContext(), a.getMesh(), dims,
                           samePartial ? a.getPartialAxes() : ArrayRef<StringAttr>(),
                           samePartial ? a.getPartialKind() : ReductionKind::Sum);
}

void Propagation::visitBranch(scf::IfOp op) {
  SmallVector<ShardingAttr> results(op->getNumResults());
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    visitBlock(region.front());
    Operation *yield = region.front().getTerminator();
    for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
      ShardingAttr yielded = effective(value);
      results[index] = results[index] ? meet(results[index], yielded) : yielded;
    }
  }
  setResults(op, results);
}

} // namespace mlir::coll
