//===- stage_report.h - a pipeline in words and as a picture ----------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_REPORT_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_REPORT_H

#include "passes/transform/stages/stage_transfers.h"

namespace mlir::coll {

/// A table of the stages (operations, work, state, peak of kept activations, bytes sent for each
/// micro-batch), the idle time that follows from the work, and the schedule as rank by time.
std::string describeStages(const StepParts &parts, const StagePlacement &placement,
                           const ::coll::plan::Schedule &schedule,
                           ArrayRef<StageTransfer> transfers);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_REPORT_H
