// rank.h - one rank of `coll-perf moe`: a process with a GPU.

#ifndef COLL_TOOLS_COLL_PERF_MOE_RANK_H
#define COLL_TOOLS_COLL_PERF_MOE_RANK_H

#include "runtime/backend.h"
#include "tools/coll-perf/moe/task.h"

#include <string>

namespace coll::perf {

// Measures, and reports if it is rank 0; the process's exit code (77: it cannot be done here).
int runMoeRank(const MoeTask &task, const rt::JobOptions &job, const std::string &json,
               const std::string &command);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_RANK_H
