//===- ring.cc - reductions to roots and gathers from them, round a ring ----===//
//
// Rank i sends to rank i + 1. With 3 ranks and blocks 0, 1, 2, of which rank i is the root of
// block i, in 2 steps each way:
//
//   rank 0: sends its block 2, adds to block 1, sends it, adds to block 0   (the sum, complete)
//   rank 1: sends its block 0, adds to block 2, sends it, adds to block 1
//   rank 2: sends its block 1, adds to block 0, sends it, adds to block 2
//
// Back from the roots, each block goes on from neighbour to neighbour until all ranks have it.
//
//===----------------------------------------------------------------------------===//

#include "passes/transform/roots/ring.h"

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/transform/micro/combine.h"

namespace mlir::coll {

namespace {

/// Builds the loop that replaces one collective.
class Ring {
public:
  Ring(CollectiveOpInterface op, int64_t ranks)
      : builder_(op), loc_(op.getLoc()), group_(op.getCommGroup()), ranks_(ranks),
        why_(op->getAttrOfType<StringAttr>(kWhyAttr)) {
    SmallVector<Attribute> axes(group_.getAxes().begin(), group_.getAxes().end());
    position_ = AxisIndexOp::create(builder_, loc_, group_.getMesh(), builder_.getArrayAttr(axes));
  }

  Value reduceScatter(ReduceScatterOp op);
  Value allGather(AllGatherOp op);

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder_, loc_, value); }

  /// (position - `back` - step) mod ranks, for step < ranks and back <= 2.
  Value blockBehind(int64_t back, Value step) {
    Value most = arith::AddIOp::create(builder_, loc_, position_, constant(2 * ranks_ - back));
    Value number = arith::SubIOp::create(builder_, loc_, most, step);
    return arith::RemUIOp::create(builder_, loc_, number, constant(ranks_));
  }

  /// The position of block number `block` in `whole`, whose blocks have the type `part`.
  struct Place {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  Place placeOf(RankedTensorType part, int64_t dim, Value block) {
    Place place;
    place.offsets.assign(part.getRank(), builder_.getIndexAttr(0));
    place.strides.assign(part.getRank(), builder_.getIndexAttr(1));
    place.sizes = getAsIndexOpFoldResult(builder_.getContext(), part.getShape());
    place.offsets[dim] =
        arith::MulIOp::create(builder_, loc_, block, constant(part.getDimSize(dim))).getResult();
    return place;
  }

  /// The value that the previous rank sends.
  Value pass(Value value) {
    auto permute = PermuteOp::create(builder_, loc_, value.getType(), value, ArrayRef<int64_t>(),
                                     group_, /*shift=*/1, /*wraps=*/true);
    if (why_)
      permute->setAttr(kWhyAttr, why_);
    return permute.getResult();
  }

  scf::ForOp createLoop(ValueRange carried) {
    auto loop =
        scf::ForOp::create(builder_, loc_, constant(0), constant(ranks_ - 1), constant(1), carried);
    builder_.setInsertionPointToStart(loop.getBody());
    return loop;
  }

  OpBuilder builder_;
  Location loc_;
  GroupAttr group_;
  int64_t ranks_;
  StringAttr why_;
  Value position_;
};

Value Ring::reduceScatter(ReduceScatterOp op) {
  auto part = cast<RankedTensorType>(op.getType());
  Type element = op.getAccumulation().value_or(part.getElementType());
  int64_t dim = op.getDimAttr().getInt();
  auto own = [&](Value block) {
    Place place = placeOf(part, dim, block);
    Value slice = tensor::ExtractSliceOp::create(builder_, loc_, part, op.getInput(), place.offsets,
                                                 place.sizes, place.strides);
    return createConversion(builder_, loc_, slice, element);
  };
  Value first = own(blockBehind(1, constant(0)));
  scf::ForOp loop = createLoop(first);
  Value arrived = pass(loop.getRegionIterArg(0));
  Value sum =
      arith::AddFOp::create(builder_, loc_, arrived, own(blockBehind(2, loop.getInductionVar())));
  scf::YieldOp::create(builder_, loc_, sum);
  builder_.setInsertionPointAfter(loop);
  return createConversion(builder_, loc_, loop.getResult(0), part.getElementType());
}

Value Ring::allGather(AllGatherOp op) {
  auto whole = cast<RankedTensorType>(op.getType());
  auto part = cast<RankedTensorType>(op.getInput().getType());
  int64_t dim = op.getDimAttr().getInt();
  auto insert = [&](Value value, Value into, Value block) -> Value {
    Place place = placeOf(part, dim, block);
    return tensor::InsertSliceOp::create(builder_, loc_, value, into, place.offsets, place.sizes,
                                         place.strides);
  };
  Value empty = tensor::EmptyOp::create(builder_, loc_, whole.getShape(), whole.getElementType());
  scf::ForOp loop = createLoop({op.getInput(), insert(op.getInput(), empty, position_)});
  Value arrived = pass(loop.getRegionIterArg(0));
  Value filled = insert(arrived, loop.getRegionIterArg(1), blockBehind(1, loop.getInductionVar()));
  scf::YieldOp::create(builder_, loc_, ValueRange{arrived, filled});
  return loop.getResult(1);
}

/// The operation that made the value, looking through changes of shape.
Operation *findSource(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// The gathers of `value`, looking through changes of shape.
void findGathers(Value value, llvm::SetVector<Operation *> &found) {
  for (Operation *user : value.getUsers()) {
    if (isa<AllGatherOp>(user))
      found.insert(user);
    else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      findGathers(user->getResult(0), found);
  }
}

/// Gathers, and sums of floats whose order is free.
bool isRingSum(Operation *op) {
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  return !scatter ||
         (scatter.getReduction() == ReductionKind::Sum && scatter.getOrder() == Order::Any &&
          isa<FloatType>(getElementTypeOrSelf(scatter.getType())));
}

void expand(Operation *op, MeshOp mesh) {
  auto collective = cast<CollectiveOpInterface>(op);
  int64_t ranks = getGroupSize(collective.getCommGroup(), mesh);
  if (ranks == 1)
    return; // no neighbour to send to
  Ring ring(collective, ranks);
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  Value result = scatter ? ring.reduceScatter(scatter) : ring.allGather(cast<AllGatherOp>(op));
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

} // namespace

void expandRings(FunctionOpInterface function, MeshOp mesh) {
  llvm::SetVector<Operation *> found;
  function->walk([&](RootUpdateOp update) {
    if (update.getRoute() != Route::Ring)
      return;
    for (Value gradient : update.getGradients())
      if (Operation *source = findSource(gradient); isa_and_nonnull<ReduceScatterOp>(source))
        found.insert(source);
    for (Value result : update.getResults().take_front(update.getForward()))
      findGathers(result, found);
  });
  for (Operation *op : found)
    if (isRingSum(op))
      expand(op, mesh);
}

} // namespace mlir::coll
