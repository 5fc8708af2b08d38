//===- data.h - a report as JSON ----------------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_DATA_H
#define COLL_DRIVER_REPORT_DATA_H

#include "driver/report/analysis.h"

#include "llvm/Support/JSON.h"

namespace coll::run {

/// Everything that the page shows, with full precision, for programs to read. Times are
/// nanoseconds; what is not known, and numbers that are not finite, are null. README.md
/// lists the fields.
llvm::json::Object makeData(const ReportContents &contents, const Analysis &analysis);

/// A number, or null if it is not finite.
llvm::json::Value toJsonNumber(double value);

/// Text as it may stand inside of a <script> element.
std::string writeForScript(const llvm::json::Value &value);

/// Points that a chart of one output has at most.
inline constexpr size_t kMaxPoints = 1000;

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_DATA_H
