// rank.h - a process that is one rank of coll-perf reshard.

#ifndef COLL_TOOLS_COLL_PERF_RESHARD_RANK_H
#define COLL_TOOLS_COLL_PERF_RESHARD_RANK_H

#include "runtime/backend.h"
#include "tools/coll-perf/reshard/options.h"

#include <string>

namespace coll::perf {

// Measures all ways of the task; rank 0 prints, and appends rows to `json` if that is not empty.
// The process's exit code: 77 where this machine has no GPU for it.
int runReshardRank(const ReshardTask &task, const rt::JobOptions &job, const std::string &json,
                   const std::string &command);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_RESHARD_RANK_H
