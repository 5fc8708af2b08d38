// low_latency_rank.h - one rank of `coll-perf moe --low-latency`: a process with a GPU.

#ifndef COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_RANK_H
#define COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_RANK_H

#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/task.h"
#include "tools/coll-perf/rows.h"

#include <vector>

namespace coll::perf {

// What all ranks found together; rank 0 has printed it.
struct LowLatencyReport {
  std::vector<Row> rows;
  int64_t wrong = -1; // values, on all ranks; -1: not checked
};
Result<LowLatencyReport> measureLowLatency(const MoeTask &task, Gathering &ranks,
                                           const rt::JobOptions &job);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_RANK_H
