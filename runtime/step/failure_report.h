// failure_report.h - combines the failures of many ranks into one Status.

#ifndef COLL_RUNTIME_STEP_FAILURE_REPORT_H
#define COLL_RUNTIME_STEP_FAILURE_REPORT_H

#include "runtime/base/status.h"
#include "runtime/step/abi/flight_recorder.h"

#include <vector>

namespace coll::rt {

struct RankOutcome {
  int rank = 0;
  Status status;
  const FlightRecorder *recorder = nullptr;
};

// Ok if every rank's outcome is ok. Otherwise the code of the cause (a rank that was only told of
// another's failure is no cause) and a message of several lines: the cause, each rank's outcome,
// and the last operations of each rank. The complete flight recorder is logged at level info.
Status reportFailure(const char *what, const std::vector<RankOutcome> &outcomes);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_FAILURE_REPORT_H
