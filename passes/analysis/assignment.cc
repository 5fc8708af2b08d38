//===- assignment.cc - from shardings to split loops and back --------------------===//

#include "passes/analysis/assignment.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/micro_batches.h"

namespace mlir::coll {

DimShardingAttr normalizeUnit(MeshOp mesh, DimShardingAttr dim, int64_t extent) {
  if (dim.getUnit() == 1 || extent % (getNumShards(mesh, dim) * dim.getUnit()) != 0)
    return dim;
  return DimShardingAttr::get(dim.getContext(), dim.getAxes(), 1);
}

DimShardingAttr takeAxes(MeshOp mesh, DimShardingAttr split, size_t count) {
  ArrayRef<StringAttr> axes = split.getAxes();
  if (count >= axes.size())
    return split;
  auto dropped = DimShardingAttr::get(split.getContext(), axes.drop_front(count), 1);
  return DimShardingAttr::get(split.getContext(), axes.take_front(count),
                              split.getUnit() * getNumShards(mesh, dropped));
}

bool overlaps(ArrayRef<StringAttr> axes, ArrayRef<StringAttr> used) {
  return llvm::any_of(axes, [&](StringAttr axis) { return llvm::is_contained(used, axis); });
}

static int64_t numElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

SmallVector<int64_t> getOperandsBySize(Operation *op, ArrayRef<ShardingAttr> shardings) {
  SmallVector<int64_t> order;
  for (int64_t index = 0, end = op->getNumOperands(); index < end; ++index)
    if (shardings[index])
      order.push_back(index);
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return numElements(op->getOperand(a)) > numElements(op->getOperand(b));
  });
  return order;
}

SmallVector<int64_t> withFirst(ArrayRef<int64_t> order, int64_t first) {
  SmallVector<int64_t> changed = {first};
  llvm::copy_if(order, std::back_inserter(changed), [&](int64_t i) { return i != first; });
  return changed;
}

/// Whether a loop over layers collects their gradients, one by one, in a tensor that it carries.
/// What micro-batches contribute is summed outside of the loop: in it, the sum of one layer would
/// have to wait for all micro-batches.
static bool collectsMicroBatches(Operation *op, ShardingAttr partial) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  return insert && isa<BlockArgument>(insert.getDest()) &&
         llvm::any_of(partial.getPartialAxes(), [](StringAttr axis) { return axis == kTimeAxis; });
}

int64_t findLinearSet(Operation *op, const ShardingRule &rule, ArrayRef<ShardingAttr> operands,
                      ArrayRef<int64_t> partial, llvm::function_ref<bool(Value)> isNeutral) {
  ShardingAttr first = operands[partial.front()];
  int64_t elements = 0;
  for (int64_t index : partial) {
    if (operands[index].getPartialKind() != ReductionKind::Sum ||
        operands[index].getPartialAxes() != first.getPartialAxes())
      return -1;
    elements += numElements(op->getOperand(index));
  }
  bool isOneTensor = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
  if (!isOneTensor)
    return -1;
  // Only its zeros make a concatenation larger, and one reduction of it replaces several.
  if (numElements(op->getResult(0)) > elements && !isa<tensor::ConcatOp>(op) &&
      !collectsMicroBatches(op, first))
    return -1;
  for (auto [number, set] : llvm::enumerate(rule.linearSets)) {
    bool covers =
        llvm::all_of(partial, [&, &set = set](int64_t i) { return llvm::is_contained(set, i); });
    bool neutral = llvm::all_of(set, [&](int64_t i) {
      return llvm::is_contained(partial, i) || isNeutral(op->getOperand(i));
    });
    if (covers && neutral)
      return number;
  }
  return -1;
}

DimShardingAttr toFactor(DimShardingAttr split, const DimFactor &dim) {
  bool keepsUnit = !dim.reach && split.getUnit() % dim.unit == 0;
  int64_t rest = keepsUnit ? split.getUnit() / dim.unit : 1;
  return DimShardingAttr::get(split.getContext(), split.getAxes(), rest);
}

