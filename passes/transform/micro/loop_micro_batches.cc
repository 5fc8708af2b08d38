//===- loop_micro_batches.cc - the mesh axis in time becomes a loop ---------------===//
//
//   %s = part of the batch                   %acc = scf.for %i = 0 to count iter_args(%a = 0) {
//   %g = gradient of %s                =>      %s = rows %i of the batch
//   %t = all_reduce sum %g over micro          %g = gradient of %s
//   %u = update with %t                        yield %a + %g
//                                            }
//                                            %u = update with %acc
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/micro_batches.h"
#include "passes/analysis/sharding_map.h"
#include "passes/passes.h"
#include "passes/transform/micro/combine.h"

namespace mlir::coll {

#define GEN_PASS_DEF_LOOPMICROBATCHESPASS
#include "passes/passes.h.inc"

namespace {

/// A sum over micro-batches alone, or the concatenation of their rows.
bool isMicroMerge(Operation *op) {
  if (!isa<AllReduceOp, AllGatherOp>(op))
    return false;
  GroupAttr group = cast<CollectiveOpInterface>(op).getCommGroup();
  return group.getAxes().size() == 1 && hasAxis(group, kTimeAxis);
}

bool isMicroIndex(Operation *op) {
  auto index = dyn_cast<AxisIndexOp>(op);
  return index && llvm::any_of(index.getAxes().getAsRange<StringAttr>(),
                               [](StringAttr axis) { return axis.getValue() == kTimeAxis; });
}

class MicroLoop {
public:
  MicroLoop(func::FuncOp step, MeshOp mesh)
      : step_(step), mesh_(mesh), count_(*mesh.getAxisSize(kTimeAxis)),
        builder_(step.getContext()) {}

  LogicalResult run();

private:
  LogicalResult checkArguments();
  LogicalResult classify();
  bool isBehindLoop(Operation *op) const;
  void createLoop();
  void sliceArguments();
  Value initOf(Operation *merge);
  Value mergeInto(Operation *merge, Value carried);
  void replaceIndex(AxisIndexOp op);

  func::FuncOp step_;
  MeshOp mesh_;
  int64_t count_;
  OpBuilder builder_;
  MicroBatches batches_;
  SmallVector<Operation *> inside_, before_, merges_;
  scf::ForOp loop_;
};

bool MicroLoop::isBehindLoop(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value value) { return batches_.isLate(value); });
}

/// A batch that no other axis splits has a number of rows that only its global type gives.
LogicalResult MicroLoop::checkArguments() {
  for (BlockArgument argument : step_.getArguments()) {
    unsigned number = argument.getArgNumber();
    std::optional<unsigned> dim = getTimeDim(step_, number);
    if (!dim)
      continue;
    auto sharding = step_.getArgAttrOfType<ShardingAttr>(number, kShardingAttr);
    auto global = step_.getArgAttrOfType<TypeAttr>(number, kGlobalTypeAttr);
    auto whole = global ? dyn_cast<RankedTensorType>(global.getValue()) : nullptr;
    bool isSplitByTimeAlone = sharding.getDims()[*dim].getAxes().size() == 1;
    if (isSplitByTimeAlone && (!whole || whole.getRank() <= *dim))
      return step_.emitError() << "splits argument " << number
                               << " into micro-batches, but does not tell its shape before the "
                                  "split; give the argument "
                               << kGlobalTypeAttr << ", as coll-partition does";
  }
  return success();
}

LogicalResult MicroLoop::classify() {
  if (failed(checkArguments()))
    return failure();
  FailureOr<MicroBatches> batches = MicroBatches::create(step_, isMicroMerge);
  if (failed(batches))
    return failure();
  batches_ = std::move(*batches);
  bool isBehind = false;
  for (Operation &op : step_.getBody().front().without_terminator()) {
    bool isInside = batches_.isVarying(&op);
    auto reduction = dyn_cast<AllReduceOp>(op);
    if (isMicroMerge(&op) && reduction && reduction.getReduction() == ReductionKind::Avg)
      return op.emitError() << "averages over micro-batches, which are combined one by one; take "
                               "their sum, and divide it by their number";
    if (isMicroMerge(&op))
      merges_.push_back(&op);
    else if (isInside)
      inside_.push_back(&op);
    else if (!isBehindLoop(&op) && isBehind)
      before_.push_back(&op);
    isBehind |= isInside || isBehindLoop(&op);
  }
  Operation *terminator = step_.getBody().front().getTerminator();
  if (llvm::any_of(terminator->getOperands(), [&](Value v) { return batches_.isVarying(v); }))
    return terminator->emitError("returns a value of one micro-batch");
  return success();
}

