//===- elementwise_slice.h - what is computed element by element ------*- C++ -*-===//
//
// From some tensors of one shape back through elementwise operations to the tensors of that shape
// and the scalars that they are computed from:
//
//   %w - %rate * (%m * 0.9 + %g)     leaves %w, %m, %g   factors %rate
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_ELEMENTWISE_SLICE_H
#define COLL_PASSES_ANALYSIS_ELEMENTWISE_SLICE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

/// Whether `op` computes each element of its only result, a tensor of `shape`, from the elements at
/// the same place of its operands.
bool isElementwiseOver(Operation *op, ArrayRef<int64_t> shape);

/// The scalar tensor that `value` repeats for all its elements, or null.
Value getBroadcastFactor(Value value);

class ElementwiseSlice {
public:
  /// The slice also ends at `stops`, even if these are computed element by element.
  static ElementwiseSlice create(ValueRange ends, ValueRange stops = {});

  ArrayRef<int64_t> getShape() const { return shape_; }
  /// In the order of computation.
  ArrayRef<Operation *> getOps() const { return ops_; }
  /// Tensors of the shape that the slice reads, constants aside.
  ArrayRef<Value> getLeaves() const { return leaves_.getArrayRef(); }
  /// Scalar tensors that it reads for all elements.
  ArrayRef<Value> getFactors() const { return factors_.getArrayRef(); }

  /// The first value, in the order of computation, that lies on all paths from the leaves for which
  /// `isCut` holds to `ends`; null if there is no such value or no such leaf.
  Value findCommonValue(ValueRange ends, llvm::function_ref<bool(Value)> isCut) const;

  /// Computes one element of each of `ends` at the position of `builder`. `elements` maps leaves
  /// and factors to scalars.
  SmallVector<Value> cloneForElement(OpBuilder &builder, ValueRange ends,
                                     IRMapping &elements) const;

private:
  void visit(Value value, const llvm::SetVector<Value> &stops);
  Value elementOf(OpBuilder &builder, Location loc, Value value, IRMapping &elements) const;

  SmallVector<int64_t> shape_;
  SmallVector<Operation *> ops_;
  llvm::SetVector<Value> leaves_, factors_;
  llvm::SmallPtrSet<Operation *, 16> visited_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_ELEMENTWISE_SLICE_H
