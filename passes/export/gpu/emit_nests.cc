#include "passes/export/gpu/emit_nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

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

namespace {
/// How threads share the elements of a nest without a reduction.
struct ElementShape {
  unsigned fast = 0, width = 1;
  int64_t threads = 1;
};
} // namespace

static ElementShape chooseElements(const Nest &nest) {
  ElementShape shape;
  if (nest.extents.empty())
    return shape;
  shape.fast = findFastLoop(nest, nest.parallel);
  shape.width = findVectorWidth(nest, shape.fast);
  int64_t elements = nest.count(nest.parallel);
  while (shape.width > 1 && elements / shape.width < kFewThreads)
    shape.width /= 2;
  shape.threads = elements / shape.width;
  return shape;
}

/// The elements of thread `number`.
static void emitElements(LaunchBuilder &launch, const Nest &nest, const ElementShape &shape,
                         Value number) {
  SmallVector<Value> at(nest.extents.size());
  if (!at.empty()) {
    SmallVector<unsigned> order = withLast(nest.parallel, shape.fast);
    SmallVector<Value> coordinates =
        launch.delinearize(number, nest.sizes(order, shape.fast, shape.width));
    for (auto [loop, coordinate] : llvm::zip_equal(order, coordinates))
      at[loop] = loop == shape.fast ? launch.mul(coordinate, shape.width) : coordinate;
  }
  NestEmitter emitter(launch, nest, shape.fast, shape.width);
  NestEmitter::Values values = emitter.emit(at, emitter.loadInputs(at), {});
  for (unsigned k = 0; k < nest.outputs.size(); ++k)
    emitter.store(k, at, values);
}

void emitNest(func::FuncOp kernel, gpu::GPUModuleOp code, const Nest &nest) {
  if (!nest.reduction.empty())
    return emitReduction(kernel, code, nest);
  LaunchBuilder launch(kernel, code, nest.op, nest.initialValues());
  ElementShape shape = chooseElements(nest);
  int64_t blockSize = std::min(kBlockSize, shape.threads);
  Value number = launch.threadNumber(shape.threads, blockSize);
  launch.guard(number, shape.threads, blockSize);
  emitElements(launch, nest, shape, number);
  launch.finish(shape.threads, blockSize);
}

void emitSideBySide(func::FuncOp kernel, gpu::GPUModuleOp code, ArrayRef<Nest> nests) {
  SetVector<Value> used;
  int64_t blocks = 0;
  for (const Nest &nest : nests) {
    used.insert(nest.op->operand_begin(), nest.op->operand_end());
    getUsedValuesDefinedAbove(nest.op->getRegions(), used);
    for (Value initial : nest.initialValues())
      used.insert(initial);
    blocks += llvm::divideCeil(chooseElements(nest).threads, kBlockSize);
  }
  LaunchBuilder launch(kernel, code, nests.back().op, used);
  Value number = launch.threadNumber(blocks * kBlockSize, kBlockSize);
  int64_t first = 0; // thread of the nest
  for (const Nest &nest : nests) {
    ElementShape shape = chooseElements(nest);
    int64_t next = first + llvm::alignTo(shape.threads, kBlockSize);
    Value own = arith::SubIOp::create(launch.b, number, launch.index(first));
    auto isOwn = scf::IfOp::create(launch.b, launch.isBelow(number, launch.index(next)),
                                   /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(launch.b);
      launch.b.setInsertionPointToStart(isOwn.thenBlock());
      launch.guard(own, shape.threads, kBlockSize);
      emitElements(launch, nest, shape, own);
    }
    launch.b.setInsertionPointToStart(isOwn.elseBlock());
    first = next;
  }
  launch.finish(blocks * kBlockSize, kBlockSize);
}

} // namespace mlir::coll
