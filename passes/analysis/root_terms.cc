//===- root_terms.cc -------------------------------------------------------------===//

#include "passes/analysis/root_terms.h"

#include "dialect/shape.h"
#include "dialect/sharding.h"
#include "passes/analysis/sharding_rule.h"

namespace mlir::coll {

namespace {

/// Calls `visit` for each use, by an operation that is not elementwise, of `value` and of the
/// values that are computed from it element by element, until `visit` returns false.
void walkUses(Value value, llvm::function_ref<bool(OpOperand &)> visit) {
  ArrayRef<int64_t> shape = shapeOf(value);
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      if (isElementwiseOver(user, shape))
        values.insert(user->getResult(0));
      else if (!visit(use))
        return;
    }
  }
}

} // namespace

bool isTerm(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() == 0 || op.getNumParallelLoops() > 0 ||
      op.getNumLoops() == 0 || op.hasIndexSemantics())
    return false;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!result || result.getRank() != 0)
    return false;
  for (OpOperand *input : op.getDpsInputOperands())
    if (!op.getMatchingIndexingMap(input).isIdentity())
      return false;
  unsigned accumulator = op.getNumDpsInputs();
  std::optional<ReductionKind> kind = getReductionKind(*op.getBlock(), accumulator, 0);
  return kind && getIdentity(*kind, result.getElementType()) &&
         isMemoryEffectFree(op.getOperation());
}

std::optional<ElementwiseSlice> getTermSlice(linalg::GenericOp op, ValueRange own) {
  SmallVector<Value> inputs = op.getDpsInputs();
  ElementwiseSlice slice = ElementwiseSlice::create(inputs, own);
  if (!llvm::all_of(slice.getLeaves(), [&](Value leaf) { return llvm::is_contained(own, leaf); }))
    return std::nullopt;
  return slice;
}

Operation *findEscape(Value value, ValueRange own, llvm::function_ref<bool(OpOperand &)> isUpdate) {
  Operation *escape = nullptr;
  walkUses(value, [&](OpOperand &use) {
    auto reduction = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!isUpdate(use) && !(reduction && isTerm(reduction) && getTermSlice(reduction, own)))
      escape = use.getOwner();
    return !escape;
  });
  return escape;
}

SmallVector<linalg::GenericOp> findTerms(Value value, ValueRange own) {
  llvm::SetVector<linalg::GenericOp> terms;
  walkUses(value, [&](OpOperand &use) {
    auto reduction = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (reduction && isTerm(reduction) && getTermSlice(reduction, own))
      terms.insert(reduction);
    return true;
  });
  return terms.takeVector();
}

} // namespace mlir::coll
