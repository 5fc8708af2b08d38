// Kernels from tensors to loops over memrefs.

#include "passes/export/emit_executable_kernels.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::coll;

// Temporaries up to this size live on the stack.
static constexpr int64_t kMaxStackBytes = 4096;
static constexpr int64_t kAlignment = 64;

static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Converts tensor arguments to memrefs. Returns, per result, the tensor to be stored.
static SmallVector<Value> convertSignature(func::FuncOp kernel, const KernelInfo &info,
                                           SmallVectorImpl<bool> &destUsed) {
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  for (auto [i, arg] : llvm::enumerate(entry.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    bool isDest = i >= info.firstDest();
    if (isDest)
      destUsed.push_back(!arg.use_empty());
    arg.setType(getBufferType(type));
    auto tensor = bufferization::ToTensorOp::create(builder, kernel.getLoc(), type, arg,
                                                    /*restrict=*/true, /*writable=*/isDest);
    arg.replaceAllUsesExcept(tensor, tensor);
  }
  Operation *ret = entry.getTerminator();
  SmallVector<Value> results(ret->getOperands());
  ret->setOperands({});
  kernel.removeResAttrsAttr();
  kernel.removeArgAttrsAttr();
  kernel.setType(FunctionType::get(kernel.getContext(), entry.getArgumentTypes(), {}));
  return results;
}

static void storeResults(func::FuncOp kernel, ArrayRef<Value> results, unsigned firstDest,
                         ArrayRef<bool> destUsed, bool used) {
  OpBuilder builder(kernel.getBody().front().getTerminator());
  for (auto [j, value] : llvm::enumerate(results))
    if (destUsed[j] == used)
      bufferization::MaterializeInDestinationOp::create(builder, kernel.getLoc(), Type(), value,
                                                        kernel.getArgument(firstDest + j),
                                                        /*restrict=*/true, /*writable=*/true);
}

/// Memory cost of iterating with `loop` innermost.
static int64_t strideCost(linalg::GenericOp op, unsigned loop) {
  int64_t cost = 0;
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), op.getIndexingMapsArray())) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (!type)
      continue;
    int64_t stride = 1;
    for (int64_t dim = int64_t(map.getNumResults()) - 1; dim >= 0; --dim) {
      if (map.getResult(dim).isFunctionOfDim(loop))
        cost += stride == 1 && isa<AffineDimExpr>(map.getResult(dim)) ? 1 : 16;
      stride *= type.getDimSize(dim);
    }
  }
  return cost;
}

/// Makes the loop with contiguous accesses the innermost one.
static void orderLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  unsigned loops = op.getNumLoops();
  if (loops < 2)
    return;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto cost = [&](unsigned loop) {
    int64_t shortLoop = ranges[loop] < 8 && !ShapedType::isDynamic(ranges[loop]) ? 64 : 0;
    return strideCost(op, loop) + shortLoop;
  };
  unsigned best = loops - 1;
  for (unsigned loop = loops - 1; loop-- > 0;)
    if (cost(loop) < cost(best))
      best = loop;
  if (best == loops - 1)
    return;
  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < loops; ++loop)
    if (loop != best)
      order.push_back(loop);
  order.push_back(best);
  (void)linalg::interchangeGenericOp(rewriter, op, order);
}

/// Lets the sum of a reduction be formed in vector lanes, and products be fused
/// into sums; nothing else about the arithmetic may change.
static void relaxArithmetic(linalg::GenericOp op) {
  auto set = [](Operation *def, arith::FastMathFlags flags) {
    if (auto math = dyn_cast_or_null<arith::ArithFastMathInterface>(def))
      def->setAttr(math.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(def->getContext(), flags));
  };
  for (Operation &def : *op.getBody())
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(def))
      set(&def, arith::FastMathFlags::contract);
  if (op.getNumReductionLoops() == 0)
    return;
  for (auto [value, out] :
       llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), op.getRegionOutputArgs())) {
    Operation *def = value.getDefiningOp();
    if (isa_and_nonnull<arith::AddFOp, arith::MulFOp>(def) &&
        llvm::is_contained(def->getOperands(), Value(out)))
      set(def, arith::FastMathFlags::contract | arith::FastMathFlags::reassoc);
  }
}

