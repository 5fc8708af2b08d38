//===- row_form.h - a linalg operation as rows and columns -------------*- C++ -*-===//
//
// Softmax, layer norm and their gradients reduce rows and then use the results for each element.
// Their operations differ in their loops, but all work on the same rows × columns in row-major
// order.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_KERNELS_ROW_FORM_H
#define COLL_PASSES_EXPORT_KERNELS_ROW_FORM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/export/kernels/loop_strides.h"

#include <optional>

namespace mlir::coll {

/// The first `split` loops run over rows, the others over columns, each in row-major order. With
/// `isJoined` there is one loop, over both.
struct RowForm {
  int64_t rows, columns;
  unsigned split;
  bool isJoined = false;
  bool isPerRow = false; // no loop over columns

  static std::optional<RowForm> find(ArrayRef<int64_t> extents, int64_t rows, int64_t columns);
};

enum class RowAccess {
  Element, // the element of the row and the column
  Row,     // the element of the row
  Other,
};
RowAccess getAccess(const RowForm &form, ArrayRef<int64_t> extents, const LinearIndex &position);

/// Rows and columns of an operation that reduces along its innermost loops, all others of which are
/// parallel.
std::optional<std::pair<int64_t, int64_t>> findReducedRows(linalg::GenericOp op);

/// The operation that accumulates output `j`, if it may be done in any order and uses the old value
/// once.
Operation *findCombiner(linalg::GenericOp op, unsigned j);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_KERNELS_ROW_FORM_H
