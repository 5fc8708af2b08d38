//===- view.h - a report as the templates take it -----------------------*- C++ -*-===//
//
// Numbers are texts for people here, and pictures are coordinates. The templates escape
// every text; nothing here holds HTML.
//
//===------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_REPORT_VIEW_H
#define COLL_DRIVER_REPORT_VIEW_H

#include "driver/report/analysis.h"

#include "llvm/Support/JSON.h"

namespace coll::run {

/// Everything but the embedded data, the style and the script.
llvm::json::Object makeView(const ReportContents &contents, const Analysis &analysis);

// The parts. A null says that there is nothing to show.

/// One chart per scalar output (view_charts.cc).
llvm::json::Value viewOutputs(const ReportContents &contents);
/// Time per step over the steps.
llvm::json::Value viewStepTimes(const ReportContents &contents, const Analysis &analysis);

/// Computing and communicating, per step and per rank, and what the slowest does to the
/// others (view_ranks.cc).
llvm::json::Value viewTimes(const ReportContents &contents, const Analysis &analysis);
llvm::json::Value viewMemory(const ReportContents &contents, const Analysis &analysis);
/// The schedule of a pipeline, predicted and measured (view_pipeline.cc).
llvm::json::Value viewPipeline(const ReportContents &contents, const Analysis &analysis);
/// The last step, rank by rank along the time (view_timeline.cc).
llvm::json::Value viewTimeline(const ReportContents &contents, const Analysis &analysis);

/// Exposed and hidden communication of the last step, by cause (view_waits.cc).
llvm::json::Value viewWaits(const ReportContents &contents, const Analysis &analysis);

/// The rank programs as a picture (view_shape.cc).
llvm::json::Value viewShape(const ReportContents &contents, const Analysis &analysis);

/// (view_tables.cc)
llvm::json::Value viewCollectives(const ReportContents &contents, const Analysis &analysis);
llvm::json::Value viewChecks(const ReportContents &contents);

/// Text that came from outside, as valid UTF-8.
std::string viewText(const std::string &bytes);
/// The colour of a kind of operation: a class name of the style sheet.
std::string viewColour(const std::string &kind);
/// "all 4 ranks", "2 groups of 2: [0, 1] [2, 3]".
std::string describeGroups(const rt::GroupLists &groups, int numRanks);
/// "all_reduce sum f32"
std::string describeOperation(const rt::OpInfo &op);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_VIEW_H
