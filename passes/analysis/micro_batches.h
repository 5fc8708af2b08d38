//===- micro_batches.h - the part of a step that each micro-batch runs --*- C++ -*-===//
//
// Micro-batches are a mesh axis in time: where ranks would each have a part of the batch, one rank
// computes the parts one after the other. In a partitioned step, what depends on the batch runs for
// each of them, and a collective over the axis combines them. What follows from that has to wait
// for the last one:
//
//   x [mb, -]      varies               loss = all_reduce f(x) over mb       late
//   gradients      vary                 update(all_reduce gradient over mb)  late
//   x - all_reduce x over mb            refused: it varies, and would have to wait
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_MICRO_BATCHES_H
#define COLL_PASSES_ANALYSIS_MICRO_BATCHES_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::coll {

/// Name of the mesh axis whose coordinates are the micro-batches.
inline constexpr llvm::StringLiteral kTimeAxis = "mb";

/// The values that `op` reads: its operands, and values from outside that its regions read.
SmallVector<Value> getReadValues(Operation *op);

/// Whether `group` names the axis.
bool hasAxis(GroupAttr group, StringRef axis);

/// The dimension of an argument of `step` that is split into micro-batches.
std::optional<unsigned> getTimeDim(func::FuncOp step, unsigned argument);

class MicroBatches {
public:
  /// `isMerge` says which operations combine micro-batches. An error at any other collective over
  /// them, and at an operation that each micro-batch needs a combined value for.
  static FailureOr<MicroBatches> create(func::FuncOp step,
                                        llvm::function_ref<bool(Operation *)> isMerge);

  /// Whether the value differs between micro-batches.
  bool isVarying(Value value) const { return varying_.contains(value); }
  bool isVarying(Operation *op) const { return varyingOps_.contains(op); }
  /// Whether the value depends on a combined value.
  bool isLate(Value value) const { return mergeOf_.contains(value); }

private:
  LogicalResult visit(Operation *op, bool isMerge);

  DenseSet<Value> varying_;
  DenseSet<Operation *> varyingOps_;
  DenseMap<Value, Operation *> mergeOf_; // late values: the first merge that they follow from
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_MICRO_BATCHES_H
