//===- partition_indexed.cc - split dimensions that are read at computed positions -===//
//
// A rank accesses the positions that lie within its block:
//
//   take         start = clamp(start, 0, extent - 1) - offset; zeros outside of the block
//   accumulate   start = start - offset; coll.accumulate drops updates outside of the block
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/transform/partition.h"

#include <limits>

namespace mlir::coll {

namespace {

/// One component of the indices, along an operand dimension that is split.
struct SplitIndex {
  int64_t component;
  DimShardingAttr split;
  int64_t extent;
};

SmallVector<SplitIndex> getSplitIndices(ArrayRef<int64_t> indexMap, const ShardingRule &rule,
                                        const Assignment &assignment) {
  SmallVector<SplitIndex> found;
  for (auto [component, dim] : llvm::enumerate(indexMap)) {
    int64_t factor = rule.operands[0][dim].factor;
    if (factor >= 0 && rule.factors[factor].isIndexed && assignment.factors[factor])
      found.push_back(
          {static_cast<int64_t>(component), assignment.factors[factor], rule.factors[factor].size});
  }
  return found;
}

/// Component `component` of `indices` [b…, m], as a tensor [b…].
Value extractComponent(OpBuilder &builder, Location loc, Value indices, int64_t component) {
  auto type = cast<RankedTensorType>(indices.getType());
  int64_t batch = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(batch, builder.getIndexAttr(0)), sizes,
      strides(type.getRank(), builder.getIndexAttr(1));
  offsets.push_back(builder.getIndexAttr(component));
  for (int64_t size : type.getShape().drop_back())
    sizes.push_back(builder.getIndexAttr(size));
  sizes.push_back(builder.getIndexAttr(1));
  auto narrow = RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, narrow, indices, offsets, sizes, strides);
}

/// An elementwise linalg.generic over `shape` with one result of type `element`.
Value mapElements(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type element,
                  ValueRange inputs, ArrayRef<AffineMap> inputMaps,
                  llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> parallel(shape.size(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, loc, empty.getType(), inputs, empty, maps, parallel,
                                [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                  linalg::YieldOp::create(nested, loc, body(nested, arguments));
                                });
  return generic.getResult(0);
}

} // namespace

/// `indices` as i32 or wider, with the components along split dimensions counted from the start of
/// this rank's block; clamped first, as coll.take does, where `clamps`.
Value FunctionPartitioner::localIndices(Location loc, Value indices, ArrayRef<int64_t> indexMap,
                                        const ShardingRule &rule, const Assignment &assignment,
                                        bool clamps) {
  SmallVector<SplitIndex> splits = getSplitIndices(indexMap, rule, assignment);
  if (splits.empty())
    return indices;
  auto type = cast<RankedTensorType>(indices.getType());
  // Every position fits into the type that the indices are counted in.
  bool isLong = llvm::any_of(
      splits, [](SplitIndex index) { return index.extent > std::numeric_limits<int32_t>::max(); });
  unsigned width = std::max<unsigned>(type.getElementTypeBitWidth(), isLong ? 64 : 32);
  Type element = builder_.getIntegerType(width);
  bool isNarrow = element != type.getElementType();
  auto asElement = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder_, loc, element, index);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder_, loc, builder_.getIntegerAttr(element, value));
  };
  SmallVector<Value> offsets, lasts;
  for (SplitIndex index : splits) {
    offsets.push_back(asElement(blockOffset(loc, index.split, index.extent)));
    lasts.push_back(constant(index.extent - 1));
  }
  Value zero = constant(0);
  int64_t last = type.getRank() - 1;
  AffineMap identity = builder_.getMultiDimIdentityMap(type.getRank());
  return mapElements(builder_, loc, type.getShape(), element, indices, identity,
                     [&](OpBuilder &nested, ValueRange arguments) {
                       Value value = arguments[0];
                       if (isNarrow)
                         value = arith::ExtSIOp::create(nested, loc, element, value);
                       Value component = linalg::IndexOp::create(nested, loc, last);
                       Value local = value;
                       for (auto [index, offset, end] : llvm::zip(splits, offsets, lasts)) {
                         Value start = value;
                         if (clamps) {
                           start = arith::MaxSIOp::create(nested, loc, start, zero);
                           start = arith::MinSIOp::create(nested, loc, start, end);
                         }
                         start = arith::SubIOp::create(nested, loc, start, offset);
                         Value number =
                             arith::ConstantIndexOp::create(nested, loc, index.component);
                         Value isThis = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq,
                                                              component, number);
                         local = arith::SelectOp::create(nested, loc, isThis, start, local);
                       }
                       return local;
                     });
}

/// `taken` with zeros for the positions that this rank's block does not hold, given the indices of
/// `localIndices`.
Value FunctionPartitioner::maskTaken(TakeOp op, Value taken, Value indices,
                                     const ShardingRule &rule, const Assignment &assignment) {
  SmallVector<SplitIndex> splits = getSplitIndices(op.getIndexMap(), rule, assignment);
  if (splits.empty())
    return taken;
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(taken.getType());
  SmallVector<Value> inputs = {taken}, blocks;
  SmallVector<AffineMap> maps = {builder_.getMultiDimIdentityMap(type.getRank())};
  SmallVector<AffineExpr> batch;
  for (int64_t dim : op.getBatchDims())
    batch.push_back(builder_.getAffineDimExpr(dim));
  Type element = getElementTypeOrSelf(indices.getType());
  for (SplitIndex index : splits) {
    inputs.push_back(extractComponent(builder_, loc, indices, index.component));
    maps.push_back(AffineMap::get(type.getRank(), 0, batch, builder_.getContext()));
    int64_t block = getBlockExtent(mesh_, index.split, index.extent);
    blocks.push_back(
        arith::ConstantOp::create(builder_, loc, builder_.getIntegerAttr(element, block)));
  }
  Value zero =
      arith::ConstantOp::create(builder_, loc, builder_.getZeroAttr(type.getElementType()));
  return mapElements(builder_, loc, type.getShape(), type.getElementType(), inputs, maps,
                     [&](OpBuilder &nested, ValueRange arguments) {
                       Value value = arguments[0];
                       for (auto [start, block] : llvm::zip(arguments.drop_front(), blocks)) {
                         // Positions before the block are negative, and large as unsigned numbers.
                         Value isHeld = arith::CmpIOp::create(
                             nested, loc, arith::CmpIPredicate::ult, start, block);
                         value = arith::SelectOp::create(nested, loc, isHeld, value, zero);
                       }
                       return value;
                     });
}

} // namespace mlir::coll
