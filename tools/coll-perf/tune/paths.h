// paths.h - coll-perf tune --paths: the fastest path of messages of GPU memory.

#ifndef COLL_TOOLS_COLL_PERF_TUNE_PATHS_H
#define COLL_TOOLS_COLL_PERF_TUNE_PATHS_H

#include "tools/coll-perf/op/plan.h"

namespace coll::perf {

// Returns the rules (runtime/base/paths.h) for the transport that the environment names, measured
// with backend net between two processes. The plan's sizes are those of messages; its operation,
// ranks and timing are ignored. If no path can be measured here, prints the reasons and returns
// nothing. Sets COLL_NET_GPU_PATH.
Result<nlohmann::ordered_json> tunePaths(const OpPlan &plan);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_TUNE_PATHS_H
