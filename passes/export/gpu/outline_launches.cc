//===- outline_launches.cc - kernel functions to gpu.launch_func -----------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/export/emit_executable_kernels.h"
#include "passes/export/gpu/emit_nests.h"
#include "passes/export/gpu/emit_rows.h"
#include "passes/export/gpu/lower_kernels.h"
#include "passes/export/gpu/members.h"
#include "passes/export/gpu/prepare_buffers.h"
#include "passes/export/kernels/fuse_rows.h"

namespace mlir::coll {
namespace {

constexpr int64_t kAlignment = 64;

class KernelOutliner {
public:
  KernelOutliner(func::FuncOp kernel, gpu::GPUModuleOp code)
      : kernel(kernel), code(code), rewriter(kernel.getContext()) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    for (Operation &op : kernel.getBody().front().without_terminator())
      ops.push_back(&op);
    if (outlineTogether(ops))
      return success();
    for (Operation *op : ops) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && !isStart(op)) {
        if (failed(outlineLinalg(linalgOp)))
          return failure();
      } else if (!linalgOp && isa<scf::ForOp, scf::IfOp, memref::StoreOp>(op)) {
        emitLoops(kernel, code, op);
        op->erase();
      }
    }
    for (linalg::GenericOp fill : starts)
      fill.erase();
    return success();
  }

private:
  /// The scalar that every element becomes; null if the operation does something else.
  static Value getFilling(Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumDpsInits() != 1 ||
        !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isPermutation())
      return {};
    Value value = generic.getBody()->getTerminator()->getOperand(0);
    auto arg = dyn_cast<BlockArgument>(value);
    if (arg && arg.getOwner() == generic.getBody()) {
      Value operand = generic->getOperand(arg.getArgNumber());
      return isa<MemRefType>(operand.getType()) ? Value() : operand;
    }
    if (arg)
      return value;
    return generic->isAncestor(value.getDefiningOp()) ? Value() : value;
  }

  /// Whether the operation fills what a later accumulation starts from, and nothing else reads.
  bool isStart(Operation *op) {
    if (!getFilling(op))
      return false;
    auto fill = cast<linalg::GenericOp>(op);
    Value buffer = fill.getDpsInits()[0], root = getRootBuffer(buffer);
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      if (!touches(next, root))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(next);
      if (!generic || llvm::count(generic->getOperands(), buffer) != 1 ||
          !llvm::is_contained(generic.getDpsInits(), buffer) || touchesBeside(generic, buffer))
        return false;
      starts.push_back(fill);
      return true;
    }
    return false;
  }

  static bool touches(Operation *op, Value root) {
    return op
        ->walk([&](Operation *inner) {
          bool isView = isa<ViewLikeOpInterface>(inner);
          for (Value operand : inner->getOperands())
            if (!isView && isa<MemRefType>(operand.getType()) && getRootBuffer(operand) == root)
              return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Whether the operation has another part of the buffer's memory.
  static bool touchesBeside(linalg::GenericOp op, Value buffer) {
    Value root = getRootBuffer(buffer);
    for (Value operand : op->getOperands())
      if (operand != buffer && isa<MemRefType>(operand.getType()) && getRootBuffer(operand) == root)
        return true;
    return llvm::any_of(*op.getBody(), [&](Operation &inner) { return touches(&inner, root); });
  }

  Value findStart(Value buffer) {
    for (linalg::GenericOp fill : llvm::reverse(starts))
      if (fill.getDpsInits()[0] == buffer)
        return getFilling(fill);
    return {};
  }

  /// All operations of a kernel along rows, or side by side, as one launch; false: nothing was
  /// done.
  bool outlineTogether(ArrayRef<Operation *> ops) {
    auto shape = kernel->getAttrOfType<DenseI64ArrayAttr>(kRowsAttr);
    if (!shape && !kernel->hasAttr(kUpdatesAttr))
      return false;
    RowNests group{shape ? shape[0] : 0, shape ? shape[1] : 0, {}};
    for (Operation *op : ops) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (isa<scf::ForOp, scf::IfOp, memref::StoreOp>(op) ||
          (isa<linalg::LinalgOp>(op) && !generic))
        return starts.clear(), false;
      if (!generic || isStart(op))
        continue;
      FailureOr<std::vector<Nest>> nests = analyzeNests(generic, findStarts(generic));
      if (failed(nests) || nests->size() != 1)
        return starts.clear(), false;
      group.nests.push_back(nests->front());
    }
    if (!(shape ? emitRows(kernel, code, group) : emitUpdates(group.nests)))
      return starts.clear(), false;
    for (const Nest &nest : group.nests)
      nest.op.erase();
    for (linalg::GenericOp fill : starts)
      fill.erase();
    return true;
  }

  bool emitUpdates(ArrayRef<Nest> nests) {
    auto isReduced = [](const Nest &nest) { return !nest.reduction.empty(); };
    if (nests.empty() || llvm::any_of(nests, isReduced))
      return false;
    emitSideBySide(kernel, code, nests);
    return true;
  }

  SmallVector<Value> findStarts(linalg::GenericOp op) {
    SmallVector<Value> initial;
    for (Value init : op.getDpsInits())
      initial.push_back(findStart(init));
    return initial;
  }

  LogicalResult outlineLinalg(linalg::LinalgOp op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> generalized = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generalized))
        return op.emitOpError("has no form for a GPU");
      generic = *generalized;
    }
    FailureOr<std::vector<Nest>> nests = analyzeNests(generic, findStarts(generic));
    if (failed(nests))
      return outlineSerially(generic);
    for (const Nest &nest : *nests)
      emitNest(kernel, code, nest);
    generic.erase();
    return success();
  }

  LogicalResult outlineSerially(linalg::GenericOp op) {
    // The loops read what the fills would have written.
    for (linalg::GenericOp fill : SmallVector<linalg::GenericOp>(starts))
      if (llvm::is_contained(op.getDpsInits(), fill.getDpsInits()[0]) && failed(outlineFill(fill)))
        return failure();
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::LinalgLoops> loops = linalg::linalgOpToLoops(rewriter, op);
    if (failed(loops))
      return op.emitOpError("cannot be lowered to loops");
    op.erase();
    emitLoops(kernel, code, loops->front());
    loops->front()->erase();
    return success();
  }

  LogicalResult outlineFill(linalg::GenericOp fill) {
    llvm::erase(starts, fill);
    return outlineLinalg(fill);
  }

  func::FuncOp kernel;
  gpu::GPUModuleOp code;
  IRRewriter rewriter;
  SmallVector<linalg::GenericOp> starts; // whose scalar a later accumulation starts from
};

