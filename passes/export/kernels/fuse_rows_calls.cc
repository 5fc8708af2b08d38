//===- fuse_rows_calls.cc - which kernels see rows and columns -------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/kernels/fuse_rows.h"

namespace mlir::coll {
namespace {

RowAccess accessOf(linalg::GenericOp op, OpOperand &operand, const RowForm &form) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return RowAccess::Other;
  FailureOr<LinearIndex> position = linearize(op.getMatchingIndexingMap(&operand).getResults(),
                                              type.getShape(), op.getNumLoops());
  return failed(position) ? RowAccess::Other : getAccess(form, op.getStaticLoopRanges(), *position);
}

/// Whether the loops over columns are all parallel, or all reduced, and the others parallel.
bool haveUniformColumns(linalg::GenericOp op, const RowForm &form) {
  auto kinds = op.getIteratorTypesArray();
  auto isParallel = [](utils::IteratorType kind) { return kind == utils::IteratorType::parallel; };
  auto rows = ArrayRef(kinds).take_front(form.split),
       columns = ArrayRef(kinds).drop_front(form.split);
  return llvm::all_of(rows, isParallel) &&
         (llvm::all_of(columns, isParallel) || llvm::none_of(columns, isParallel));
}

/// An element is written once, without regard to what was there; a row's value is accumulated in
/// any order, from a fill.
bool isProperResult(linalg::GenericOp op, unsigned result, const RowForm &form) {
  OpOperand *init = op.getDpsInitOperand(result);
  RowAccess access = accessOf(op, *init, form);
  if (access == RowAccess::Element || (form.isPerRow && access == RowAccess::Row))
    return !op.payloadUsesValueFromOperand(init);
  return access == RowAccess::Row && findCombiner(op, result) &&
         init->get().getDefiningOp<linalg::FillOp>();
}

/// Whether the kernel returns what its only linalg operation computes from the arguments.
linalg::GenericOp findOnlyOperation(func::FuncOp kernel) {
  linalg::GenericOp found;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (found)
        return {};
      found = generic;
    } else if (!op.hasTrait<OpTrait::ConstantLike>() && !isa<linalg::FillOp>(op)) {
      return {};
    }
  }
  Operation *end = kernel.getBody().front().getTerminator();
  bool areArguments = found && end->getOperands() == found.getResults() &&
                      llvm::all_of(found.getDpsInputs(), llvm::IsaPred<BlockArgument>);
  return areArguments ? found : linalg::GenericOp();
}

} // namespace

std::optional<RowCall> RowCall::find(Operation *op) {
  auto call = dyn_cast_or_null<func::CallOp>(op);
  auto kernel = call
                    ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr())
                    : nullptr;
  if (!kernel || kernel.isExternal() || !kernel.getBody().hasOneBlock())
    return std::nullopt;
  RowCall found{call, kernel, findOnlyOperation(kernel)};
  auto isEmpty = [](Value value) { return value.getDefiningOp<tensor::EmptyOp>() != nullptr; };
  if (!found.op || !llvm::all_of(call.getOperands().drop_front(found.numInputs()), isEmpty))
    return std::nullopt;
  return found;
}

bool RowCall::hasForm(int64_t rows, int64_t columns) const {
  std::optional<RowForm> form = RowForm::find(op.getStaticLoopRanges(), rows, columns);
  if (!form || !haveUniformColumns(op, *form))
    return false;
  for (unsigned result = 0; result < op.getNumResults(); ++result)
    if (!isProperResult(op, result, *form))
      return false;
  return true;
}

RowAccess RowCall::getInputAccess(unsigned index, int64_t rows, int64_t columns) const {
  std::optional<RowForm> form = RowForm::find(op.getStaticLoopRanges(), rows, columns);
  std::optional<RowAccess> access;
  for (OpOperand &use : kernel.getArgument(index).getUses()) {
    if (use.getOwner() != op)
      return RowAccess::Other;
    RowAccess found = accessOf(op, use, *form);
    if (access && *access != found)
      return RowAccess::Other;
    access = found;
  }
  return access.value_or(RowAccess::Other);
}

RowAccess RowCall::getResultAccess(unsigned result, int64_t rows, int64_t columns) const {
  std::optional<RowForm> form = RowForm::find(op.getStaticLoopRanges(), rows, columns);
  return accessOf(op, *op.getDpsInitOperand(result), *form);
}

Value skipReshapes(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

} // namespace mlir::coll
