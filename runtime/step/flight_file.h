// flight_file.h - writes the last operations of ranks as a trace in Perfetto's format.

#ifndef COLL_RUNTIME_STEP_FLIGHT_FILE_H
#define COLL_RUNTIME_STEP_FLIGHT_FILE_H

#include "runtime/step/rank_state.h"

#include <memory>
#include <vector>

namespace coll::rt {

// Writes the records of the flight recorders of this process's ranks to the file that
// COLL_FLIGHT_RECORDER_FILE names, if it is set. An operation that has not ended ends now, with the
// flag "unfinished". A file that cannot be written is reported in one warning. No rank may run.
void writeFlightFile(const std::vector<std::unique_ptr<RankState>> &ranks);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_FLIGHT_FILE_H