/// Allocations become parts of a last argument, the scratch memory.
LogicalResult placeScratch(func::FuncOp kernel, KernelInfo &info) {
  Block &entry = kernel.getBody().front();
  SmallVector<memref::AllocOp> allocations(entry.getOps<memref::AllocOp>());
  SmallVector<int64_t> offsets;
  for (memref::AllocOp op : allocations) {
    if (!op.getType().hasStaticShape())
      return op.emitOpError("has no static size");
    offsets.push_back(info.scratchBytes);
    auto type = RankedTensorType::get(op.getType().getShape(), op.getType().getElementType());
    info.scratchBytes += llvm::alignTo(getBytes(type), kAlignment);
  }
  if (allocations.empty())
    return success();
  OpBuilder b(kernel.getContext());
  auto bytes = MemRefType::get({info.scratchBytes}, b.getI8Type());
  Value scratch = entry.addArgument(bytes, kernel.getLoc());
  for (auto [op, offset] : llvm::zip_equal(allocations, offsets)) {
    b.setInsertionPoint(op);
    Value at = arith::ConstantIndexOp::create(b, op.getLoc(), offset);
    op.replaceAllUsesWith(
        memref::ViewOp::create(b, op.getLoc(), op.getType(), scratch, at, ValueRange())
            .getResult());
    op.erase();
  }
  kernel.setType(FunctionType::get(kernel.getContext(), entry.getArgumentTypes(), {}));
  return success();
}

uint32_t getNumber(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? number.getZExtValue() : 0;
}

FailureOr<GpuLaunch> readLaunch(gpu::LaunchFuncOp op) {
  GpuLaunch launch;
  launch.symbol = op.getKernelName().str();
  launch.grid = {getNumber(op.getGridSizeX()), 1, 1};
  launch.block = {getNumber(op.getBlockSizeX()), 1, 1};
  for (Value operand : op.getKernelOperands()) {
    if (auto view = operand.getDefiningOp<memref::ViewOp>())
      launch.params.push_back({GpuParam::Kind::Scratch, getNumber(view.getByteShift())});
    else if (auto argument = dyn_cast<BlockArgument>(operand))
      launch.params.push_back({GpuParam::Kind::Argument, argument.getArgNumber()});
    else
      return op.emitOpError(
          "takes a value that is neither an argument nor part of the scratch memory");
  }
  return launch;
}

