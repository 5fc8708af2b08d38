//===- partition_route.cc - routes as rounds of permutes ---------------------------===//
//
// plan/route_move.h decides which rank sends which elements. A round is
//
//   slice of the source -> permute -> insert_slice into the buffer
//
// of which positions that differ between ranks come from tables, indexed by the rank's place. Ranks
// that receive nothing in some round write behind their block, and drop that at the end. Where
// contributions are combined, the first rounds collect them in a buffer of the shape
// [contributions, cells, cell].
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/transform/micro/combine.h"
#include "passes/transform/partition.h"

namespace mlir::coll {

namespace plan = ::coll::plan;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether some rank receives nothing in some round.
bool leavesIdle(ArrayRef<plan::RouteRound> rounds, int64_t ranks) {
  return llvm::any_of(rounds, [&](const plan::RouteRound &round) {
    return static_cast<int64_t>(round.pieces.size()) < ranks;
  });
}

int64_t longestIdle(ArrayRef<plan::RouteRound> rounds, int64_t ranks) {
  int64_t longest = 0;
  for (const plan::RouteRound &round : rounds)
    if (static_cast<int64_t>(round.pieces.size()) < ranks)
      longest = std::max(longest, round.extent.front());
  return longest;
}

SmallVector<int64_t> behindOnes(ArrayRef<int64_t> extent, int64_t rank) {
  SmallVector<int64_t> sizes(rank - static_cast<int64_t>(extent.size()), 1);
  sizes.append(extent.begin(), extent.end());
  return sizes;
}

/// Whether every rank receives all contributions to `cells` cells.
bool fillsAll(const plan::RoutedSum &sum, int64_t contributions, int64_t ranks) {
  int64_t pieces = 0;
  for (const plan::RouteRound &round : sum.in)
    pieces += static_cast<int64_t>(round.pieces.size());
  return pieces == contributions * sum.cells * ranks;
}

/// The offsets of all dimensions of `rank` that `start` does not have are 0.
SmallVector<int64_t> padded(ArrayRef<int64_t> start, int64_t rank) {
  SmallVector<int64_t> offsets(start);
  offsets.resize(rank, 0);
  return offsets;
}

} // namespace

/// Moves the pieces of all rounds from `source` to `buffer`. A rank that receives nothing in a
/// round writes at `idle`.
Value FunctionPartitioner::runRounds(ReshardOp op, const Move &move,
                                     ArrayRef<plan::RouteRound> rounds, Value source, Value buffer,
                                     ArrayRef<int64_t> idle) {
  Location loc = op.getLoc();
  SmallVector<StringAttr> axes = plans_.axesOf(move.axes);
  GroupAttr group = groupOf(axes);
  const int64_t ranks = getGroupSize(group, mesh_);
  const int64_t sourceRank = typeOf(source).getRank(), bufferRank = typeOf(buffer).getRank();
  auto table = [&](ArrayRef<SmallVector<int64_t>> starts, int64_t rank) {
    SmallVector<OpFoldResult> offsets;
    for (int64_t dim = 0; dim < rank; ++dim)
      offsets.push_back(byPlace(
          loc, axes, llvm::map_to_vector(starts, [&](const auto &start) { return start[dim]; })));
    return offsets;
  };
  auto attrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder_.getContext(), values);
  };
  for (const plan::RouteRound &round : rounds) {
    SmallVector<SmallVector<int64_t>> from(ranks,
                                           padded(round.pieces.front().sourceStart, sourceRank));
    SmallVector<SmallVector<int64_t>> to(ranks, padded(idle, bufferRank));
    SmallVector<int64_t> pairs;
    for (const plan::RoutePiece &piece : round.pieces) {
      from[piece.source] = padded(piece.sourceStart, sourceRank);
      to[piece.target] = padded(piece.targetStart, bufferRank);
      pairs.append({piece.source, piece.target});
    }
    Value piece = tensor::ExtractSliceOp::create(
        builder_, loc, typeOf(source).clone(round.extent), source, table(from, sourceRank),
        attrs(behindOnes(round.extent, sourceRank)), attrs(SmallVector<int64_t>(sourceRank, 1)));
    if (round.sends) {
      auto permute = PermuteOp::createShortest(builder_, loc, piece, pairs, group, ranks);
      copyNotes(op, permute);
      piece = permute.getResult();
    }
    buffer = tensor::InsertSliceOp::create(builder_, loc, piece, buffer, table(to, bufferRank),
                                           attrs(behindOnes(round.extent, bufferRank)),
                                           attrs(SmallVector<int64_t>(bufferRank, 1)));
  }
  return buffer;
}

