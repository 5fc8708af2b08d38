//===- mark_stages.cc - the cut into stages, before the step is partitioned -------===//
//
// Each stage has roots of its own, for the parameters that it keeps. So the forward pass is cut
// before coll-place-roots, as coll-split-stages will cut it, and the cut is marked.
//
//===----------------------------------------------------------------------------===//

#include "dialect/notes.h"
#include "passes/passes.h"
#include "passes/transform/find_step.h"
#include "passes/transform/stages/read_schedule.h"
#include "passes/transform/stages/stage_placement.h"
#include "passes/transform/stages/stage_scopes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_MARKSTAGESPASS
#include "passes/passes.h.inc"

namespace {

class MarkStagesPass : public impl::MarkStagesPassBase<MarkStagesPass> {
public:
  using MarkStagesPassBase::MarkStagesPassBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run() {
    func::FuncOp step = findStepOfOneBlock(getOperation());
    if (!step)
      return failure();
    FailureOr<::coll::plan::Schedule> order = readSchedule(step, schedule, stages, microBatches);
    StepParts parts(step, StepForm::Whole);
    if (failed(order) || failed(parts.analyze()))
      return failure();
    SmallVector<std::string> patterns(stagePatterns.begin(), stagePatterns.end());
    FailureOr<ChunkOf> cut = cutForward(parts, patterns, *order, makeStageModel());
    if (failed(cut))
      return failure();
    StagePlacement placement(parts, *cut, order->numChunks);
    Builder builder(&getContext());
    for (Operation &op : step.getBody().front().without_terminator()) {
      const auto [phase, chunk] = placement.get(&op);
      // What is made of parameters alone may ask for its rows once it is partitioned.
      if (phase == Phase::Forward || phase == Phase::Once)
        markStage(&op, chunk);
      else if (auto update = dyn_cast<RootUpdateOp>(op))
        update->setAttr(kStageAttr,
                        builder.getI64IntegerAttr(
                            order->rankOfChunk[placement.getChunk(update.getStates().front())]));
    }
    return success();
  }
};

} // namespace
} // namespace mlir::coll
