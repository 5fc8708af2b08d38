//===- record_json.h - a rank's record as text, to be sent -------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_RECORD_JSON_H
#define COLL_DRIVER_REPORT_RECORD_JSON_H

#include "driver/report/recorder.h"

#include "llvm/Support/Error.h"

namespace coll::run {

std::string writeRecord(const RankRecord &record);

/// Fails if the text was not written by writeRecord of the same version.
llvm::Expected<RankRecord> readRecord(llvm::StringRef text);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_RECORD_JSON_H
