//===- partition_halo.cc - elements beyond a rank's block -------------------------===//
//
// plan/halo.h decides which rank sends which elements. Each rank collects the elements that it
// reads in a buffer, one dimension after the other, so that corners are included:
//
//   concat(blocks) -> slice -> permute -> insert_slice     once for each round
//   slice of the buffer, fill outside of the dimension, spread
//
// Positions that differ between ranks come from tables, indexed by the rank's place.
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/analysis/window.h"
#include "passes/transform/partition.h"

namespace mlir::coll {

namespace plan = ::coll::plan;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

RankedTensorType withExtent(RankedTensorType type, int64_t dim, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  return type.clone(shape);
}

bool isZero(TypedAttr fill) {
  if (auto number = dyn_cast<FloatAttr>(fill))
    return number.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(fill);
  return integer && integer.getValue().isZero();
}

} // namespace

/// Elements of `value` along `dim`, all along the others.
Value FunctionPartitioner::sliceAlong(Location loc, Value value, int64_t dim, OpFoldResult offset,
                                      int64_t length) {
  RankedTensorType type = typeOf(value);
  if (type.getDimSize(dim) == length)
    return value;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder_.getIndexAttr(0)),
      strides(type.getRank(), builder_.getIndexAttr(1)), sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(builder_.getIndexAttr(size));
  offsets[dim] = offset;
  sizes[dim] = builder_.getIndexAttr(length);
  return tensor::ExtractSliceOp::create(builder_, loc, withExtent(type, dim, length), value,
                                        offsets, sizes, strides);
}

/// `part` in `whole` at `offset` along `dim`, every stride-th element there.
Value FunctionPartitioner::insertAlong(Location loc, Value part, Value whole, int64_t dim,
                                       OpFoldResult offset, int64_t stride) {
  RankedTensorType type = typeOf(part);
  if (type == whole.getType())
    return part;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder_.getIndexAttr(0)),
      strides(type.getRank(), builder_.getIndexAttr(1)), sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(builder_.getIndexAttr(size));
  offsets[dim] = offset;
  strides[dim] = builder_.getIndexAttr(stride);
  return tensor::InsertSliceOp::create(builder_, loc, part, whole, offsets, sizes, strides);
}

/// The number of this rank among `values`, one for each place along the axes.
OpFoldResult FunctionPartitioner::byPlace(Location loc, ArrayRef<StringAttr> axes,
                                          ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return builder_.getIndexAttr(values.front());
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder_.getI64Type());
  Value table = arith::ConstantOp::create(builder_, loc, DenseIntElementsAttr::get(type, values));
  Value entry = tensor::ExtractOp::create(builder_, loc, table, axisIndex(loc, axes));
  return arith::IndexCastOp::create(builder_, loc, builder_.getIndexType(), entry).getResult();
}

Value FunctionPartitioner::splat(Location loc, RankedTensorType type, TypedAttr element) {
  return arith::ConstantOp::create(builder_, loc, DenseElementsAttr::get(type, element));
}

/// One round: sends from `source`, and puts the received elements into `buffer`.
Value FunctionPartitioner::moveHalo(const Halo &halo, const plan::HaloRound &round, Value source,
                                    Value buffer) {
  ArrayRef<StringAttr> axes = halo.split.getAxes();
  SmallVector<int64_t> from(halo.loop.ranks, round.pieces.front().sourceStart), pairs;
  SmallVector<int64_t> to(halo.loop.ranks, halo.plan.before + round.idleStart);
  for (const plan::HaloPiece &piece : round.pieces) {
    from[piece.source] = piece.sourceStart;
    to[piece.target] = halo.plan.before + piece.targetStart;
    pairs.append({piece.source, piece.target});
  }
  Value sent = sliceAlong(halo.loc, source, halo.dim, byPlace(halo.loc, axes, from), round.length);
  if (round.sends) {
    auto permute =
        PermuteOp::createShortest(builder_, halo.loc, sent, pairs, groupOf(axes), halo.loop.ranks);
    permute->setAttr(kWhyAttr, builder_.getStringAttr(halo.why));
    sent = permute.getResult();
  }
  return insertAlong(halo.loc, sent, buffer, halo.dim, byPlace(halo.loc, axes, to), 1);
}

