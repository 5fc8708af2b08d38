// rank.h - a process that is one rank of coll-perf reshard.

#ifndef COLL_TOOLS_COLL_PERF_RESHARD_RANK_H
#define COLL_TOOLS_COLL_PERF_RESHARD_RANK_H

#include "runtime/backend/backend.h"
#include "tools/coll-perf/reshard/options.h"

#include <string>
#include <vector>

namespace coll::perf {

// Output files; empty names are not written.
struct ReshardFiles {
  std::string json, plot, command;
};

// Measures all ways of each task (at least one task) on the same ranks; rank 0 prints and writes
// the files. Returns the exit code: 77 if this machine lacks a GPU for it.
int runReshardRank(const std::vector<ReshardTask> &tasks, const rt::JobOptions &job,
                   const ReshardFiles &files);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_RESHARD_RANK_H
