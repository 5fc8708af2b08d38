// rank.h - one rank of `coll-perf moe`: a process with a GPU.

#ifndef COLL_TOOLS_COLL_PERF_MOE_RANK_H
#define COLL_TOOLS_COLL_PERF_MOE_RANK_H

#include "runtime/backend/backend.h"
#include "tools/coll-perf/moe/curves.h"
#include "tools/coll-perf/moe/task.h"
#include "tools/coll-perf/rows.h"

#include <string>
#include <vector>

namespace coll::perf {

// The common result of all ranks.
struct MoeReport {
  std::vector<Row> rows;
  std::vector<MoePoint> points;
  int64_t wrong = -1; // values, on all ranks; -1: not checked
};

// Output files; empty names are not written.
struct MoeFiles {
  std::string json, plot, command;
};

// Measures the tasks, which differ only in tokens and experts, one after the other; rank 0 reports.
// Returns the exit code (77 if it cannot be measured here).
int runMoeRank(const std::vector<MoeTask> &tasks, const rt::JobOptions &job, const MoeFiles &files);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_RANK_H
