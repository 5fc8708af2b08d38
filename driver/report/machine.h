//===- machine.h - facts about this machine and process -----------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_MACHINE_H
#define COLL_DRIVER_REPORT_MACHINE_H

#include "driver/report/contents.h"

namespace coll::run {

std::string hostName();
int64_t processId();
/// The largest resident memory of the process so far, in bytes.
int64_t peakResidentBytes();

/// Host, processor, memory, operating system.
std::vector<NamedText> describeMachine();

/// "2026-11-22 01:10:03 UTC"
std::string describeNow();

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_MACHINE_H