/// The buffer, if all blocks are gathered first.
Value FunctionPartitioner::gatherHalo(const Halo &halo, Value local,
                                      const plan::HaloSource &source) {
  Location loc = halo.loc;
  ArrayRef<StringAttr> axes = halo.split.getAxes();
  int64_t length = halo.loop.ranks * source.block, before = 0, after = 0;
  RankedTensorType whole = withExtent(typeOf(local), halo.dim, length);
  auto gather = AllGatherOp::create(builder_, loc, whole, local, halo.dim, groupOf(axes));
  gather->setAttr(kWhyAttr, builder_.getStringAttr(halo.why));
  SmallVector<int64_t> starts;
  for (int64_t rank = 0; rank < halo.loop.ranks; ++rank) {
    starts.push_back(plan::haloStart(halo.loop, source, rank));
    before = std::max(before, -starts.back());
    after = std::max(after, starts.back() + halo.plan.length - length);
  }
  for (int64_t &start : starts)
    start += before;
  TypedAttr zero = builder_.getZeroAttr(whole.getElementType());
  Value padded = insertAlong(loc, gather.getResult(),
                             splat(loc, withExtent(whole, halo.dim, before + length + after), zero),
                             halo.dim, builder_.getIndexAttr(before), 1);
  return sliceAlong(loc, padded, halo.dim, byPlace(loc, axes, starts), halo.plan.length);
}

/// The elements of `locals`, this rank's blocks of `sources`, that its iterations read.
Value FunctionPartitioner::fillBuffer(const Halo &halo, ArrayRef<Value> locals) {
  Location loc = halo.loc;
  Value source = locals.front();
  if (locals.size() > 1)
    source = tensor::ConcatOp::create(builder_, loc, halo.dim, locals);
  const plan::HaloPlan &plan = halo.plan;
  RankedTensorType type =
      withExtent(typeOf(source), halo.dim, plan.before + plan.length + plan.after);
  Value buffer = splat(loc, type, builder_.getZeroAttr(type.getElementType()));
  for (const plan::HaloRound &round : plan.rounds)
    buffer = moveHalo(halo, round, source, buffer);
  return sliceAlong(loc, buffer, halo.dim, builder_.getIndexAttr(plan.before), plan.length);
}

/// `buffer` with `outside` where it holds no elements of `source`: one element, or a tensor of the
/// buffer's type.
Value FunctionPartitioner::fillOutside(const Halo &halo, Value buffer,
                                       const plan::HaloSource &source, Value outside) {
  Location loc = halo.loc;
  RankedTensorType type = typeOf(buffer);
  SmallVector<int64_t> starts;
  for (int64_t rank = 0; rank < halo.loop.ranks; ++rank)
    starts.push_back(plan::haloStart(halo.loop, source, rank));
  for (int64_t &start : starts)
    start -= source.begin;
  Value start =
      getValueOrCreateConstantIndexOp(builder_, loc, byPlace(loc, halo.split.getAxes(), starts));
  Value end = arith::ConstantIndexOp::create(builder_, loc, source.extent - source.begin);
  Value empty = tensor::EmptyOp::create(builder_, loc, type.getShape(), type.getElementType());
  bool isTensor = isa<RankedTensorType>(outside.getType());
  SmallVector<Value> inputs = {buffer};
  if (isTensor)
    inputs.push_back(outside);
  SmallVector<AffineMap> maps(inputs.size() + 1, builder_.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  auto filled = linalg::GenericOp::create(
      builder_, loc, type, inputs, empty, maps, parallel,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value index = linalg::IndexOp::create(builder, loc, halo.dim);
        Value position = arith::AddIOp::create(builder, loc, index, start);
        // Read as unsigned, a negative position is beyond the end, too.
        Value isInside =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position, end);
        Value other = isTensor ? arguments[1] : outside;
        Value kept = arith::SelectOp::create(builder, loc, isInside, arguments[0], other);
        linalg::YieldOp::create(builder, loc, kept);
      });
  return filled.getResult(0);
}

