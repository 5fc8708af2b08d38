//===- combine_lanes.h - accumulators of threads that share an output --*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_COMBINE_LANES_H
#define COLL_PASSES_EXPORT_GPU_COMBINE_LANES_H

#include "passes/export/gpu/nest.h"

namespace mlir::coll {

inline constexpr int64_t kWarp = 32;

/// Joins the accumulators of `width` neighbouring iterations of a thread: from one for each
/// iteration and accumulating output to one for each output. `width` is a power of two.
void combineWidth(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                  unsigned width);

/// Joins those of `lanes` neighbouring threads, a power of two; each gets the result. With more
/// than a warp's, the threads are a block, all of which takes part.
void combineLanes(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                  int64_t lanes);

/// The same where a block is `lanes` times `columns` threads, whole warps: thread t has lane
/// t / columns of output t % columns. `columns` is a power of two, at most a warp.
void combineColumns(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                    int64_t lanes, int64_t columns);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_COMBINE_LANES_H
