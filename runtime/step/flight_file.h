// flight_file.h - what ranks did last, as a trace in Perfetto's format.

#ifndef COLL_RUNTIME_STEP_FLIGHT_FILE_H
#define COLL_RUNTIME_STEP_FLIGHT_FILE_H

#include "runtime/step/rank_state.h"

#include <memory>
#include <vector>

namespace coll::rt {

// Writes what the flight recorders of this process's ranks remember to the file that
// COLL_FLIGHT_RECORDER_FILE names, if it does. An operation that has not ended ends now, with the
// flag "unfinished". What cannot be written is told of in one warning. No rank runs.
void writeFlightFile(const std::vector<std::unique_ptr<RankState>> &ranks);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_FLIGHT_FILE_H
