//===- propagation_regain.cc - splits that a first round loses --------------------===//
//
// An argmax with its index needs the dimension that it reduces whole. If that dimension is split,
// it is done in two steps, of which the first keeps the split.
//
// The result of a concatenation, a slice or padding is whole along the dimension that it changes.
// All later work would then be repeated on every rank, so a pin splits the result again:
//
//   c = concat(x [dp, -], y [dp, -]) dim 0    gathered for it, and whole
//   c' [dp, -]                                each rank takes its part, which is free
//
// A sum over ranks that one use needs combined, and of which another takes its part, is combined
// whole. If the first can work on the part as well, half the bytes do:
//
//   g partial dp; n = sum g * g; p' [dp] = p - n * g    all_reduce g, and each rank takes its part
//   g' [dp]                                             reduce_scatter g, and all_reduce n
//
// A loop over layers that collects their gradients combines each of them, because the collected
// tensor is larger. If what follows takes parts, and the loop gathers each layer's parameters
// anyway, each layer's gradient is scattered when it is computed:
//
//   g partial fsdp; all_reduce g; insert g into c    each rank carries whole gradients
//   g' [fsdp]; insert g' into c [fsdp]               reduce_scatter g: each rank carries its part
//
// Micro-batches are summed behind the loop, so with them such a loop carries what each rank
// contributes to all layers:
//
//   g partial fsdp, mb; insert g into c partial fsdp, mb    each rank carries whole gradients
//   g' [fsdp] partial mb; insert g' into c [fsdp] ...       each rank carries its part
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/micro_batches.h"
#include "passes/transform/propagation.h"
#include "passes/transform/staged_reductions.h"

namespace mlir::coll {

namespace {

/// For each dimension of the result, the operand dimension that it continues, or -1; empty for all
/// other operations.
SmallVector<int64_t> getContinuedDims(Operation *op) {
  SmallVector<int64_t> dims;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (int64_t dim = 0; dim < slice.getSourceType().getRank(); ++dim)
      if (!dropped[dim])
        dims.push_back(dim);
  } else if (isa<tensor::ConcatOp, tensor::PadOp>(op)) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    llvm::append_range(dims, llvm::seq<int64_t>(0, type.getRank()));
  }
  return dims;
}

} // namespace

/// The sharding of the result of `op` with each whole dimension split as in all operands.
ShardingAttr Propagation::regained(Operation *op) {
  SmallVector<int64_t> continued = getContinuedDims(op);
  ShardingAttr have = continued.empty() ? nullptr : effective(op->getResult(0));
  if (!have || have.isPartial())
    return have;
  SmallVector<StringAttr> used;
  for (DimShardingAttr dim : have.getDims())
    llvm::append_range(used, dim.getAxes());
  size_t count = isa<tensor::ConcatOp>(op) ? op->getNumOperands() : 1;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<DimShardingAttr> dims(have.getDims());
  for (auto [dim, split] : llvm::enumerate(dims)) {
    auto splitOf = [&, dim = dim](size_t operand) {
      return effective(op->getOperand(operand)).getDims()[continued[dim]];
    };
    DimShardingAttr first = splitOf(0);
    bool isCommon = llvm::all_of(llvm::seq<size_t>(1, count), [&](size_t operand) {
      return splitOf(operand).getAxes() == first.getAxes();
    });
    bool isFree = llvm::none_of(first.getAxes(),
                                [&](StringAttr axis) { return llvm::is_contained(used, axis); });
    if (!split.getAxes().empty() || first.getAxes().empty() || !isCommon || !isFree ||
        type.getDimSize(dim) < getNumShards(mesh_, first))
      continue;
    split = DimShardingAttr::get(op->getContext(), first.getAxes(), 1);
    llvm::append_range(used, first.getAxes());
  }
  return ShardingAttr::get(op->getContext(), have.getMesh(), dims, {}, ReductionKind::Sum);
}

