#include "passes/export/gpu/emit_nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll {

static constexpr int64_t kBlockSize = 256;
// With fewer threads than this a thread has fewer elements.
static constexpr int64_t kFewThreads = 8192;
// Threads of a tile, which is a block.
static constexpr int64_t kTileAcross = 32, kTileAlong = kBlockSize / kTileAcross;
// Bytes between neighbours from which on each access takes a sector of memory of its own.
static constexpr int64_t kSectorBytes = 32;

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
  /// A transpose has a loop along which what is read is contiguous: the threads of a warp are
  /// neighbours along it, those of a block form a tile with `fast`.
  std::optional<unsigned> across;
  int64_t threads = 1;
};
} // namespace

/// Without a tile each thread of a warp would read from a sector of its own, one element of it.
static std::optional<unsigned> findLoopAcross(const Nest &nest, const ElementShape &shape) {
  if (nest.extents[shape.fast] % (kTileAlong * shape.width) != 0)
    return std::nullopt;
  for (const NestOperand &operand : nest.operands) {
    // An operand that does not move with the loop is read again and again, and comes from a cache.
    auto moves = [&](unsigned loop) {
      return nest.extents[loop] == 1 || operand.stride(loop).value_or(0) != 0;
    };
    if (!operand.type || !llvm::all_of(nest.parallel, moves) ||
        std::abs(*operand.stride(shape.fast)) * operand.elementBytes() < kSectorBytes)
      continue;
    for (unsigned loop : nest.parallel)
      if (loop != shape.fast && operand.stride(loop) == 1 && nest.extents[loop] % kTileAcross == 0)
        return loop;
  }
  return std::nullopt;
}

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
  shape.across = findLoopAcross(nest, shape);
  return shape;
}

/// The position of thread `number` along each loop.
static SmallVector<Value> locate(LaunchBuilder &launch, const Nest &nest, const ElementShape &shape,
                                 Value number) {
  SmallVector<unsigned> order = withLast(nest.parallel, shape.fast);
  SmallVector<int64_t> sizes = nest.sizes(order, shape.fast, shape.width);
  if (shape.across) {
    auto place = llvm::find(order, *shape.across) - order.begin();
    sizes[place] /= kTileAcross;
    sizes.back() /= kTileAlong;
    sizes.append({kTileAlong, kTileAcross});
  }
  SmallVector<Value> at(nest.extents.size());
  SmallVector<Value> coordinates = launch.delinearize(number, sizes);
  for (auto [loop, coordinate] : llvm::zip_first(order, coordinates))
    at[loop] = coordinate;
  if (shape.across) {
    Value &across = at[*shape.across], &along = at[shape.fast];
    across = launch.add(launch.mul(across, kTileAcross), coordinates.back());
    along = launch.add(launch.mul(along, kTileAlong), coordinates[order.size()]);
  }
  at[shape.fast] = launch.mul(at[shape.fast], shape.width);
  return at;
}

/// The elements of thread `number`.
static void emitElements(LaunchBuilder &launch, const Nest &nest, const ElementShape &shape,
                         Value number) {
  SmallVector<Value> at;
  if (!nest.extents.empty())
    at = locate(launch, nest, shape, number);
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
