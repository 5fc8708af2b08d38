//===- gpu_of_rank.h - which GPU a rank measures with ------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_PERF_GPU_OF_RANK_H
#define COLL_TOOLS_COLL_PERF_GPU_OF_RANK_H

#include "runtime/dl/gpu_memory.h"

#include <memory>

namespace coll::perf {

/// The GPU with the rank's number modulo their number, with a context.
rt::Result<std::shared_ptr<rt::dl::GpuContext>> openGpuOfRank(int rank);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_GPU_OF_RANK_H
