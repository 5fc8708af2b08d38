// low_latency_rank.h - one rank of `coll-perf moe --low-latency`: a process with a GPU.

#ifndef COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_RANK_H
#define COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_RANK_H

#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/rank.h"
#include "tools/coll-perf/moe/task.h"

namespace coll::perf {

// Rank 0 prints the report before it returns.
Result<MoeReport> measureLowLatency(const MoeTask &task, Gathering &ranks,
                                    const rt::JobOptions &job);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_RANK_H
