// failure_report.h - one Status out of the failures of many ranks.

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

// Ok where every rank's outcome is. Otherwise the code of the cause (a rank that was
// only told of another's failure is no cause) and a message of several lines: the
// cause, each rank's outcome, and the operations that each rank did last. The whole
// flight recorder goes to the log at level info.
Status reportFailure(const char *what, const std::vector<RankOutcome> &outcomes);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_FAILURE_REPORT_H
