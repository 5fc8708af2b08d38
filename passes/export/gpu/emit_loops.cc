#include "passes/export/gpu/emit_nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

namespace mlir::coll {
namespace {

constexpr int64_t kBlockSize = 128;
// About the number of threads that a large GPU runs at once.
constexpr int64_t kManyThreads = 128 * 1024;
constexpr int64_t kPositionsAhead = 8;
// Each thread that owns positions reads all of them, so more threads make reading slower.
constexpr int64_t kManyOwners = 64 * 1024;

/// The number of iterations of a loop from 0 in steps of 1; 0 for any other loop.
int64_t getExtent(scf::ForOp loop) {
  APInt low, high, step;
  bool isCounted = matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) &&
                   matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) &&
                   matchPattern(loop.getStep(), m_ConstantInt(&step)) && low.isZero() &&
                   step.isOne() && high.isStrictlyPositive() && loop.getInitArgs().empty();
  return isCounted ? high.getSExtValue() : 0;
}

/// Dimensions of the accessed buffer at which the index is `iv`.
llvm::SmallBitVector positionsOf(Value iv, ValueRange indices) {
  llvm::SmallBitVector found(indices.size());
  for (auto [dim, index] : llvm::enumerate(indices))
    if (index == iv)
      found.set(dim);
  return found;
}

struct Access {
  Operation *op;
  Value buffer;
  ValueRange indices;
};

/// Accesses in `nest` to buffers that it writes; none if an operation is not understood.
std::optional<SmallVector<Access>> collectAccesses(Operation *nest) {
  SmallVector<Access> all, written;
  DenseSet<Value> roots;
  bool isKnown = true;
  nest->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      all.push_back({op, load.getMemRef(), load.getIndices()});
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      all.push_back({op, store.getMemRef(), store.getIndices()});
      roots.insert(getRootBuffer(store.getMemRef()));
    } else if (!isMemoryEffectFree(op) &&
               !isa<scf::ForOp, scf::IfOp, scf::WhileOp, memref::AllocOp>(op)) {
      isKnown = false;
    }
  });
  if (!isKnown)
    return std::nullopt;
  for (const Access &access : all)
    if (roots.contains(getRootBuffer(access.buffer)))
      written.push_back(access);
  return written;
}

/// Whether the iterations of `loop` access different elements of what `accesses` lists, and nothing
/// of it is accessed outside of the loop.
bool isParallel(scf::ForOp loop, ArrayRef<Access> accesses) {
  if (getExtent(loop) == 0)
    return false;
  llvm::SmallDenseMap<Value, llvm::SmallBitVector> common;
  for (const Access &access : accesses) {
    if (!loop->isAncestor(access.op))
      return false;
    Operation *allocation = access.buffer.getDefiningOp<memref::AllocOp>();
    if (allocation && loop->isAncestor(allocation))
      continue; // each iteration has its own
    llvm::SmallBitVector dims = positionsOf(loop.getInductionVar(), access.indices);
    auto [it, isNew] = common.try_emplace(access.buffer, dims);
    if (!isNew)
      it->second &= dims;
    if (it->second.none())
      return false;
  }
  // Parts of one buffer may overlap.
  llvm::SmallDenseSet<Value> roots;
  for (auto &[buffer, dims] : common)
    if (!roots.insert(getRootBuffer(buffer)).second)
      return false;
  return !common.empty();
}

SmallVector<scf::ForOp> findParallelLoops(Operation *nest) {
  SmallVector<scf::ForOp> loops;
  std::optional<SmallVector<Access>> accesses = collectAccesses(nest);
  if (!accesses)
    return loops;
  nest->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (isParallel(loop, *accesses))
      loops.push_back(loop);
  });
  return loops;
}

/// A dimension of the written buffer at which every access has one computed position. Threads own
/// ranges of positions, and each does what concerns its own, in order.
struct Ownership {
  Value position;     // in the nest
  Operation *section; // has all accesses, in the block of `position`
  int64_t size = 0;   // of the dimension
  int64_t owners = 1;

  int64_t perOwner() const { return llvm::divideCeil(size, owners); }
};

/// The operation in the block of `position` that the access is in; null if it is elsewhere.
Operation *findSection(Value position, Operation *access) {
  Operation *def = position.getDefiningOp();
  return def ? def->getBlock()->findAncestorOpInBlock(*access) : nullptr;
}

/// Whether the position at `dim` is the same value in all accesses, in one section of its block.
std::optional<Ownership> findOwnership(ArrayRef<Access> accesses, unsigned dim) {
  Ownership result;
  result.position = accesses[0].indices[dim];
  result.section = findSection(result.position, accesses[0].op);
  result.size = cast<MemRefType>(accesses[0].buffer.getType()).getDimSize(dim);
  if (!result.section || !result.section->use_empty() || result.size == 1)
    return std::nullopt;
  for (const Access &access : accesses)
    if (access.buffer != accesses[0].buffer || access.indices[dim] != result.position ||
        findSection(result.position, access.op) != result.section)
      return std::nullopt;
  return result;
}

std::optional<Ownership> findOwnership(Operation *nest, int64_t threads) {
  std::optional<SmallVector<Access>> accesses = collectAccesses(nest);
  if (!accesses || accesses->empty() || threads >= kManyThreads)
    return std::nullopt;
  for (unsigned dim = 0; dim < accesses->front().indices.size(); ++dim) {
    std::optional<Ownership> found = findOwnership(*accesses, dim);
    Operation *def = found ? found->position.getDefiningOp() : nullptr;
    if (!def || !nest->isProperAncestor(def) || matchPattern(def, m_Constant()))
      continue;
    found->owners = std::min(found->size, std::max<int64_t>(kManyOwners / threads, 1));
    return found;
  }
  return std::nullopt;
}