/// The buffer with its elements `spread` apart, and `fill` between them, from the first that
/// this rank's iterations read.
Value FunctionPartitioner::spreadBuffer(const Halo &halo, Value buffer,
                                        const plan::HaloSource &source, Value fill) {
  Location loc = halo.loc;
  const plan::Reach &reach = source.reach;
  int64_t length = reach.step * (halo.loop.block - 1) + reach.last - reach.first + 1;
  SmallVector<int64_t> offsets;
  for (int64_t rank = 0; rank < halo.loop.ranks; ++rank)
    offsets.push_back(reach.step * halo.loop.block * rank + reach.first -
                      plan::haloStart(halo.loop, source, rank) * reach.spread);
  int64_t spread =
      std::max((halo.plan.length - 1) * reach.spread + 1, *llvm::max_element(offsets) + length);
  RankedTensorType type = withExtent(typeOf(buffer), halo.dim, spread);
  Value filled = tensor::SplatOp::create(builder_, loc, fill, type);
  Value placed = insertAlong(loc, buffer, filled, halo.dim, builder_.getIndexAttr(0), reach.spread);
  return sliceAlong(loc, placed, halo.dim, byPlace(loc, halo.split.getAxes(), offsets), length);
}

FunctionPartitioner::Halo FunctionPartitioner::planHalo(Operation *op, const ShardingRule &rule,
                                                        const Assignment &assignment,
                                                        int64_t factor, int64_t dim) {
  DimShardingAttr split = assignment.factors[factor];
  int64_t size = rule.factors[factor].size;
  Halo halo{op->getLoc(), dim,
            split,        {getNumShards(mesh_, split), size, getBlockExtent(mesh_, split, size)},
            {},           ""};
  halo.why = "neighbours' elements for " + getCore(op)->getName().getStringRef().str();
  return halo;
}

plan::HaloSource FunctionPartitioner::haloSource(const Halo &halo, Value global,
                                                 const Reach &reach) {
  int64_t extent = typeOf(global).getDimSize(halo.dim);
  auto whole = DimShardingAttr::get(mesh_.getContext(), halo.split.getAxes(), 1);
  return {reach, extent, getBlockExtent(mesh_, whole, extent)};
}

/// The elements of `local` that this rank's iterations read along one dimension. A convolution and
/// the gradient of its kernel read the same elements, which are exchanged once.
Value FunctionPartitioner::readHalo(Halo &halo, Value local, const plan::HaloSource &source,
                                    TypedAttr fill, bool spreads) {
  const plan::Reach &reach = source.reach;
  std::vector<int64_t> read = {halo.dim,    halo.loop.iterations, halo.loop.block, reach.step,
                               reach.first, reach.last,           reach.spread,    spreads};
  Value &buffer = buffers_[{builder_.getBlock(), local.getAsOpaquePointer(), std::move(read),
                            halo.split.getAsOpaquePointer(), fill.getAsOpaquePointer()}];
  if (buffer)
    return buffer;
  halo.plan = plan::planHalo(halo.loop, {source});
  buffer = halo.plan.gathers ? gatherHalo(halo, local, source) : fillBuffer(halo, {local});
  if (!fill)
    return buffer;
  Value element = arith::ConstantOp::create(builder_, halo.loc, fill);
  bool isFilled = isZero(fill) && !halo.plan.readsPadding;
  if (halo.plan.readsOutside && !isFilled)
    buffer = fillOutside(halo, buffer, source, element);
  if (reach.spread > 1 && spreads)
    buffer = spreadBuffer(halo, buffer, source, element);
  return buffer;
}

/// The elements that this rank's iterations read along those dimensions of operand `index` of which
/// neighbours hold parts. `fill` is an element; it is null if nothing outside of the operand is
/// read.
Value FunctionPartitioner::exchangeHalos(Operation *op, const ShardingRule &rule,
                                         const Assignment &assignment, int64_t index,
                                         TypedAttr fill) {
  Value global = op->getOperand(index), local = mapping_.lookup(global);
  for (auto [dim, walked] : llvm::enumerate(rule.operands[index])) {
    if (!walked.reach || walked.factor < 0 || !assignment.factors[walked.factor])
      continue;
    Halo halo = planHalo(op, rule, assignment, walked.factor, dim);
    // Updates are placed by their indices.
    local = readHalo(halo, local, haloSource(halo, global, *walked.reach), fill,
                     /*spreads=*/!isa<AccumulateOp>(op));
  }
  return local;
}

} // namespace mlir::coll