bool hasArgument(const GpuLaunch &launch, int64_t index) {
  return llvm::any_of(launch.params, [&](const GpuParam &param) {
    return param.kind == GpuParam::Kind::Argument && param.index == index;
  });
}

/// An argument may share a result's buffer as long as no launch reads it after one that writes.
void restrictAliases(GpuKernel &kernel) {
  for (auto [i, arg] : llvm::enumerate(kernel.info.args))
    llvm::erase_if(arg.mayAlias, [&, i = i](int64_t result) {
      bool isWritten = false;
      for (const GpuLaunch &launch : kernel.launches) {
        if (isWritten && hasArgument(launch, i))
          return true;
        isWritten |= hasArgument(launch, kernel.info.firstDest() + result);
      }
      return false;
    });
}

/// Marks the parameters whose memory no other parameter's is.
void markUnaliased(const GpuKernel &kernel, gpu::GPUModuleOp code) {
  llvm::SmallDenseSet<int64_t> shared;
  for (auto [i, arg] : llvm::enumerate(kernel.info.args))
    for (int64_t result : arg.mayAlias) {
      shared.insert(i);
      shared.insert(kernel.info.firstDest() + result);
    }
  for (const GpuLaunch &launch : kernel.launches) {
    auto function = code.lookupSymbol<gpu::GPUFuncOp>(launch.symbol);
    SmallVector<int64_t> unaliased;
    for (auto [i, param] : llvm::enumerate(launch.params))
      if (isa<MemRefType>(function.getArgument(i).getType()) &&
          (param.kind == GpuParam::Kind::Scratch || !shared.contains(param.index)))
        unaliased.push_back(i);
    function->setAttr(kUnaliasedAttr, Builder(code.getContext()).getDenseI64ArrayAttr(unaliased));
  }
}

void eraseDead(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && (isMemoryEffectFree(op) || isa<memref::AllocOp, memref::LoadOp>(op)))
      op->erase();
}

LogicalResult reachMembers(func::FuncOp kernel, gpu::GPUModuleOp code, GpuKernel &result) {
  if (failed(addMembers(kernel, code, *result.members)))
    return failure();
  FailureOr<std::vector<GpuLaunch>> launches = readLaunches(kernel);
  if (succeeded(launches))
    result.launches = std::move(*launches);
  return launches;
}

FailureOr<GpuKernel> outlineKernel(func::FuncOp kernel, gpu::GPUModuleOp code) {
  FailureOr<KernelInfo> info = getKernelInfo(kernel);
  if (failed(info))
    return failure();
  GpuKernel result{std::move(*info), {}, std::nullopt};
  if (failed(bufferizeToLinalg(kernel, result.info)) || failed(prepareBuffers(kernel)) ||
      failed(KernelOutliner(kernel, code).run()))
    return failure();
  eraseDead(kernel);
  if (failed(placeScratch(kernel, result.info)))
    return failure();
  FailureOr<std::vector<GpuLaunch>> launches = readLaunches(kernel);
  if (failed(launches))
    return failure();
  result.launches = std::move(*launches);
  restrictAliases(result);
  markUnaliased(result, code);
  result.members = exec::getMembers(kernel);
  if (result.members && failed(reachMembers(kernel, code, result)))
    return failure();
  widenParts(kernel);
  return result;
}

} // namespace

FailureOr<std::vector<GpuLaunch>> readLaunches(func::FuncOp kernel) {
  std::vector<GpuLaunch> launches;
  for (auto op : kernel.getOps<gpu::LaunchFuncOp>()) {
    FailureOr<GpuLaunch> launch = readLaunch(op);
    if (failed(launch))
      return failure();
    launches.push_back(std::move(*launch));
  }
  return launches;
}

FailureOr<llvm::StringMap<GpuKernel>> outlineGpuLaunches(ArrayRef<func::FuncOp> kernels,
                                                         gpu::GPUModuleOp code) {
  llvm::StringMap<GpuKernel> table;
  for (func::FuncOp kernel : kernels) {
    FailureOr<GpuKernel> result = outlineKernel(kernel, code);
    if (failed(result))
      return failure();
    table[kernel.getName()] = std::move(*result);
  }
  for (auto function : code.getOps<gpu::GPUFuncOp>())
    widenParts(function);
  return table;
}

} // namespace mlir::coll