/// Runs the section only where the position is in the range of owner `owner`.
void restrictToOwner(LaunchBuilder &launch, const Ownership &ownership, Value owner) {
  Operation *section = launch.mapping.lookup(ownership.section);
  OpBuilder b(section);
  Location loc = section->getLoc();
  Value size = arith::ConstantIndexOp::create(b, loc, ownership.perOwner());
  Value low = arith::MulIOp::create(b, loc, owner, size);
  Value offset = arith::SubIOp::create(b, loc, launch.get(ownership.position), low);
  Value isOwn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, offset, size);
  auto branch = scf::IfOp::create(b, loc, isOwn, /*withElseRegion=*/false);
  section->moveBefore(branch.thenBlock()->getTerminator());
}

/// A thread owns few positions, but reads all of them, each after the one before: reads those of
/// several iterations at once, before the sections, which write nothing that is read for them.
void readPositionsAhead(LaunchBuilder &launch, const Ownership &ownership) {
  Operation *branch = launch.mapping.lookup(ownership.section)->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(branch->getParentOp());
  // Unrolling removes a loop of one iteration.
  if (!loop || getExtent(loop) % kPositionsAhead != 0 || getExtent(loop) <= kPositionsAhead ||
      failed(loopUnrollByFactor(loop, kPositionsAhead)))
    return;
  Operation *first = &*llvm::find_if(*loop.getBody(), llvm::IsaPred<scf::IfOp>);
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(first->getIterator()), loop.getBody()->end())))
    if (isMemoryEffectFree(&op) ? !isa<scf::YieldOp>(op) : isa<memref::LoadOp>(op))
      op.moveBefore(first);
}

/// Gives each thread its own part of what is allocated inside of the nest: a scratch buffer with
/// one more dimension. Returns the buffers, outside.
SmallVector<Value> hoistAllocations(Operation *nest, int64_t threads,
                                    SmallVectorImpl<memref::AllocOp> &allocations) {
  nest->walk([&](memref::AllocOp op) { allocations.push_back(op); });
  SmallVector<Value> buffers;
  OpBuilder b(nest);
  for (memref::AllocOp op : allocations) {
    SmallVector<int64_t> sizes{threads};
    llvm::append_range(sizes, op.getType().getShape());
    buffers.push_back(memref::AllocOp::create(
        b, op.getLoc(), MemRefType::get(sizes, op.getType().getElementType())));
  }
  return buffers;
}

/// The part of `buffer` that belongs to this thread.
Value takeOwn(LaunchBuilder &launch, Value buffer, Value number) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, launch.b.getIndexAttr(0)),
      sizes = getAsIndexOpFoldResult(launch.b.getContext(), type.getShape()),
      strides(rank, launch.b.getIndexAttr(1));
  offsets[0] = number;
  sizes[0] = launch.b.getIndexAttr(1);
  MemRefType part = memref::SubViewOp::inferRankReducedResultType(type.getShape().drop_front(),
                                                                  type, offsets, sizes, strides);
  return memref::SubViewOp::create(launch.b, part, buffer, offsets, sizes, strides);
}

/// Memory accesses take a buffer of any layout.
void useOwn(memref::AllocOp allocation, Value own) {
  allocation.replaceAllUsesWith(own);
  allocation.erase();
}

} // namespace

void emitLoops(func::FuncOp kernel, gpu::GPUModuleOp code, Operation *op) {
  SmallVector<scf::ForOp> loops = findParallelLoops(op);
  SmallVector<int64_t> extents;
  int64_t threads = 1;
  for (scf::ForOp loop : loops) {
    extents.push_back(getExtent(loop));
    threads *= extents.back();
  }
  std::optional<Ownership> ownership = findOwnership(op, threads);
  if (ownership) {
    extents.insert(extents.begin(), ownership->owners);
    threads *= ownership->owners;
  }
  SmallVector<memref::AllocOp> allocations;
  SmallVector<Value> buffers = hoistAllocations(op, threads, allocations);
  LaunchBuilder launch(kernel, code, op, buffers);
  int64_t blockSize = std::min(kBlockSize, threads);
  Value number = launch.threadNumber(threads, blockSize);
  launch.guard(number, threads, blockSize);
  SmallVector<Value> coordinates = launch.delinearize(number, extents);
  SmallVector<Value> own;
  for (Value buffer : buffers)
    own.push_back(takeOwn(launch, launch.get(buffer), number));
  launch.b.clone(*op, launch.mapping);
  for (auto [allocation, part] : llvm::zip_equal(allocations, own))
    useOwn(launch.mapping.lookup(allocation.getResult()).getDefiningOp<memref::AllocOp>(), part);
  if (ownership)
    restrictToOwner(launch, *ownership, coordinates.front());
  for (auto [loop, coordinate] :
       llvm::zip_equal(loops, ArrayRef<Value>(coordinates).take_back(loops.size()))) {
    // The clone's counterpart: a loop of one iteration, this thread's.
    auto inner = cast<scf::ForOp>(
        launch.mapping.lookup(loop.getInductionVar()).getParentBlock()->getParentOp());
    inner.setLowerBound(coordinate);
    OpBuilder b(inner);
    inner.setUpperBound(arith::AddIOp::create(b, inner.getLoc(), coordinate, inner.getStep()));
  }
  if (ownership)
    readPositionsAhead(launch, *ownership);
  launch.finish(threads, blockSize);
}

} // namespace mlir::coll
