//===- partition_reshard.cc - changes of sharding to collectives -----------------===//
//
// In order: contributions are combined; two dimensions that trade axes are exchanged
// at once; what must be whole is gathered; what must be split is sliced.
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/transform/partition.h"

namespace mlir::coll {

namespace {

ShardingAttr withDim(ShardingAttr sharding, int64_t dim, DimShardingAttr split) {
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  dims[dim] = split;
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims,
                           sharding.getPartialAxes(), sharding.getPartialKind());
}

ShardingAttr withPartial(ShardingAttr sharding, ArrayRef<StringAttr> axes, ReductionKind kind) {
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), sharding.getDims(), axes,
                           axes.empty() ? ReductionKind::Sum : kind);
}

} // namespace

LogicalResult FunctionPartitioner::partitionReshard(ReshardOp op) {
  Value value = mapping_.lookup(op.getInput());
  ArrayRef<int64_t> shape = op.getType().getShape();
  ShardingAttr current = op.getSource(), target = op.getTarget();
  if (op.getType().getNumElements() == 0) {
    RankedTensorType type = localType(op.getType(), target);
    mapping_.map(op.getResult(), tensor::EmptyOp::create(builder_, op.getLoc(), type.getShape(),
                                                         type.getElementType())
                                     .getResult());
    return success();
  }
  value = combine(op, value, current);
  value = exchange(op, value, current);
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim)
    if (current.getDims()[dim] != target.getDims()[dim] &&
        !current.getDims()[dim].getAxes().empty())
      value = gather(op, value, dim, current);
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    DimShardingAttr split = target.getDims()[dim];
    if (current.getDims()[dim] == split || split.getAxes().empty())
      continue;
    value = slice(op.getLoc(), value, dim, split, shape[dim]);
    current = withDim(current, dim, split);
  }
  value = contribute(op.getLoc(), value, current, target);
  if (!value)
    return failure();
  mapping_.map(op.getResult(), value);
  return success();
}

/// Combines over the axes that only the source is partial over; scatters at once
/// where the target splits a whole dimension evenly over exactly those axes.
Value FunctionPartitioner::combine(ReshardOp op, Value value, ShardingAttr &current) {
  SmallVector<StringAttr> ended, kept;
  for (StringAttr axis : current.getPartialAxes())
    (llvm::is_contained(op.getTarget().getPartialAxes(), axis) ? kept : ended).push_back(axis);
  if (ended.empty())
    return value;
  ReductionKind kind = current.getPartialKind();
  current = withPartial(current, kept, kind);
  TypeAttr accumulation = accumulationOf(kind, value.getType());
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    DimShardingAttr split = op.getTarget().getDims()[dim];
    if (!current.getDims()[dim].getAxes().empty() || split.getAxes() != ArrayRef(ended) ||
        isUneven(mesh_, split, op.getType().getDimSize(dim)))
      continue;
    current = withDim(current, dim, split);
    auto scatter =
        ReduceScatterOp::create(builder_, op.getLoc(), localType(op.getType(), current), kind,
                                value, dim, groupOf(ended), Order::Any, accumulation);
    if (Attribute why = op->getAttr(kWhyAttr))
      scatter->setAttr(kWhyAttr, why);
    return scatter.getResult();
  }
  auto reduce = AllReduceOp::create(builder_, op.getLoc(), value.getType(), kind, value,
                                    groupOf(ended), Order::Any, accumulation);
  if (Attribute why = op->getAttr(kWhyAttr))
    reduce->setAttr(kWhyAttr, why);
  return reduce.getResult();
}

/// The converse: the first rank along the new partial axes contributes the value,
/// the others the neutral element. Null, and an error, where there is none.
Value FunctionPartitioner::contribute(Location loc, Value value, ShardingAttr &current,
                                      ShardingAttr target) {
  SmallVector<StringAttr> added;
  for (StringAttr axis : target.getPartialAxes())
    if (!llvm::is_contained(current.getPartialAxes(), axis))
      added.push_back(axis);
  if (added.empty())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  TypedAttr identity = getIdentity(target.getPartialKind(), type.getElementType());
  if (!identity) {
    emitError(loc) << "cannot become partial: " << stringifyReductionKind(target.getPartialKind())
                   << " has no neutral element of type " << type.getElementType();
    return nullptr;
  }
  current = target;
  SmallVector<Attribute> names(added.begin(), added.end());
  Value index = AxisIndexOp::create(builder_, loc, target.getMesh(), builder_.getArrayAttr(names));
  Value zero = arith::ConstantIndexOp::create(builder_, loc, 0);
  Value first = arith::CmpIOp::create(builder_, loc, arith::CmpIPredicate::eq, index, zero);
  Value neutral = arith::ConstantOp::create(builder_, loc, DenseElementsAttr::get(type, identity));
  return arith::SelectOp::create(builder_, loc, first, value, neutral);
}

