//===- bucket.h - the parameters of one bucket, and their tensors --*- C++ -*-===//
//
// Builds the code that brings the gradients and parameters of a bucket into rows (layout.h),
// and updated parameters back. New code stands before the terminator, in no order that fits its
// uses: the block is sorted afterwards.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_TRANSFORM_ROOTS_BUCKET_H
#define COLL_PASSES_TRANSFORM_ROOTS_BUCKET_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/analysis/root_terms.h"
#include "passes/transform/roots/layout.h"

namespace mlir::coll {

class RootBucket {
public:
  /// Updates with equal regions, types and attributes, over the ranks along `axes`.
  RootBucket(SmallVector<RootUpdateOp> updates, RootLayout layout, MeshOp mesh,
             SmallVector<StringAttr> axes);

  const RootLayout &getLayout() const { return layout_; }
  ArrayRef<RootUpdateOp> getUpdates() const { return updates_; }
  int64_t getNumHeld();

  RankedTensorType getRowsType(Type element) const;
  /// Rows split over the ranks.
  ShardingAttr getSplitSharding(int64_t dims) const;

  /// Replaces the updates' terms and what the updates forward. `held` are the arguments in which
  /// the states that only roots have lie as rows; returns their new values. The updates are left
  /// without a region, for the caller to erase.
  SmallVector<Value> build(ArrayRef<Value> held);

private:
  // bucket.cc
  Value packOperand(unsigned operand);
  Value concatRows(Location loc, Type element, int64_t unit,
                   llvm::function_ref<Value(int64_t)> flatOf);
  Value zeros(Location loc, Type element, int64_t count);
  Value flatten(Value value);
  Value unpack(Value flat, int64_t item, RankedTensorType type);
  Value gatherRows(Value rows, StringRef why);
  Value createFactor(ArrayRef<Value> perItem);
  void createUpdate();
  void replaceForwarded();

  // bucket_terms.cc
  struct TermGroup;
  void replaceTerms();
  void replaceGroup(const TermGroup &group);
  Value createRowTerms(const TermGroup &group);
  Value combineRows(linalg::GenericOp term, Value rows, int64_t item);
  Value createCounts(Location loc);

  SmallVector<RootUpdateOp> updates_;
  RootLayout layout_;
  MeshOp mesh_;
  SmallVector<StringAttr> axes_;
  OpBuilder builder_;
  /// Gradients and states of the update, as rows.
  SmallVector<Value> rows_;
  RootUpdateOp packed_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_ROOTS_BUCKET_H