/// The cells of `sum` that this rank combines, of the shape [cells, cell]: in the order of the
/// contributions, which is that of the ranks.
Value FunctionPartitioner::combineCells(ReshardOp op, Value value, const Move &move,
                                        const plan::RoutedSum &sum) {
  Location loc = op.getLoc();
  const int64_t ranks = getGroupSize(groupOf(plans_.axesOf(move.axes)), mesh_);
  int64_t contributions = 1;
  for (const plan::RouteRound &round : sum.in)
    for (const plan::RoutePiece &piece : round.pieces)
      contributions = std::max(contributions, piece.targetStart.front() + 1);
  SmallVector<int64_t> shape = {contributions, sum.cells + leavesIdle(sum.in, ranks)};
  shape.append(sum.extent.begin(), sum.extent.end());
  RankedTensorType type = typeOf(value).clone(shape);
  Value stack = createBuffer(loc, type, fillsAll(sum, contributions, ranks));
  stack = runRounds(op, move, sum.in, value, stack, {0, sum.cells});

  ReductionKind kind = op.getSource().getPartialKind();
  TypeAttr accumulation = accumulationOf(kind, type);
  Type element = accumulation ? accumulation.getValue() : type.getElementType();
  SmallVector<int64_t> sizes(shape), cells(ArrayRef<int64_t>(shape).drop_front());
  sizes[0] = 1;
  sizes[1] = cells[0] = sum.cells;
  auto contribution = [&](int64_t number) {
    SmallVector<OpFoldResult> offsets(shape.size(), builder_.getIndexAttr(0)),
        strides(shape.size(), builder_.getIndexAttr(1));
    offsets[0] = builder_.getIndexAttr(number);
    Value part = tensor::ExtractSliceOp::create(
        builder_, loc, type.clone(cells), stack, offsets,
        getAsIndexOpFoldResult(builder_.getContext(), sizes), strides);
    return createConversion(builder_, loc, part, element);
  };
  const bool isMean = kind == ReductionKind::Avg;
  Value total = contribution(0);
  for (int64_t number = 1; number < contributions; ++number)
    total = createCombination(builder_, loc, isMean ? ReductionKind::Sum : kind, total,
                              contribution(number));
  if (isMean)
    total = arith::DivFOp::create(
        builder_, loc, total,
        splat(loc, typeOf(total), builder_.getFloatAttr(element, double(contributions))));
  return createConversion(builder_, loc, total, type.getElementType());
}

/// A tensor for pieces to be put into; of zeros, unless all that is read of it is written first.
Value FunctionPartitioner::createBuffer(Location loc, RankedTensorType type, bool isFilled) {
  if (isFilled)
    return tensor::EmptyOp::create(builder_, loc, type.getShape(), type.getElementType());
  return splat(loc, type, builder_.getZeroAttr(type.getElementType()));
}

/// This rank's block of the route's result.
Value FunctionPartitioner::route(ReshardOp op, Value value, const Move &move) {
  const int64_t ranks = getGroupSize(groupOf(plans_.axesOf(move.axes)), mesh_);
  SmallVector<int64_t> block =
      llvm::map_to_vector(move.result.dims, [](const auto &split) { return split.block; });
  int64_t behind = longestIdle(move.rounds, ranks);
  for (const plan::RoutedSum &sum : move.sums)
    behind = std::max(behind, longestIdle(sum.out, ranks));
  SmallVector<int64_t> shape(block);
  shape.front() += behind;
  bool hasPadding = false;
  for (auto [split, extent] : llvm::zip(move.result.dims, op.getType().getShape()))
    if (!split.axes.empty())
      hasPadding |= split.block * getGroupSize(groupOf(plans_.axesOf(split.axes)), mesh_) != extent;
  Value buffer = createBuffer(op.getLoc(), typeOf(value).clone(shape), !hasPadding);
  buffer = runRounds(op, move, move.rounds, value, buffer, block.front());
  for (const plan::RoutedSum &sum : move.sums)
    buffer =
        runRounds(op, move, sum.out, combineCells(op, value, move, sum), buffer, block.front());
  return fit(op.getLoc(), buffer, block);
}

} // namespace mlir::coll
