#include "passes/export/gpu/combine_lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::coll {

static void forEachAccumulator(const Nest &nest,
                               llvm::function_ref<void(unsigned, const NestOutput &)> visit) {
  unsigned j = 0;
  for (const NestOutput &out : nest.outputs)
    if (out.accumulates)
      visit(j++, out);
}

void combineWidth(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                  unsigned width) {
  if (width == 1)
    return;
  unsigned count = accumulators.size() / width;
  for (unsigned step = 1; step < width; step *= 2)
    for (unsigned w = 0; w < width; w += 2 * step)
      forEachAccumulator(nest, [&](unsigned j, const NestOutput &out) {
        accumulators[w * count + j] = emitCombine(launch, nest, out, accumulators[w * count + j],
                                                  accumulators[(w + step) * count + j]);
      });
  accumulators.resize(count);
}

/// Combines the lanes of each output by shuffles. `columns` is the distance between the lanes of
/// one output.
static void combineWarp(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                        int64_t lanes, int64_t columns = 1) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    forEachAccumulator(nest, [&](unsigned j, const NestOutput &out) {
      Value other = launch.shuffle(accumulators[j], distance * columns);
      accumulators[j] = emitCombine(launch, nest, out, accumulators[j], other);
    });
}

/// Shared memory of `warps` x `columns` for each accumulator, to which the first `columns` threads
/// of each warp have written theirs.
static SmallVector<Value> shareFirst(LaunchBuilder &launch, ArrayRef<Value> accumulators,
                                     int64_t warps, int64_t columns, Value inWarp) {
  ImplicitLocOpBuilder &b = launch.b;
  int64_t blockSize = warps * kWarp;
  Value warp = launch.div(launch.threadInBlock(blockSize), kWarp, blockSize);
  SmallVector<Value> shared;
  for (Value accumulator : accumulators)
    shared.push_back(launch.addShared({warps, columns}, accumulator.getType()));
  auto first = scf::IfOp::create(b, launch.isBelow(inWarp, launch.index(columns)),
                                 /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    for (auto [accumulator, memory] : llvm::zip_equal(accumulators, shared))
      memref::StoreOp::create(b, accumulator, memory, ValueRange{warp, inWarp});
  }
  gpu::BarrierOp::create(b);
  return shared;
}

static Value threadInWarp(LaunchBuilder &launch, int64_t blockSize) {
  return launch.rem(launch.threadInBlock(blockSize), kWarp, blockSize);
}

/// For blocks with one output: combines the warps through shared memory.
static void combineWarps(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                         int64_t warps) {
  Value inWarp = threadInWarp(launch, warps * kWarp);
  SmallVector<Value> shared = shareFirst(launch, accumulators, warps, 1, inWarp);
  Value slot = launch.rem(inWarp, warps, kWarp), none = launch.index(0);
  for (auto [accumulator, memory] : llvm::zip_equal(accumulators, shared))
    accumulator = memref::LoadOp::create(launch.b, memory, ValueRange{slot, none});
  combineWarp(launch, nest, accumulators, warps);
}

void combineColumns(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                    int64_t lanes, int64_t columns) {
  combineWarp(launch, nest, accumulators, kWarp / columns, columns);
  const int64_t warps = lanes * columns / kWarp;
  if (warps == 1)
    return;
  Value inWarp = threadInWarp(launch, warps * kWarp);
  SmallVector<Value> shared = shareFirst(launch, accumulators, warps, columns, inWarp);
  Value column = launch.rem(inWarp, columns, kWarp);
  for (int64_t warp = 0; warp < warps; ++warp)
    forEachAccumulator(nest, [&](unsigned j, const NestOutput &out) {
      Value other =
          memref::LoadOp::create(launch.b, shared[j], ValueRange{launch.index(warp), column});
      accumulators[j] = warp == 0 ? other : emitCombine(launch, nest, out, accumulators[j], other);
    });
}

void combineLanes(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                  int64_t lanes) {
  combineWarp(launch, nest, accumulators, std::min(lanes, kWarp));
  if (lanes > kWarp)
    combineWarps(launch, nest, accumulators, lanes / kWarp);
}

} // namespace mlir::coll
