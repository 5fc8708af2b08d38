//===- micro_batches.h - which values a micro-batch alone determines --*- C++ -*-===//
//
// Micro-batches are a mesh axis in time: where ranks would each have a part of the batch, one rank
// computes the parts one after the other. A value that is split over the axis is computed part by
// part, and one that is partial over it is summed over the parts. What needs a value of all parts
// has to wait for the last:
//
//   x [micro, -]   loss = sum(f(x))   partial   gradients are, too
//   update(sum of gradients)          once, behind the last micro-batch
//   mean = sum(x) / n                 known behind the last micro-batch
//   x - mean                          refused: it is computed for each micro-batch, with the mean
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_MICRO_BATCHES_H
#define COLL_PASSES_ANALYSIS_MICRO_BATCHES_H

#include "dialect/dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::coll {

/// Name of the mesh axis whose coordinates are the micro-batches.
inline constexpr llvm::StringLiteral kTimeAxis = "mb";

enum class MicroKind {
  Same,    // does not depend on the batch
  Rows,    // one part per micro-batch
  Partial, // one contribution per micro-batch, to be combined
  Whole,   // known behind the last micro-batch
};

class MicroBatches {
public:
  /// The kinds of a function whose changes of sharding are explicit (after coll-insert-reshards),
  /// with the micro-batches along `axis` of its mesh. An error at the first operation that would
  /// need two passes over the micro-batches.
  static FailureOr<MicroBatches> create(FunctionOpInterface function, StringAttr axis);

  MicroKind getKind(Value value) const;
  /// The dimension of a value of kind Rows that is split into micro-batches.
  int64_t getRowDim(Value value) const;

private:
  explicit MicroBatches(StringAttr axis) : axis_(axis) {}
  bool isPerMicroBatch(Value value) const;
  bool changes(Operation *op);
  bool mark(Value value);
  LogicalResult check(Operation *op) const;

  StringAttr axis_;
  /// Values that more than one micro-batch goes into.
  llvm::DenseSet<Value> whole_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_MICRO_BATCHES_H
