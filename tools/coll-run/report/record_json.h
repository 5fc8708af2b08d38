//===- record_json.h - a rank's record as text, to be sent -------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_REPORT_RECORD_JSON_H
#define COLL_TOOLS_COLL_RUN_REPORT_RECORD_JSON_H

#include "tools/coll-run/report/recorder.h"

#include "llvm/Support/Error.h"

namespace coll::run {

std::string writeRecord(const RankRecord &record);

/// Fails where the text is none that writeRecord of the same version made.
llvm::Expected<RankRecord> readRecord(llvm::StringRef text);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_REPORT_RECORD_JSON_H