/// Selecting reductions over a dimension that is split evenly; whether there are any.
bool Propagation::stageReductions() {
  SmallVector<std::tuple<linalg::GenericOp, unsigned, int64_t>> found;
  function_->walk([&](linalg::GenericOp op) {
    std::optional<unsigned> loop = findSelectingLoop(op);
    if (!loop || fixed_.contains(op))
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      std::optional<unsigned> dim = map.getResultPosition(getAffineDimExpr(*loop, op.getContext()));
      if (!dim)
        continue;
      DimShardingAttr split = effective(input->get()).getDims()[*dim];
      int64_t parts = getNumShards(mesh_, split), extent = op.getStaticLoopRanges()[*loop];
      if (parts > 1 && extent > parts && extent % parts == 0) {
        found.push_back({op, *loop, parts});
        return;
      }
    }
  });
  for (auto [op, loop, parts] : found)
    stageReduction(op, loop, parts);
  // New operations may have the addresses of the erased ones, so cached answers are dropped.
  kinds_.forget();
  chosen_.clear();
  captured_.clear();
  return !found.empty();
}

/// Inserts pins where the round lost splits; whether there are any.
bool Propagation::regainSplits() {
  SmallVector<std::pair<Operation *, ShardingAttr>> found;
  function_->walk([&](Operation *op) {
    ShardingAttr request = decided_.choices.contains(op) ? regained(op) : nullptr;
    if (request && request != effective(op->getResult(0)))
      found.push_back({op, request});
  });
  for (auto [op, request] : found)
    insertPin(op->getResult(0), request,
              "what follows " + op->getName().getStringRef() + " is split again");
  return !found.empty();
}

void Propagation::insertPin(Value value, ShardingAttr request, const Twine &why) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto pin = ReshardOp::create(builder, value.getLoc(), value, request, request);
  pin->setAttr(kWhyAttr, builder.getStringAttr(why));
  value.replaceAllUsesExcept(pin.getResult(), pin);
  pins_.insert(pin);
  regained_.push_back(pin);
}

/// The part of a combined sum that a use of `value` asks for, over the axes of the sum alone, while
/// others ask for all of it; null if there is none, or more than one.
ShardingAttr Propagation::scattered(Value value) {
  if (!decided_.combined.contains(value) || !value.getDefiningOp())
    return nullptr;
  ShardingAttr partial = decided_.shardings.lookup(value), part;
  for (OpOperand &use : value.getUses()) {
    ShardingAttr request = requestOf(use);
    if (!request || request == partial.withoutPartial())
      continue;
    if (request.isPartial() || (part && part != request))
      return nullptr;
    for (auto [have, want] : llvm::zip_equal(partial.getDims(), request.getDims()))
      if (!(want == have) && !llvm::all_of(want.getAxes(), [&, &have = have](StringAttr axis) {
            return llvm::is_contained(have.getAxes(), axis) ||
                   llvm::is_contained(partial.getPartialAxes(), axis);
          }))
        return nullptr;
    part = request;
  }
  return part;
}

/// Inserts pins where sums are combined whole for one use, and taken apart for another; whether
/// there are any.
bool Propagation::scatterSums() {
  SmallVector<std::pair<Value, ShardingAttr>> found;
  function_->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (ShardingAttr part = scattered(result))
        found.push_back({result, part});
  });
  for (auto [value, part] : found) {
    insertPin(value, part, "a part of the sum");
    sums_.insert(regained_.back());
  }
  return !found.empty();
}

/// The axes along which something that a loop's body uses is split, and gathered in each iteration.
static void addGathered(ShardingAttr have, ShardingAttr want, SmallVectorImpl<StringAttr> &axes) {
  SmallVector<StringAttr> kept;
  for (DimShardingAttr dim : want.getDims())
    llvm::append_range(kept, dim.getAxes());
  for (DimShardingAttr dim : have.getDims())
    llvm::copy_if(dim.getAxes(), std::back_inserter(axes),
                  [&](StringAttr axis) { return !llvm::is_contained(kept, axis); });
}

SmallVector<StringAttr> Propagation::axesGatheredIn(Operation *loop) {
  SmallVector<StringAttr> axes;
  loop->walk([&](Operation *op) {
    if (op == loop)
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      const bool isTensor = isa<RankedTensorType>(operand.get().getType());
      if (ShardingAttr want = isTensor ? requestOf(operand) : nullptr)
        addGathered(effective(operand.get()), want, axes);
    }
  });
  return axes;
}

