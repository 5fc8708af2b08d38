//===- measured_pipeline.h - when the stages of a pipeline worked -------*- C++ -*-===//
//
// From the calls of the last step: an entry of the schedule lies between what it received and what
// it sent. Where a rank goes on from one entry to the next without a transfer, the time between is
// divided as the predicted times are.
//
//===------------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_REPORT_MEASURED_PIPELINE_H
#define COLL_DRIVER_REPORT_MEASURED_PIPELINE_H

#include "driver/report/contents.h"

#include <optional>

namespace coll::run {

/// The first rank of a stage.
int firstRankOf(const ReportContents &contents, int stage);

/// By stage, in nanoseconds since the first entry of any. Nullopt where the calls of a step are not
/// all known.
std::optional<plan::Timeline> measurePipeline(const ReportContents &contents);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_MEASURED_PIPELINE_H
