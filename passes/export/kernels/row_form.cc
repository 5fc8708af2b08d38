//===- row_form.cc - a linalg operation as rows and columns ----------------------===//

#include "passes/export/kernels/row_form.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace mlir::coll {

std::optional<RowForm> RowForm::find(ArrayRef<int64_t> extents, int64_t rows, int64_t columns) {
  int64_t all = 1;
  for (int64_t extent : extents)
    all *= extent;
  RowForm form{rows, columns, 0};
  if (all == rows && columns > 1) {
    form.split = extents.size();
    form.isPerRow = true;
    return form;
  }
  if (all != rows * columns)
    return std::nullopt;
  int64_t outer = 1;
  for (; form.split < extents.size() && outer < rows; ++form.split)
    outer *= extents[form.split];
  if (outer == rows)
    return form;
  form.isJoined = extents.size() == 1;
  return form.isJoined ? std::optional(form) : std::nullopt;
}

RowAccess getAccess(const RowForm &form, ArrayRef<int64_t> extents, const LinearIndex &position) {
  if (position.offset != 0)
    return RowAccess::Other;
  SmallVector<int64_t> strides = computeStrides(extents);
  auto matches = [&](llvm::function_ref<int64_t(unsigned)> wanted) {
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (extents[loop] != 1 && position.byDim[loop] != wanted(loop))
        return false;
    return true;
  };
  if (matches([&](unsigned loop) { return strides[loop]; }))
    return form.isPerRow ? RowAccess::Row : RowAccess::Element;
  if (!form.isJoined && !form.isPerRow && matches([&](unsigned loop) -> int64_t {
        return loop < form.split ? strides[loop] / form.columns : 0;
      }))
    return RowAccess::Row;
  return RowAccess::Other;
}

std::optional<std::pair<int64_t, int64_t>> findReducedRows(linalg::GenericOp op) {
  int64_t rows = 1, columns = 1;
  bool isReduced = false;
  for (auto [extent, kind] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    if (kind == utils::IteratorType::reduction)
      isReduced = true;
    else if (isReduced)
      return std::nullopt;
    (isReduced ? columns : rows) *= extent;
  }
  if (!isReduced || columns == 1)
    return std::nullopt;
  return std::make_pair(rows, columns);
}

Operation *findCombiner(linalg::GenericOp op, unsigned j) {
  BlockArgument out = op.getRegionOutputArgs()[j];
  Operation *def = op.getBody()->getTerminator()->getOperand(j).getDefiningOp();
  bool isAccumulation = def && def->getBlock() == op.getBody() && def->getNumOperands() == 2 &&
                        out.hasOneUse() && *out.getUsers().begin() == def && def->hasOneUse();
  return isAccumulation && arith::getNeutralElement(def) ? def : nullptr;
}

} // namespace mlir::coll
