//===- staged_reductions.cc ------------------------------------------------------===//

#include "passes/transform/staged_reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::coll {

namespace {

/// Comparisons and selections: their results are among the inputs, so it does not matter how often
/// the initial value takes part.
bool onlySelects(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::AndIOp, arith::OrIOp,
               arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
               arith::MinUIOp>(inner);
  });
}

/// Whether result k is one of element k and accumulator k.
bool isPairwise(linalg::GenericOp op) {
  unsigned count = op.getNumDpsInits();
  Block *body = op.getBody();
  for (auto [index, yielded] : llvm::enumerate(body->getTerminator()->getOperands())) {
    Operation *choice = yielded.getDefiningOp();
    Value element = body->getArgument(index), accumulator = body->getArgument(count + index);
    if (!choice || element.getType() != accumulator.getType())
      return false;
    ValueRange operands = choice->getOperands();
    if (isa<arith::SelectOp>(choice))
      operands = operands.drop_front();
    if (operands.size() != 2 || !llvm::is_contained(operands, element) ||
        !llvm::is_contained(operands, accumulator))
      return false;
  }
  return true;
}

class Stager {
public:
  Stager(linalg::GenericOp op, unsigned loop, int64_t parts)
      : op_(op), loop_(loop), parts_(parts), loops_(op.getNumLoops()), builder_(op) {}

  void run() {
    SmallVector<Value> inputs, inits;
    SmallVector<AffineMap> partMaps, wholeMaps;
    for (OpOperand *input : op_.getDpsInputOperands()) {
      AffineMap map = op_.getMatchingIndexingMap(input);
      inputs.push_back(expand(input->get(), map));
      partMaps.push_back(map.isFunctionOfDim(loop_) ? expandMap(map) : widen(map));
    }
    for (OpOperand &init : op_.getDpsInitsMutable()) {
      AffineMap map = widen(op_.getMatchingIndexingMap(&init));
      map = map.insertResult(part(), map.getNumResults());
      inits.push_back(repeat(init.get()));
      partMaps.push_back(map);
    }
    SmallVector<utils::IteratorType> iterators = op_.getIteratorTypesArray();
    SmallVector<utils::IteratorType> partIterators(iterators);
    partIterators.push_back(utils::IteratorType::parallel);
    linalg::GenericOp parts = create(inputs, inits, partMaps, partIterators);
    for (OpOperand &init : op_.getDpsInitsMutable()) {
      AffineMap map = op_.getMatchingIndexingMap(&init);
      wholeMaps.push_back(map.insertResult(builder_.getAffineDimExpr(loop_), map.getNumResults()));
    }
    for (OpOperand &init : op_.getDpsInitsMutable())
      wholeMaps.push_back(op_.getMatchingIndexingMap(&init));
    linalg::GenericOp whole = create(parts.getResults(), op_.getDpsInits(), wholeMaps, iterators);
    op_.replaceAllUsesWith(whole.getResults());
    op_.erase();
  }

private:
  /// The loop over the parts comes last.
  AffineExpr part() { return builder_.getAffineDimExpr(loops_); }

  AffineMap widen(AffineMap map) {
    return AffineMap::get(loops_ + 1, 0, map.getResults(), op_.getContext());
  }

  /// The reduced dimension becomes two: parts, and what is in them.
  AffineMap expandMap(AffineMap map) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : map.getResults()) {
      if (expr == builder_.getAffineDimExpr(loop_))
        results.push_back(part());
      results.push_back(expr);
    }
    return AffineMap::get(loops_ + 1, 0, results, op_.getContext());
  }

  Value expand(Value value, AffineMap map) {
    if (!map.isFunctionOfDim(loop_))
      return value;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    auto type = cast<RankedTensorType>(value.getType());
    for (auto [expr, extent] : llvm::zip(map.getResults(), type.getShape())) {
      groups.push_back({static_cast<int64_t>(shape.size())});
      if (expr != builder_.getAffineDimExpr(loop_)) {
        shape.push_back(extent);
        continue;
      }
      groups.back().push_back(shape.size() + 1);
      shape.append({parts_, extent / parts_});
    }
    return tensor::ExpandShapeOp::create(builder_, op_.getLoc(), type.clone(shape), value, groups);
  }

  /// The initial value once for each part, as a new last dimension.
  Value repeat(Value init) {
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(parts_);
    Value empty = tensor::EmptyOp::create(builder_, op_.getLoc(), shape, type.getElementType());
    unsigned rank = shape.size();
    AffineMap identity = builder_.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
    auto repeated = linalg::GenericOp::create(
        builder_, op_.getLoc(), empty.getType(), init, empty,
        ArrayRef<AffineMap>{identity.dropResult(rank - 1), identity}, parallel,
        [](OpBuilder &nested, Location loc, ValueRange arguments) {
          linalg::YieldOp::create(nested, loc, arguments[0]);
        });
    return repeated.getResult(0);
  }

  linalg::GenericOp create(ValueRange inputs, ValueRange inits, ArrayRef<AffineMap> maps,
                           ArrayRef<utils::IteratorType> iterators) {
    auto generic = linalg::GenericOp::create(builder_, op_.getLoc(), inits.getTypes(), inputs,
                                             inits, maps, iterators);
    IRMapping mapping;
    op_.getRegion().cloneInto(&generic.getRegion(), mapping);
    return generic;
  }

  linalg::GenericOp op_;
  unsigned loop_;
  int64_t parts_;
  unsigned loops_;
  OpBuilder builder_;
};

} // namespace

std::optional<unsigned> findSelectingLoop(linalg::GenericOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  bool isPlain = llvm::all_of(op.getIndexingMapsArray(),
                              [](AffineMap map) { return map.isProjectedPermutation(); });
  if (reductions.size() != 1 || op.getNumDpsInits() < 2 || !isPlain || !onlySelects(op) ||
      op.getNumDpsInits() != op.getNumDpsInputs() || !op.hasPureTensorSemantics() ||
      !isPairwise(op))
    return std::nullopt;
  return reductions.front();
}

void stageReduction(linalg::GenericOp op, unsigned loop, int64_t parts) {
  Stager(op, loop, parts).run();
}

} // namespace mlir::coll
