//===- partition_reshard.cc - changes of sharding to collectives -----------------===//
//
// The planner (plan/reshard.h) chooses the moves. Each becomes at most one collective, and local
// operations before and after it: a whole dimension is padded before it is split into blocks, and
// loses its padding after the blocks have been joined. A route becomes a permute for each round
// (partition_route.cc).
//
//===----------------------------------------------------------------------------===//

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/transform/partition.h"

namespace mlir::coll {

namespace {

SmallVector<int64_t> blocksOf(const Layout &layout) {
  return llvm::map_to_vector(layout.dims, [](const auto &split) { return split.block; });
}

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

} // namespace

LogicalResult FunctionPartitioner::partitionReshard(ReshardOp op) {
  RankedTensorType target = localType(op.getType(), op.getTarget());
  if (op.getType().getNumElements() == 0) {
    mapping_.map(op.getResult(), tensor::EmptyOp::create(builder_, op.getLoc(), target.getShape(),
                                                         target.getElementType())
                                     .getResult());
    return success();
  }
  // Axes of size 1 with a unit pad their dimension; the planner's layouts have no such padding.
  Layout layout = plans_.layoutOf(op.getType(), op.getSource());
  Value value = fit(op.getLoc(), mapping_.lookup(op.getInput()), blocksOf(layout));
  for (const Move &move : plans_.plan(op.getType(), op.getSource(), op.getTarget()).moves) {
    value = partitionMove(op, value, move, layout);
    if (!value)
      return failure();
    layout = move.result;
  }
  mapping_.map(op.getResult(), fit(op.getLoc(), value, target.getShape()));
  return success();
}

/// `value` after `move`, which starts from `layout`. Null, and an error, where contributions have
/// no neutral element.
Value FunctionPartitioner::partitionMove(ReshardOp op, Value value, const Move &move,
                                         const Layout &layout) {
  SmallVector<StringAttr> axes = plans_.axesOf(move.axes);
  SmallVector<int64_t> result = blocksOf(move.result);
  if (move.kind == MoveKind::MakePartial)
    return makePartial(op, value, move, layout);
  if (move.kind == MoveKind::Route)
    return route(op, value, move);
  // The dimension that is split, with the padding of its last block.
  SmallVector<int64_t> blocks = blocksOf(layout), joined = result;
  int64_t shards = 1;
  for (StringAttr axis : axes)
    shards *= *mesh_.getAxisSize(axis);
  if (move.split >= 0)
    blocks[move.split] = result[move.split] * shards;
  if (move.join >= 0)
    joined[move.join] = blocks[move.join] * shards;
  value = fit(op.getLoc(), value, blocks);
  if (move.kind == MoveKind::Slice)
    return slice(op.getLoc(), value, move.split, axes, result[move.split]);
  Operation *collective = createCollective(op, value, move, typeOf(value).clone(joined));
  copyNotes(op, collective);
  return fit(op.getLoc(), collective->getResult(0), result);
}

/// What explanations say of the reshard, for its collective.
void FunctionPartitioner::copyNotes(ReshardOp op, Operation *collective) {
  for (StringRef name : {StringRef(kWhyAttr), StringRef(kCauseAttr)})
    if (Attribute note = op->getAttr(name))
      collective->setAttr(name, note);
}

Operation *FunctionPartitioner::createCollective(ReshardOp op, Value value, const Move &move,
                                                 RankedTensorType type) {
  GroupAttr group = groupOf(plans_.axesOf(move.axes));
  ReductionKind kind = op.getSource().getPartialKind();
  TypeAttr accumulation = accumulationOf(kind, value.getType());
  switch (move.kind) {
  case MoveKind::AllGather:
    return AllGatherOp::create(builder_, op.getLoc(), type, value, move.join, group);
  case MoveKind::AllToAll:
    return AllToAllOp::create(builder_, op.getLoc(), type, value, move.split, move.join, group);
  case MoveKind::Permute:
    // The value's type stays as it is.
    return PermuteOp::createShortest(builder_, op.getLoc(), value, move.pairs, group,
                                     getGroupSize(group, mesh_));
  case MoveKind::ReduceScatter:
    return ReduceScatterOp::create(builder_, op.getLoc(), type, kind, value, move.split, group,
                                   Order::Any, accumulation);
  case MoveKind::AllReduce:
    return AllReduceOp::create(builder_, op.getLoc(), type, kind, value, group, Order::Any,
                               accumulation);
  case MoveKind::Slice:
  case MoveKind::MakePartial:
  case MoveKind::Route:
    break;
  }
  llvm_unreachable("the move sends nothing");
}

/// The first rank along the new partial axes contributes the value, the others the neutral element;
/// where these axes split a dimension, each rank contributes its block.
Value FunctionPartitioner::makePartial(ReshardOp op, Value value, const Move &move,
                                       const Layout &layout) {
  Location loc = op.getLoc();
  ReductionKind kind = op.getTarget().getPartialKind();
  RankedTensorType type = typeOf(value);
  TypedAttr identity = getIdentity(kind, type.getElementType());
  if (!identity) {
    emitError(loc) << "cannot become partial: " << stringifyReductionKind(kind)
                   << " has no neutral element of type " << type.getElementType();
    return nullptr;
  }
  SmallVector<StringAttr> axes = plans_.axesOf(move.axes);
  auto neutral = [&](RankedTensorType shape) {
    return arith::ConstantOp::create(builder_, loc, DenseElementsAttr::get(shape, identity));
  };
  if (move.join < 0) {
    Value index = axisIndex(loc, axes);
    Value zero = arith::ConstantIndexOp::create(builder_, loc, 0);
    Value first = arith::CmpIOp::create(builder_, loc, arith::CmpIPredicate::eq, index, zero);
    return arith::SelectOp::create(builder_, loc, first, value, neutral(type));
  }
  SmallVector<int64_t> joined(type.getShape());
  int64_t block = joined[move.join];
  for (StringAttr axis : axes)
    joined[move.join] *= *mesh_.getAxisSize(axis);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder_.getIndexAttr(0)), sizes,
      strides(type.getRank(), builder_.getIndexAttr(1));
  for (int64_t size : type.getShape())
    sizes.push_back(builder_.getIndexAttr(size));
  offsets[move.join] = blockOffset(loc, axes, block);
  Value placed = tensor::InsertSliceOp::create(builder_, loc, value, neutral(type.clone(joined)),
                                               offsets, sizes, strides);
  return fit(loc, placed, blocksOf(move.result));
}