bool haveSameBlocks(MeshOp mesh, ShardingAttr a, ShardingAttr b, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(a.getDims(), b.getDims(), shape), [&](auto dims) {
    auto [left, right, extent] = dims;
    return normalizeUnit(mesh, left, extent) == normalizeUnit(mesh, right, extent);
  });
}

/// Finds the operands whose partial sums pass through `op` into `result`, and sets the linear set
/// and its axes if there are any.
static void passPartial(Operation *op, const ShardingRule &rule, ShardingAttr result,
                        ArrayRef<ShardingAttr> operands, Assignment &assignment) {
  SmallVector<int64_t> partial;
  // The initial value of a reduction has the partial axes of the result, whichever operand they
  // come from.
  Value init = rule.initOperand < 0 ? Value() : op->getOperand(rule.initOperand);
  for (auto [index, sharding] : llvm::enumerate(operands))
    if (sharding && sharding.isPartial() && static_cast<int64_t>(index) != rule.initOperand &&
        llvm::all_of(sharding.getPartialAxes(), [&](StringAttr axis) {
          return llvm::is_contained(result.getPartialAxes(), axis);
        }))
      partial.push_back(index);
  // If no other operand is partial, the partial axes of the result may be those of the initial
  // value.
  if (partial.empty() && init && operands[rule.initOperand] &&
      operands[rule.initOperand].getPartialAxes() == result.getPartialAxes())
    partial.push_back(rule.initOperand);
  if (partial.empty())
    return;
  auto isNeutral = [&](Value value) {
    return value == init || isIdentity(value, ReductionKind::Sum);
  };
  assignment.linearSet = findLinearSet(op, rule, operands, partial, isNeutral);
  // Otherwise some of them are combined, as one factor of a product whose factors are both partial.
  for (ArrayRef<int64_t> set : rule.linearSets) {
    if (assignment.linearSet >= 0)
      break;
    SmallVector<int64_t> passing = llvm::filter_to_vector(
        partial, [&](int64_t index) { return llvm::is_contained(set, index); });
    if (passing.empty())
      continue;
    assignment.linearSet = findLinearSet(op, rule, operands, passing, isNeutral);
    if (assignment.linearSet >= 0)
      partial = passing;
  }
  if (assignment.linearSet >= 0)
    llvm::append_range(assignment.linearAxes, operands[partial.front()].getPartialAxes());
}

/// Splits reduction loops as the operands are split, in `order`, if that makes `result` partial
/// over axes that are among its partial axes; of the axes of one dimension, only the leading ones
/// that are. Returns false if partial axes remain.
static bool splitReductions(Operation *op, const ShardingRule &rule, ShardingAttr result,
                            ArrayRef<ShardingAttr> operands, ArrayRef<int64_t> order,
                            Assignment &assignment) {
  SmallVector<StringAttr> covered(assignment.linearAxes);
  auto mayCover = [&](StringAttr axis) {
    return llvm::is_contained(result.getPartialAxes(), axis) && !llvm::is_contained(covered, axis);
  };
  for (int64_t index : order) {
    for (auto [target, split] : llvm::zip(rule.operands[index], operands[index].getDims())) {
      if (target.factor < 0 || !rule.factors[target.factor].reduction ||
          assignment.factors[target.factor])
        continue;
      ArrayRef<StringAttr> axes = split.getAxes().take_while(mayCover);
      if (axes.empty())
        continue;
      DimShardingAttr part = axes.size() == split.getAxes().size()
                                 ? split
                                 : takeAxes(lookupMesh(op, result.getMesh()), split, axes.size());
      assignment.factors[target.factor] = toFactor(part, target);
      llvm::append_range(covered, axes);
    }
  }
  return llvm::all_of(result.getPartialAxes(),
                      [&](StringAttr axis) { return llvm::is_contained(covered, axis); });
}

