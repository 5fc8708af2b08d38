//===- outline_kernels.h - pieces of coll-outline-kernels --------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_KERNELS_OUTLINE_KERNELS_H
#define COLL_PASSES_EXPORT_KERNELS_OUTLINE_KERNELS_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::coll {

/// Makes the innermost loop contiguous for as many operands as possible, allows a sum along it to
/// be reassociated, and merges adjacent loops that move together. May replace `op`.
void prepareLoops(RewriterBase &rewriter, linalg::GenericOp op);

/// Operations that become one kernel. `ops` are in block order, the root last. destinations[k] is
/// the initial tensor of result k of the root.
struct KernelUnit {
  SmallVector<Operation *> ops;
  SmallVector<OpOperand *> destinations; // empty: the root writes a new tensor

  Operation *root() const { return ops.back(); }
  bool contains(Operation *op) const { return llvm::is_contained(ops, op); }
};

/// A new function with the unit's code, and the operands of the call to it.
struct Kernel {
  func::FuncOp function; // not inserted anywhere
  SmallVector<Value> operands;
};
Kernel buildKernel(OpBuilder &builder, const KernelUnit &unit);

/// The root and the operations that can be computed inside its kernel: initial fills, slices read
/// in place, and chains of insertions.
KernelUnit collectUnit(Operation *root);

/// Whether the operation belongs in a kernel: a linalg op, a slice or a marked loop nest.
bool isComputeOp(Operation *op);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_KERNELS_OUTLINE_KERNELS_H