/// This rank's block of a dimension that holds a multiple of it.
Value FunctionPartitioner::slice(Location loc, Value value, int64_t dim, ArrayRef<StringAttr> axes,
                                 int64_t block) {
  RankedTensorType type = typeOf(value);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder_.getIndexAttr(0)), sizes,
      strides(type.getRank(), builder_.getIndexAttr(1));
  for (int64_t size : type.getShape())
    sizes.push_back(builder_.getIndexAttr(size));
  offsets[dim] = blockOffset(loc, axes, block);
  sizes[dim] = builder_.getIndexAttr(block);
  return tensor::ExtractSliceOp::create(builder_, loc, value, offsets, sizes, strides);
}

/// `value` with the extents `shape`: dimensions that are longer in `shape` are padded at the end,
/// those that are shorter are cut at the end.
Value FunctionPartitioner::fit(Location loc, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> kept(type.getShape()), padded(shape);
  for (auto [keep, extent] : llvm::zip(kept, shape))
    keep = std::min(keep, extent);
  SmallVector<OpFoldResult> zeros(type.getRank(), builder_.getIndexAttr(0)), high, sizes,
      strides(type.getRank(), builder_.getIndexAttr(1));
  for (auto [keep, extent] : llvm::zip(kept, shape)) {
    sizes.push_back(builder_.getIndexAttr(keep));
    high.push_back(builder_.getIndexAttr(extent - keep));
  }
  if (ArrayRef<int64_t>(kept) != type.getShape())
    value = tensor::ExtractSliceOp::create(builder_, loc, value, zeros, sizes, strides);
  if (kept == padded)
    return value;
  Value zero =
      arith::ConstantOp::create(builder_, loc, builder_.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(builder_, loc, type.clone(padded), value, zeros, high, zero);
}

Value FunctionPartitioner::axisIndex(Location loc, ArrayRef<StringAttr> axes) {
  SmallVector<Attribute> names(axes.begin(), axes.end());
  return AxisIndexOp::create(builder_, loc, FlatSymbolRefAttr::get(mesh_.getSymNameAttr()),
                             builder_.getArrayAttr(names));
}

Value FunctionPartitioner::blockOffset(Location loc, ArrayRef<StringAttr> axes, int64_t block) {
  Value index = axisIndex(loc, axes);
  Value extent = arith::ConstantIndexOp::create(builder_, loc, block);
  return arith::MulIOp::create(builder_, loc, index, extent);
}

/// Global position of the first element of this rank's block.
Value FunctionPartitioner::blockOffset(Location loc, DimShardingAttr split, int64_t extent) {
  return blockOffset(loc, split.getAxes(), getBlockExtent(mesh_, split, extent));
}

/// The type in which a reduction's contributions are combined; null if the backend may choose.
TypeAttr FunctionPartitioner::accumulationOf(ReductionKind kind, Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  bool rounds =
      llvm::is_contained({ReductionKind::Sum, ReductionKind::Prod, ReductionKind::Avg}, kind);
  bool isNarrow = element && element.getWidth() < 32;
  return f32Sums_ && rounds && isNarrow ? TypeAttr::get(builder_.getF32Type()) : TypeAttr();
}

GroupAttr FunctionPartitioner::groupOf(ArrayRef<StringAttr> axes) {
  return GroupAttr::get(mesh_.getContext(), FlatSymbolRefAttr::get(mesh_.getSymNameAttr()), axes,
                        {});
}

} // namespace mlir::coll