/// Attributes the partial axes of a result to partial operands that pass through and to split
/// reduction loops, or to the loops alone if the operands count as combined. Any operand may have
/// decided first (see chooseAssignment); larger ones are tried first.
static void assignPartial(Operation *op, const ShardingRule &rule, ShardingAttr result,
                          ArrayRef<ShardingAttr> operands, Assignment &assignment) {
  Assignment linear = assignment;
  passPartial(op, rule, result, operands, linear);
  SmallVector<int64_t> bySize = getOperandsBySize(op, operands);
  for (const Assignment &start : {linear, assignment}) {
    for (int64_t first : bySize) {
      Assignment tried = start;
      if (splitReductions(op, rule, result, operands, withFirst(bySize, first), tried)) {
        assignment = std::move(tried);
        return;
      }
    }
  }
  assignment.unexplained = true;
}

Assignment assignFromResults(Operation *op, const ShardingRule &rule,
                             ArrayRef<ShardingAttr> results, ArrayRef<ShardingAttr> operands) {
  Assignment assignment;
  assignment.factors.resize(rule.factors.size());
  for (auto [index, sharding] : llvm::enumerate(results)) {
    if (!sharding)
      continue;
    for (auto [dim, split] : llvm::enumerate(sharding.getDims())) {
      DimFactor target = rule.results[index][dim];
      if (target.factor < 0 || split.getAxes().empty())
        continue;
      assignment.factors[target.factor] = toFactor(split, target);
    }
  }
  if (!results.empty() && results[0] && results[0].isPartial())
    assignPartial(op, rule, results[0], operands, assignment);
  return assignment;
}

//===----------------------------------------------------------------------===//
// From an assignment to shardings
//===----------------------------------------------------------------------===//

static ShardingAttr buildSharding(const ShardingRule &rule, const Assignment &assignment,
                                  MeshOp mesh, ArrayRef<DimFactor> dims,
                                  ArrayRef<StringAttr> partial, ReductionKind kind) {
  MLIRContext *context = mesh.getContext();
  SmallVector<DimShardingAttr> splits;
  for (DimFactor dim : dims) {
    DimShardingAttr split = dim.factor < 0 ? nullptr : assignment.factors[dim.factor];
    if (!split) {
      splits.push_back(DimShardingAttr::get(context, {}, 1));
      continue;
    }
    if (dim.reach) {
      splits.push_back(DimShardingAttr::get(context, split.getAxes(), 1));
      continue;
    }
    auto scaled = DimShardingAttr::get(context, split.getAxes(), split.getUnit() * dim.unit);
    splits.push_back(normalizeUnit(mesh, scaled, rule.factors[dim.factor].size * dim.unit));
  }
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), splits, partial,
                           partial.empty() ? ReductionKind::Sum : kind);
}

/// Axes over which the results are partial, and their kind.
static std::pair<SmallVector<StringAttr>, ReductionKind> getPartial(const ShardingRule &rule,
                                                                    const Assignment &assignment) {
  SmallVector<StringAttr> axes(assignment.linearAxes);
  ReductionKind kind = ReductionKind::Sum;
  for (auto [factor, split] : llvm::zip(rule.factors, assignment.factors)) {
    if (!split || !factor.reduction)
      continue;
    llvm::append_range(axes, split.getAxes());
    kind = *factor.reduction;
  }
  return {axes, kind};
}

ShardingAttr getResultSharding(const ShardingRule &rule, const Assignment &assignment, MeshOp mesh,
                               int64_t index) {
  auto [partial, kind] = getPartial(rule, assignment);
  return buildSharding(rule, assignment, mesh, rule.results[index], partial, kind);
}

ShardingAttr getOperandSharding(const ShardingRule &rule, const Assignment &assignment, MeshOp mesh,
                                int64_t index) {
  SmallVector<StringAttr> partial;
  ReductionKind kind = ReductionKind::Sum;
  if (index == rule.initOperand)
    std::tie(partial, kind) = getPartial(rule, assignment);
  else if (assignment.linearSet >= 0 &&
           llvm::is_contained(rule.linearSets[assignment.linearSet], index))
    partial = assignment.linearAxes;
  return buildSharding(rule, assignment, mesh, rule.operands[index], partial, kind);
}

} // namespace mlir::coll
