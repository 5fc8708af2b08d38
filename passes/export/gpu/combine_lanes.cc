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

static void combineWarp(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                        int64_t lanes) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    forEachAccumulator(nest, [&](unsigned j, const NestOutput &out) {
      Value other = launch.shuffle(accumulators[j], distance);
      accumulators[j] = emitCombine(launch, nest, out, accumulators[j], other);
    });
}

/// A block has one output: its warps meet in shared memory.
static void combineWarps(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                         int64_t warps, int64_t blockSize) {
  ImplicitLocOpBuilder &b = launch.b;
  Value thread = launch.threadInBlock(blockSize);
  Value warp = launch.div(thread, kWarp, blockSize);
  Value inWarp = launch.rem(thread, kWarp, blockSize);
  SmallVector<Value> shared;
  for (Value accumulator : accumulators)
    shared.push_back(launch.addShared({warps}, accumulator.getType()));
  auto first = scf::IfOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inWarp, launch.index(0)),
      /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    for (auto [accumulator, memory] : llvm::zip_equal(accumulators, shared))
      memref::StoreOp::create(b, accumulator, memory, warp);
  }
  gpu::BarrierOp::create(b);
  Value slot = launch.rem(inWarp, warps, kWarp);
  for (auto [accumulator, memory] : llvm::zip_equal(accumulators, shared))
    accumulator = memref::LoadOp::create(b, memory, slot);
  combineWarp(launch, nest, accumulators, warps);
}

void combineLanes(LaunchBuilder &launch, const Nest &nest, SmallVector<Value> &accumulators,
                  int64_t lanes, int64_t blockSize) {
  combineWarp(launch, nest, accumulators, std::min(lanes, kWarp));
  if (lanes > kWarp)
    combineWarps(launch, nest, accumulators, lanes / kWarp, blockSize);
}

} // namespace mlir::coll