/// The part of `value` that all uses ask for, in terms of the value where they pass sums on; null
/// if they differ. With `mayReadAll`, uses may also take the value as it is: with a part, the norm
/// of all gradients is a sum over ranks.
ShardingAttr Propagation::commonPart(Value value, bool mayReadAll) {
  ShardingAttr part, have = effective(value);
  for (OpOperand &use : value.getUses()) {
    ShardingAttr request = requestOf(use);
    if (request && request.isPartial())
      request = requestBehind(use);
    if (mayReadAll && request == have)
      continue;
    if (!request || request.isPartial() || (part && part != request))
      return nullptr;
    part = request;
  }
  return part;
}

/// The sharding of a layer's gradient that `insert` puts into the ones that its loop carries: a
/// part, and a sum over micro-batches if there are any. Null if it is not one, or stays whole.
ShardingAttr Propagation::collectedPart(tensor::InsertSliceOp insert,
                                        ArrayRef<StringAttr> gathered) {
  Value gradient = insert.getSource();
  ShardingAttr have = decided_.shardings.lookup(gradient);
  Operation *loop = insert->getParentOp(), *yield = insert->getBlock()->getTerminator();
  auto isTime = [](StringAttr axis) { return axis == kTimeAxis; };
  if (!isa<BlockArgument>(insert.getDest()) || !gradient.getDefiningOp() || !gradient.hasOneUse() ||
      !insert->hasOneUse() || *insert->user_begin() != yield || !have)
    return nullptr;
  const bool isCombined = decided_.combined.contains(gradient);
  if (!isCombined && llvm::none_of(have.getPartialAxes(), isTime))
    return nullptr;
  ShardingAttr part = commonPart(loop->getResult(insert->use_begin()->getOperandNumber()),
                                 /*mayReadAll=*/isCombined);
  if (!part)
    return nullptr;
  const llvm::SmallBitVector dropped = insert.getDroppedDims();
  SmallVector<DimShardingAttr> dims(have.getDims());
  SmallVector<StringAttr> scattered;
  size_t own = 0;
  for (auto [dim, want] : llvm::enumerate(part.getDims())) {
    const size_t at = dropped[dim] ? dims.size() : own++;
    if (want.getAxes().empty())
      continue;
    const bool isPart =
        at < dims.size() && dims[at].getAxes().empty() &&
        insert.getSourceType().getDimSize(at) == insert.getDestType().getDimSize(dim) &&
        llvm::all_of(
            want.getAxes(),
            [&](StringAttr axis) {
              return !isTime(axis) && llvm::is_contained(gathered, axis) &&
                     llvm::is_contained(have.getPartialAxes(), axis);
            });
    if (!isPart)
      return nullptr;
    dims[at] = want;
    llvm::append_range(scattered, want.getAxes());
  }
  if (scattered.empty())
    return nullptr;
  SmallVector<StringAttr> rest; // summed behind the loop
  if (!isCombined)
    llvm::copy_if(have.getPartialAxes(), std::back_inserter(rest),
                  [&](StringAttr axis) { return !llvm::is_contained(scattered, axis); });
  return ShardingAttr::get(have.getContext(), have.getMesh(), dims, rest, have.getPartialKind());
}

/// Inserts pins where loops over layers collect gradients of which each rank needs a part; whether
/// there are any.
bool Propagation::scatterCollected() {
  SmallVector<std::pair<Value, ShardingAttr>> found;
  llvm::DenseMap<Operation *, SmallVector<StringAttr>> gathered; // by loop
  function_->walk([&](tensor::InsertSliceOp insert) {
    Operation *loop = insert->getParentOp();
    if (!isa<scf::ForOp, scf::WhileOp>(loop) || !isUniformLoop(loop))
      return;
    auto [axes, isNew] = gathered.try_emplace(loop);
    if (isNew)
      axes->second = axesGatheredIn(loop);
    if (ShardingAttr part = collectedPart(insert, axes->second))
      found.push_back({insert.getSource(), part});
  });
  for (auto [value, part] : found)
    insertPin(value, part, "a part of the gradient of one layer");
  return !found.empty();
}

/// Undoes regainSplits(), scatterSums() or scatterCollected().
void Propagation::dropRegained() {
  for (ReshardOp pin : regained_) {
    pins_.remove(pin);
    sums_.erase(pin);
    pin.getResult().replaceAllUsesWith(pin.getInput());
    pin.erase();
  }
  regained_.clear();
}

} // namespace mlir::coll
