//===- read_schedule.h - the schedule that a pass is given ------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_READ_SCHEDULE_H
#define COLL_PASSES_TRANSFORM_STAGES_READ_SCHEDULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "plan/schedule/schedule.h"

namespace mlir::coll {

/// The schedule of that name, or in the file at that path; an error stands at `step`.
FailureOr<::coll::plan::Schedule> readSchedule(func::FuncOp step, StringRef name, int64_t stages,
                                               int64_t microBatches);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_READ_SCHEDULE_H
