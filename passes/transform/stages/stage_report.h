//===- stage_report.h - a pipeline in words and as a picture ----------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_REPORT_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_REPORT_H

#include "passes/transform/stages/stage_transfers.h"
#include "plan/schedule/pipeline.h"

namespace mlir::coll {

/// The work, memory and transfers of the chunks and ranks of a pipeline.
::coll::plan::Pipeline describePipeline(const StepParts &parts, const StagePlacement &placement,
                                        const ::coll::plan::Schedule &schedule,
                                        ArrayRef<StageTransfer> transfers,
                                        const ::coll::plan::CostModel &model);

/// A table of the stages (operations, predicted time, state, peak of kept activations, bytes sent
/// for each micro-batch), the idle time, and the schedule as rank by time.
std::string describeStages(const ::coll::plan::Pipeline &pipeline);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_REPORT_H