/// An elementwise nest over dense buffers of one shape runs as one flat loop.
static void flatten(RewriterBase &rewriter, linalg::GenericOp op) {
  if (op.getNumLoops() < 2 || op.getNumReductionLoops() || op.hasIndexSemantics())
    return;
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), op.getIndexingMapsArray())) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || !type.getLayout().isIdentity() || !map.isIdentity())
      return;
  }
  rewriter.setInsertionPoint(op);
  SmallVector<ReassociationIndices> all(1);
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    all[0].push_back(dim);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(memref::CollapseShapeOp::create(rewriter, op.getLoc(), operand.get(), all));
  AffineMap map = rewriter.getMultiDimIdentityMap(1);
  op.setIndexingMapsAttr(
      rewriter.getAffineMapArrayAttr(SmallVector<AffineMap>(op->getNumOperands(), map)));
  op.setIteratorTypesAttr(rewriter.getArrayAttr(
      linalg::IteratorTypeAttr::get(rewriter.getContext(), utils::IteratorType::parallel)));
}

static LogicalResult toLoops(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp op : copies) {
    if (op.getSource() != op.getTarget()) {
      rewriter.setInsertionPoint(op);
      linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(), op.getTarget());
    }
    rewriter.eraseOp(op);
  }
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
      flatten(rewriter, generic);
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitOpError("cannot be lowered to loops");
    rewriter.eraseOp(op);
  }
  return success();
}

static int64_t getBytes(MemRefType type) {
  return mlir::coll::getBytes(RankedTensorType::get(type.getShape(), type.getElementType()));
}

/// Temporaries of static size: the small ones on the stack, the others in scratch.
static LogicalResult placeTemporaries(func::FuncOp kernel, KernelInfo &info) {
  SmallVector<memref::AllocOp> allocs, inScratch;
  kernel.walk([&](memref::AllocOp op) { allocs.push_back(op); });
  Block &entry = kernel.getBody().front();
  for (memref::AllocOp op : allocs) {
    if (!op.getType().hasStaticShape())
      return op.emitOpError("has no static size");
    if (getBytes(op.getType()) > kMaxStackBytes) {
      inScratch.push_back(op);
      continue;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    op.replaceAllUsesWith(memref::AllocaOp::create(builder, op.getLoc(), op.getType(),
                                                   builder.getI64IntegerAttr(kAlignment))
                              .getResult());
    op.erase();
  }
  if (inScratch.empty())
    return success();
  SmallVector<int64_t> offsets;
  for (memref::AllocOp op : inScratch) {
    offsets.push_back(info.scratchBytes);
    info.scratchBytes += llvm::alignTo(getBytes(op.getType()), kAlignment);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  auto bytes = MemRefType::get({info.scratchBytes}, builder.getI8Type());
  Value scratch = entry.addArgument(bytes, kernel.getLoc());
  for (auto [op, offset] : llvm::zip_equal(inScratch, offsets)) {
    Value at = arith::ConstantIndexOp::create(builder, op.getLoc(), offset);
    op.replaceAllUsesWith(
        memref::ViewOp::create(builder, op.getLoc(), op.getType(), scratch, at, ValueRange())
            .getResult());
    op.erase();
  }
  kernel.setType(FunctionType::get(kernel.getContext(), entry.getArgumentTypes(), {}));
  return success();
}

static Type widenPart(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return type;
  return MemRefType::Builder(memref).setElementType(getStoredElement(memref.getElementType()));
}

static void widenGlobal(memref::GetGlobalOp get) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  Type type = widenPart(global.getType());
  if (type == global.getType())
    return;
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr()))
    global.setInitialValueAttr(getStoredElements(dense));
  global.setType(cast<MemRefType>(type));
}

void mlir::coll::widenParts(FunctionOpInterface kernel) {
  SmallVector<Type> types(llvm::map_range(kernel.getArgumentTypes(), widenPart));
  kernel.setType(FunctionType::get(kernel.getContext(), types, {}));
  kernel->walk([](Operation *op) {
    if (auto get = dyn_cast<memref::GetGlobalOp>(op))
      widenGlobal(get);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          arg.setType(widenPart(arg.getType()));
    for (Value result : op->getResults())
      result.setType(widenPart(result.getType()));
    OpBuilder builder(op);
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      Value value = store.getValueToStore();
      Type stored = getStoredElement(value.getType());
      if (value.getType().isInteger(1))
        value = arith::ExtUIOp::create(builder, op->getLoc(), stored, value);
      else if (stored != value.getType())
        value = arith::ExtSIOp::create(builder, op->getLoc(), stored, value);
      store.getValueMutable().set(value);
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Type part = load.getType(), stored = getStoredElement(part);
      if (stored == part)
        return;
      builder.setInsertionPointAfter(op);
      Value byte = load.getResult();
      byte.setType(stored);
      auto low = arith::TruncIOp::create(builder, op->getLoc(), part, byte);
      byte.replaceAllUsesExcept(low, low);
    }
  });
}

