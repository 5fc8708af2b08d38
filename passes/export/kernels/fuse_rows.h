//===- fuse_rows.h - pieces of coll-fuse-rows --------------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_KERNELS_FUSE_ROWS_H
#define COLL_PASSES_EXPORT_KERNELS_FUSE_ROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/export/kernels/row_form.h"

namespace mlir::coll {

/// On a kernel function that coll-fuse-rows has made: rows and columns.
inline constexpr llvm::StringLiteral kRowsAttr = "rows";

/// On a kernel function that coll-fuse-updates has made: its operations are independent.
inline constexpr llvm::StringLiteral kUpdatesAttr = "updates";

/// A call of a kernel that is one linalg operation on arguments, with the fills that it starts
/// from.
struct RowCall {
  mutable func::CallOp call; // their accessors are not const
  mutable func::FuncOp kernel;
  mutable linalg::GenericOp op;

  static std::optional<RowCall> find(Operation *op);

  unsigned numInputs() const { return call.getNumOperands() - call.getNumResults(); }
  /// Whether the operation has rows and columns, and each result is the elements or one value a
  /// row.
  bool hasForm(int64_t rows, int64_t columns) const;
  /// How argument `index` of the kernel is read, wherever it is.
  RowAccess getInputAccess(unsigned index, int64_t rows, int64_t columns) const;
  RowAccess getResultAccess(unsigned result, int64_t rows, int64_t columns) const;
};

/// The tensor of which the value is a reshape.
Value skipReshapes(Value value);

/// Calls of one block whose kernels become one: along rows, or side by side where there are none.
struct RowGroup {
  int64_t rows = 0, columns = 0;
  llvm::SmallDenseMap<Operation *, RowCall> calls;

  bool hasRows() const { return rows > 0; }
  bool contains(Operation *op) const { return op && calls.contains(op); }
  /// In the order of the block.
  SmallVector<RowCall> inOrder() const;
};

/// The kernel function of the group, not inserted anywhere, and the operands and results of the
/// call of it. Results that only the group uses are none.
struct RowKernel {
  func::FuncOp function;
  SmallVector<Value> operands, results;
};
RowKernel buildRowKernel(OpBuilder &builder, const RowGroup &group);

/// Erases kernel functions that are not called any more.
void eraseUnusedKernels(ModuleOp module);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_KERNELS_FUSE_ROWS_H
