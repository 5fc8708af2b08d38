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
#include "mlir/Transforms/RegionUtils.h"
#include "passes/analysis/micro_batches.h"
#include "passes/analysis/sharding_map.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_LOOPMICROBATCHESPASS
#include "passes/passes.h.inc"

namespace {

/// When an operation of @step runs.
enum class Phase { Before, Inside, Behind };

bool isMicroMerge(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.getCommGroup().isMesh() &&
         collective.getCommGroup().getAxes().size() == 1 &&
         collective.getCommGroup().getAxes()[0].getValue() == kTimeAxis;
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
  LogicalResult classify();
  FailureOr<Phase> phaseOf(Operation *op);
  void createLoop();
  void sliceArguments();
  Value initOf(Operation *merge);
  Value mergeInto(Operation *merge, Value carried);
  void replaceIndex(AxisIndexOp op);
  Value combine(Location loc, ReductionKind kind, Value a, Value b);
  Value convert(Location loc, Value value, Type element);

  func::FuncOp step_;
  MeshOp mesh_;
  int64_t count_;
  OpBuilder builder_;
  llvm::DenseMap<Value, Phase> phases_;
  SmallVector<Operation *> inside_, before_, merges_;
  scf::ForOp loop_;
};

FailureOr<Phase> MicroLoop::phaseOf(Operation *op) {
  bool readsInside = false, readsBehind = false;
  auto read = [&](Value value) {
    auto found = phases_.find(value);
    readsInside |= found != phases_.end() && found->second == Phase::Inside;
    readsBehind |= found != phases_.end() && found->second == Phase::Behind;
  };
  llvm::for_each(op->getOperands(), read);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(captured, read);
  bool isNested = false;
  op->walk([&](Operation *nested) {
    readsInside |= isMicroIndex(nested);
    isNested |= nested != op && isMicroMerge(nested);
  });
  if (isNested || (readsInside && readsBehind))
    return op->emitError() << "needs what several micro-batches contribute while one of them is "
                              "computed; do without micro-batches";
  return readsInside ? Phase::Inside : readsBehind ? Phase::Behind : Phase::Before;
}

LogicalResult MicroLoop::classify() {
  for (BlockArgument argument : step_.getArguments())
    if (auto sharding =
            step_.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr))
      for (DimShardingAttr dim : sharding.getDims())
        if (llvm::is_contained(dim.getAxes(), StringAttr::get(step_.getContext(), kTimeAxis)))
          phases_[argument] = Phase::Inside;
  bool isBehind = false;
  for (Operation &op : step_.getBody().front()) {
    FailureOr<Phase> phase = phaseOf(&op);
    if (failed(phase))
      return failure();
    if (op.hasTrait<OpTrait::IsTerminator>() && *phase == Phase::Inside)
      return op.emitError("returns a value of one micro-batch");
    if (isMicroMerge(&op)) {
      if (!isa<AllReduceOp, AllGatherOp>(op))
        return op.emitError() << "cannot be done over micro-batches one after the other";
      merges_.push_back(&op);
      phase = Phase::Behind;
    } else if (*phase == Phase::Inside) {
      inside_.push_back(&op);
    } else if (*phase == Phase::Before && isBehind) {
      before_.push_back(&op);
    }
    isBehind |= *phase != Phase::Before;
    for (Value result : op.getResults())
      phases_[result] = *phase;
  }
  return success();
}

Value MicroLoop::convert(Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  if (element.getIntOrFloatBitWidth() > type.getElementTypeBitWidth())
    return arith::ExtFOp::create(builder_, loc, type.clone(element), value);
  return arith::TruncFOp::create(builder_, loc, type.clone(element), value);
}

/// What a merge starts from.
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

Value MicroLoop::combine(Location loc, ReductionKind kind, Value a, Value b) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case ReductionKind::Sum:
    return isFloat ? arith::AddFOp::create(builder_, loc, a, b).getResult()
                   : arith::AddIOp::create(builder_, loc, a, b).getResult();
  case ReductionKind::Prod:
    return isFloat ? arith::MulFOp::create(builder_, loc, a, b).getResult()
                   : arith::MulIOp::create(builder_, loc, a, b).getResult();
  case ReductionKind::Min:
    return isFloat ? arith::MinimumFOp::create(builder_, loc, a, b).getResult()
                   : arith::MinSIOp::create(builder_, loc, a, b).getResult();
  case ReductionKind::Max:
    return isFloat ? arith::MaximumFOp::create(builder_, loc, a, b).getResult()
                   : arith::MaxSIOp::create(builder_, loc, a, b).getResult();
  case ReductionKind::UMin:
    return arith::MinUIOp::create(builder_, loc, a, b);
  case ReductionKind::UMax:
    return arith::MaxUIOp::create(builder_, loc, a, b);
  case ReductionKind::And:
    return arith::AndIOp::create(builder_, loc, a, b);
  case ReductionKind::Or:
    return arith::OrIOp::create(builder_, loc, a, b);
  case ReductionKind::Xor:
    return arith::XOrIOp::create(builder_, loc, a, b);
  case ReductionKind::Avg:
    break;
  }
  llvm_unreachable("contributions of a split batch are not averaged");
}

/// `carried` with what this micro-batch contributes.
Value MicroLoop::mergeInto(Operation *merge, Value carried) {
  Location loc = merge->getLoc();
  Value input = merge->getOperand(0);
  if (auto reduction = dyn_cast<AllReduceOp>(merge))
    return combine(loc, reduction.getReduction(), carried,
                   convert(loc, input, getElementTypeOrSelf(carried.getType())));
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

/// Row-major over the axes, with the loop's variable for the one in time.
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
  auto micro = StringAttr::get(step_.getContext(), kTimeAxis);
  for (BlockArgument argument : step_.getArguments()) {
    if (!phases_.contains(argument))
      continue;
    auto sharding = step_.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
    auto part = cast<RankedTensorType>(argument.getType());
    SmallVector<DimShardingAttr> dims(sharding.getDims());
    auto *split = llvm::find_if(
        dims, [&](DimShardingAttr dim) { return llvm::is_contained(dim.getAxes(), micro); });
    int64_t dim = split - dims.begin(), rows = part.getDimSize(dim) * count_;
    auto others =
        llvm::filter_to_vector(split->getAxes(), [&](StringAttr axis) { return axis != micro; });
    *split = DimShardingAttr::get(step_.getContext(), others, others.empty() ? 1 : rows);
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
    if (op.getNumResults() > 0 && phases_.lookup(op.getResult(0)) == Phase::Behind) {
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
    merge->getResult(0).replaceAllUsesWith(convert(merge->getLoc(), result, element));
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