static LogicalResult simplify(func::FuncOp kernel, RewritePatternSet &&patterns) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  return applyPatternsGreedily(kernel, std::move(patterns), config);
}

LogicalResult mlir::coll::bufferizeToLinalg(func::FuncOp kernel, const KernelInfo &info) {
  MLIRContext *ctx = kernel.getContext();
  accumulateInF32(kernel);
  RewritePatternSet decompose(ctx);
  tensor::populateDecomposeTensorConcatPatterns(decompose);
  linalg::populateDecomposePadPatterns(decompose);
  linalg::populateLinalgNamedOpsGeneralizationPatterns(decompose);
  if (failed(simplify(kernel, std::move(decompose))))
    return failure();

  SmallVector<bool> destUsed;
  SmallVector<Value> results = convertSignature(kernel, info, destUsed);
  IRRewriter rewriter(ctx);
  SmallVector<linalg::GenericOp> generics;
  kernel.walk([&](linalg::GenericOp op) { generics.push_back(op); });
  for (linalg::GenericOp op : generics) {
    relaxArithmetic(op);
    rewriter.setInsertionPoint(op);
    orderLoops(rewriter, op);
  }

  // Replaces empty tensors by destinations that nothing else uses.
  storeResults(kernel, results, info.firstDest(), destUsed, /*used=*/false);
  if (failed(bufferization::eliminateEmptyTensors(rewriter, kernel)))
    return failure();
  storeResults(kernel, results, info.firstDest(), destUsed, /*used=*/true);

  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = kAlignment;
  options.unknownTypeConverterFn = [](TensorType type, Attribute space,
                                      const bufferization::BufferizationOptions &) {
    return bufferization::getMemRefTypeWithStaticIdentityLayout(type, space);
  };
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(kernel, options, state)))
    return kernel.emitError("cannot be bufferized");
  RewritePatternSet clean(ctx);
  memref::CopyOp::getCanonicalizationPatterns(clean, ctx);
  return simplify(kernel, std::move(clean));
}

LogicalResult mlir::coll::bufferizeKernel(func::FuncOp kernel, KernelInfo &info) {
  if (failed(bufferizeToLinalg(kernel, info)) || failed(toLoops(kernel)))
    return failure();
  RewritePatternSet fold(kernel.getContext());
  memref::populateFoldMemRefAliasOpPatterns(fold);
  if (failed(simplify(kernel, std::move(fold))) || failed(placeTemporaries(kernel, info)))
    return failure();
  widenParts(kernel);
  return success();
}

std::string mlir::coll::getInPlaceName(StringRef kernel, ArrayRef<ReusedArgument> reused) {
  std::string name = kernel.str();
  for (auto [arg, dest] : reused)
    name += ("_" + Twine(arg) + "in" + Twine(dest)).str();
  return name;
}

func::FuncOp mlir::coll::getInPlaceKernel(func::FuncOp kernel, ArrayRef<ReusedArgument> reused) {
  std::string name = getInPlaceName(kernel.getName(), reused);
  auto module = kernel->getParentOfType<ModuleOp>();
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  func::FuncOp clone = kernel.clone();
  clone.setName(name);
  module.insert(kernel, clone);
  Block &entry = clone.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  llvm::BitVector dead(entry.getNumArguments());
  for (auto [arg, dest] : reused) {
    BlockArgument from = entry.getArgument(arg), to = entry.getArgument(dest);
    Value same = to;
    if (from.getType() != to.getType()) {
      // The same elements under another shape.
      auto type = cast<MemRefType>(from.getType());
      SmallVector<int64_t> strides;
      int64_t offset;
      (void)type.getStridesAndOffset(strides, offset);
      same = memref::ReinterpretCastOp::create(builder, clone.getLoc(), type, to, /*offset=*/0,
                                               type.getShape(), strides);
    }
    from.replaceAllUsesWith(same);
    dead.set(arg);
  }
  (void)clone.eraseArguments(dead);
  return clone;
}
