//===- step_parts.h - the parts of a partitioned step, by dependence --*- C++ -*-===//
//
// A partitioned step whose batch is split over a mesh axis that stands for time: its coordinates
// are the micro-batches. What depends on the batch runs for each of them, and a reduction over that
// axis adds up over time. Everything is found by dependence; names decide nothing but the loss.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STEP_PARTS_H
#define COLL_PASSES_TRANSFORM_STAGES_STEP_PARTS_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/micro_batches.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

/// The reduction over the time axis, where `op` is one.
AllReduceOp getAccumulation(Operation *op);

/// Before it is partitioned, nothing in a step says where micro-batches are combined: all that
/// follows from the batch varies, the loss included.
enum class StepForm : uint8_t { Whole, Partitioned };

class StepParts {
public:
  explicit StepParts(func::FuncOp step, StepForm form = StepForm::Partitioned)
      : step_(step), form_(form) {}

  /// Reports an error if one micro-batch needs a result of all of them, or if no loss says what the
  /// forward pass is.
  LogicalResult analyze();

  func::FuncOp getStep() const { return step_; }
  StepForm getForm() const { return form_; }

  /// Differs between micro-batches.
  bool isVarying(Value value) const { return batches_.isVarying(value); }
  bool isVarying(Operation *op) const { return batches_.isVarying(op); }
  /// Depends on a sum over all micro-batches.
  bool isLate(Value value) const { return batches_.isLate(value); }
  /// Follows from the batch, constants and replicated state: any rank can compute it.
  bool isFree(Value value) const { return free_.contains(value); }
  bool isFree(Operation *op) const { return freeOps_.contains(op); }
  /// State whose update is free, as a count of steps: every stage that reads it keeps it.
  bool isReplicatedState(Value argument) const { return replicated_.contains(argument); }
  bool isState(unsigned argument) const;

  /// The operations that the loss depends on, in order, without free ones.
  ArrayRef<Operation *> getForward() const { return forward_.getArrayRef(); }
  bool isForward(Operation *op) const { return forward_.contains(op); }

  /// The result that updates each state argument: result k updates state k.
  ArrayRef<unsigned> getStateArguments() const { return states_; }
  Value getReturned(unsigned result) const;

private:
  LogicalResult findVarying();
  void findFree();
  bool computeFree();
  LogicalResult findForward();
  std::optional<unsigned> findLoss() const;

  func::FuncOp step_;
  StepForm form_;
  SmallVector<unsigned> states_;
  MicroBatches batches_;
  DenseSet<Value> free_, replicated_;
  DenseSet<Operation *> freeOps_;
  llvm::SetVector<Operation *> forward_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STEP_PARTS_H