/// The initial value of a merge.
Value MicroLoop::initOf(Operation *merge) {
  auto type = cast<RankedTensorType>(merge->getResult(0).getType());
  auto reduction = dyn_cast<AllReduceOp>(merge);
  if (!reduction)
    return tensor::EmptyOp::create(builder_, merge->getLoc(), type.getShape(),
                                   type.getElementType());
  Type element = reduction.getAccumulation().value_or(type.getElementType());
  TypedAttr identity = getIdentity(reduction.getReduction(), element);
  return arith::ConstantOp::create(
      builder_, merge->getLoc(),
      DenseElementsAttr::get(cast<ShapedType>(type.clone(element)), Attribute(identity)));
}

/// `carried` combined with the contribution of this micro-batch.
Value MicroLoop::mergeInto(Operation *merge, Value carried) {
  Location loc = merge->getLoc();
  Value input = merge->getOperand(0);
  if (auto reduction = dyn_cast<AllReduceOp>(merge))
    return createCombination(
        builder_, loc, reduction.getReduction(), carried,
        createConversion(builder_, loc, input, getElementTypeOrSelf(carried.getType())));
  auto part = cast<RankedTensorType>(input.getType());
  int64_t dim = cast<AllGatherOp>(merge).getDimAttr().getInt();
  SmallVector<OpFoldResult> offsets(part.getRank(), builder_.getIndexAttr(0)),
      strides(part.getRank(), builder_.getIndexAttr(1));
  Value block = arith::ConstantIndexOp::create(builder_, loc, part.getDimSize(dim));
  offsets[dim] = arith::MulIOp::create(builder_, loc, loop_.getInductionVar(), block).getResult();
  return tensor::InsertSliceOp::create(
      builder_, loc, input, carried, offsets,
      getAsIndexOpFoldResult(builder_.getContext(), part.getShape()), strides);
}

/// Row-major over the axes; the coordinate along the time axis is the loop's variable.
void MicroLoop::replaceIndex(AxisIndexOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value index;
  for (StringAttr axis : op.getAxes().getAsRange<StringAttr>()) {
    Value own = loop_.getInductionVar();
    if (axis.getValue() != kTimeAxis)
      own = AxisIndexOp::create(builder, loc, op.getMeshAttr(), builder.getArrayAttr({axis}));
    if (index) {
      Value size = arith::ConstantIndexOp::create(builder, loc, *mesh_.getAxisSize(axis));
      own = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, index, size),
                                  own);
    }
    index = own;
  }
  op.getResult().replaceAllUsesWith(index);
  op.erase();
}

/// A batch argument holds all micro-batches of its rank; the loop takes its part.
void MicroLoop::sliceArguments() {
  for (BlockArgument argument : step_.getArguments()) {
    std::optional<unsigned> found = getTimeDim(step_, argument.getArgNumber());
    if (!found)
      continue;
    auto sharding = step_.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
    auto part = cast<RankedTensorType>(argument.getType());
    SmallVector<DimShardingAttr> dims(sharding.getDims());
    int64_t dim = *found, rows = part.getDimSize(dim) * count_;
    ArrayRef<StringAttr> axes = dims[dim].getAxes();
    auto others = llvm::filter_to_vector(axes, [&](StringAttr axis) { return axis != kTimeAxis; });
    dims[dim] = DimShardingAttr::get(step_.getContext(), others, others.empty() ? 1 : rows);
    step_.setArgAttr(argument.getArgNumber(), kShardingAttr,
                     ShardingAttr::get(step_.getContext(), sharding.getMesh(), dims));

    SmallVector<int64_t> padded(part.getShape()), held(part.getShape());
    padded[dim] = held[dim] = rows;
    auto global = step_.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kGlobalTypeAttr);
    if (others.empty())
      held[dim] = cast<RankedTensorType>(global.getValue()).getDimSize(dim);
    argument.setType(part.clone(held));
    SmallVector<OpFoldResult> zeros(part.getRank(), builder_.getIndexAttr(0)),
        strides(part.getRank(), builder_.getIndexAttr(1)), high = zeros, offsets = zeros;
    Value whole = argument;
    Location loc = argument.getLoc();
    builder_.setInsertionPoint(loop_);
    llvm::SmallPtrSet<Operation *, 2> own;
    if (held != padded) {
      high[dim] = builder_.getIndexAttr(padded[dim] - held[dim]);
      Value zero =
          arith::ConstantOp::create(builder_, loc, builder_.getZeroAttr(part.getElementType()));
      whole = tensor::PadOp::create(builder_, loc, part.clone(padded), argument, zeros, high, zero);
      own.insert(whole.getDefiningOp());
    }
    builder_.setInsertionPointToStart(loop_.getBody());
    Value block = arith::ConstantIndexOp::create(builder_, loc, part.getDimSize(dim));
    offsets[dim] = arith::MulIOp::create(builder_, loc, loop_.getInductionVar(), block).getResult();
    auto slice = tensor::ExtractSliceOp::create(
        builder_, loc, part, whole, offsets,
        getAsIndexOpFoldResult(builder_.getContext(), part.getShape()), strides);
    own.insert(slice);
    argument.replaceAllUsesExcept(slice.getResult(), own);
  }
}