/// One all_to_all where a dimension gives exactly the axes that another takes.
Value FunctionPartitioner::exchange(ReshardOp op, Value value, ShardingAttr &current) {
  ShardingAttr target = op.getTarget();
  auto isEven = [&](DimShardingAttr split, int64_t dim) {
    return !isUneven(mesh_, split, op.getType().getDimSize(dim));
  };
  auto none = DimShardingAttr::get(op.getContext(), {}, 1);
  for (int64_t from = 0; from < op.getType().getRank(); ++from) {
    DimShardingAttr given = current.getDims()[from];
    if (given.getAxes().empty() || !target.getDims()[from].getAxes().empty() ||
        !isEven(given, from))
      continue;
    for (int64_t to = 0; to < op.getType().getRank(); ++to) {
      DimShardingAttr taken = target.getDims()[to];
      if (to == from || !current.getDims()[to].getAxes().empty() ||
          taken.getAxes() != given.getAxes() || !isEven(taken, to))
        continue;
      current = withDim(withDim(current, from, none), to, taken);
      auto swap = AllToAllOp::create(builder_, op.getLoc(), localType(op.getType(), current), value,
                                     to, from, groupOf(given.getAxes()));
      if (Attribute why = op->getAttr(kWhyAttr))
        swap->setAttr(kWhyAttr, why);
      return swap.getResult();
    }
  }
  return value;
}

Value FunctionPartitioner::gather(ReshardOp op, Value value, int64_t dim, ShardingAttr &current) {
  DimShardingAttr split = current.getDims()[dim];
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= getNumShards(mesh_, split);
  auto gathered = AllGatherOp::create(builder_, op.getLoc(), type.clone(shape), value, dim,
                                      groupOf(split.getAxes()));
  if (Attribute why = op->getAttr(kWhyAttr))
    gathered->setAttr(kWhyAttr, why);
  current = withDim(current, dim, DimShardingAttr::get(op.getContext(), {}, 1));
  int64_t extent = op.getType().getDimSize(dim);
  if (shape[dim] == extent)
    return gathered.getResult();
  SmallVector<OpFoldResult> offsets(shape.size(), builder_.getIndexAttr(0)), sizes,
      strides(shape.size(), builder_.getIndexAttr(1));
  shape[dim] = extent;
  for (int64_t size : shape)
    sizes.push_back(builder_.getIndexAttr(size));
  return tensor::ExtractSliceOp::create(builder_, op.getLoc(), gathered.getResult(), offsets, sizes,
                                        strides);
}

/// This rank's block of a dimension that is whole, padded where blocks are uneven.
Value FunctionPartitioner::slice(Location loc, Value value, int64_t dim, DimShardingAttr split,
                                 int64_t extent) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t block = getBlockExtent(mesh_, split, extent);
  int64_t padding = block * getNumShards(mesh_, split) - extent;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder_.getIndexAttr(0)), sizes,
      strides(type.getRank(), builder_.getIndexAttr(1));
  if (padding > 0) {
    SmallVector<OpFoldResult> low(offsets), high(offsets);
    high[dim] = builder_.getIndexAttr(padding);
    SmallVector<int64_t> padded(type.getShape());
    padded[dim] += padding;
    Value zero =
        arith::ConstantOp::create(builder_, loc, builder_.getZeroAttr(type.getElementType()));
    value = tensor::PadOp::create(builder_, loc, type.clone(padded), value, low, high, zero);
  }
  for (int64_t size : type.getShape())
    sizes.push_back(builder_.getIndexAttr(size));
  offsets[dim] = blockOffset(loc, split, extent);
  sizes[dim] = builder_.getIndexAttr(block);
  return tensor::ExtractSliceOp::create(builder_, loc, value, offsets, sizes, strides);
}

/// Global position of the first element of this rank's block.
Value FunctionPartitioner::blockOffset(Location loc, DimShardingAttr split, int64_t extent) {
  SmallVector<Attribute> names(split.getAxes().begin(), split.getAxes().end());
  Value index = AxisIndexOp::create(builder_, loc, FlatSymbolRefAttr::get(mesh_.getSymNameAttr()),
                                    builder_.getArrayAttr(names));
  Value block = arith::ConstantIndexOp::create(builder_, loc, getBlockExtent(mesh_, split, extent));
  return arith::MulIOp::create(builder_, loc, index, block);
}

/// What a reduction's contributions are to be combined in; null: as the backend likes.
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
