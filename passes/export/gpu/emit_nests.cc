#include "passes/export/gpu/emit_nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::coll {

static constexpr int64_t kBlockSize = 256;
// With fewer threads than this a thread has fewer elements.
static constexpr int64_t kFewThreads = 8192;

/// The loops with `fast` last.
static SmallVector<unsigned> withLast(ArrayRef<unsigned> loops, unsigned fast) {
  SmallVector<unsigned> order;
  for (unsigned loop : loops)
    if (loop != fast)
      order.push_back(loop);
  order.push_back(fast);
  return order;
}

void emitNest(func::FuncOp kernel, gpu::GPUModuleOp code, const Nest &nest) {
  if (!nest.reduction.empty())
    return emitReduction(kernel, code, nest);
  LaunchBuilder launch(kernel, code, nest.op, nest.initialValues());
  if (nest.extents.empty()) {
    NestEmitter emitter(launch, nest, /*fast=*/0, /*width=*/1);
    launch.guard(launch.threadNumber(1, 1), 1, 1);
    NestEmitter::Values values = emitter.emit({}, emitter.loadInputs({}), {});
    for (unsigned k = 0; k < nest.outputs.size(); ++k)
      emitter.store(k, {}, values);
    launch.finish(1, 1);
    return;
  }
  unsigned fast = findFastLoop(nest, nest.parallel);
  unsigned width = findVectorWidth(nest, fast);
  int64_t elements = nest.count(nest.parallel);
  while (width > 1 && elements / width < kFewThreads)
    width /= 2;
  int64_t threads = elements / width, blockSize = std::min(kBlockSize, threads);
  Value number = launch.threadNumber(threads, blockSize);
  launch.guard(number, threads, blockSize);
  SmallVector<unsigned> order = withLast(nest.parallel, fast);
  SmallVector<Value> coordinates = launch.delinearize(number, nest.sizes(order, fast, width));
  SmallVector<Value> at(nest.extents.size());
  for (auto [loop, coordinate] : llvm::zip_equal(order, coordinates))
    at[loop] = loop == fast ? launch.mul(coordinate, width) : coordinate;
  NestEmitter emitter(launch, nest, fast, width);
  NestEmitter::Values values = emitter.emit(at, emitter.loadInputs(at), {});
  for (unsigned k = 0; k < nest.outputs.size(); ++k)
    emitter.store(k, at, values);
  launch.finish(threads, blockSize);
}

} // namespace mlir::coll