void MicroLoop::createLoop() {
  Operation *first = merges_.empty() ? step_.getBody().front().getTerminator() : merges_.front();
  for (Operation &op : step_.getBody().front())
    if (isBehindLoop(&op)) {
      first = &op;
      break;
    }
  for (Operation *op : before_)
    if (first->isBeforeInBlock(op))
      op->moveBefore(first);
  builder_.setInsertionPoint(first);
  Location loc = step_.getLoc();
  SmallVector<Value> inits =
      llvm::map_to_vector(merges_, [&](Operation *merge) { return initOf(merge); });
  Value zero = arith::ConstantIndexOp::create(builder_, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder_, loc, 1);
  Value end = arith::ConstantIndexOp::create(builder_, loc, count_);
  loop_ = scf::ForOp::create(builder_, loc, zero, end, one, inits);
  Block *body = loop_.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  for (Operation *op : inside_)
    op->moveBefore(body, body->end());
  builder_.setInsertionPointToEnd(body);
  SmallVector<Value> yielded;
  for (auto [merge, carried] : llvm::zip(merges_, loop_.getRegionIterArgs()))
    yielded.push_back(mergeInto(merge, carried));
  scf::YieldOp::create(builder_, loc, yielded);
  builder_.setInsertionPointAfter(loop_);
  for (auto [merge, result] : llvm::zip(merges_, loop_.getResults())) {
    Type element = getElementTypeOrSelf(merge->getResult(0).getType());
    merge->getResult(0).replaceAllUsesWith(
        createConversion(builder_, merge->getLoc(), result, element));
    merge->erase();
  }
}

LogicalResult MicroLoop::run() {
  if (failed(classify()))
    return failure();
  createLoop();
  sliceArguments();
  SmallVector<AxisIndexOp> indices;
  loop_.walk([&](AxisIndexOp op) {
    if (isMicroIndex(op))
      indices.push_back(op);
  });
  llvm::for_each(indices, [&](AxisIndexOp op) { replaceIndex(op); });
  step_.setFunctionType(FunctionType::get(
      step_.getContext(), step_.getBody().front().getArgumentTypes(), step_.getResultTypes()));
  return success();
}

class LoopMicroBatchesPass : public impl::LoopMicroBatchesPassBase<LoopMicroBatchesPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<CollDialect, arith::ArithDialect, scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>(kStepFunction);
    MeshOp mesh = step && !step.isExternal() ? getFunctionMesh(step) : nullptr;
    if (!mesh || !mesh.getAxisSize(kTimeAxis))
      return;
    if (failed(MicroLoop(step, mesh).run()))
      return signalPassFailure();
    dropAxis(mesh);
  }

private:
  static void dropAxis(MeshOp mesh) {
    SmallVector<Attribute> names;
    SmallVector<int64_t> sizes;
    for (auto [name, size] : llvm::zip(mesh.getAxisNames(), mesh.getAxisSizes())) {
      if (cast<StringAttr>(name).getValue() == kTimeAxis)
        continue;
      names.push_back(name);
      sizes.push_back(size);
    }
    mesh.setAxisNamesAttr(ArrayAttr::get(mesh.getContext(), names));
    mesh.setAxisSizes(sizes);
  }
};

} // namespace
} // namespace mlir::coll
