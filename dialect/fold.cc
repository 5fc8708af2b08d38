//===- fold.cc - folders and canonicalisation ---------------------------------===//

#include "dialect/dialect.h"
#include "dialect/pin.h"
#include "dialect/sharding.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::coll;

/// Whether `op` has no other member to communicate with: its group is known to be one rank. An
/// operation in flight is never folded, because coll.start needs it.
static bool isAlone(Operation *op, GroupAttr group) {
  if (isa_and_present<StartOp>(op->getParentOp()))
    return false;
  MeshOp mesh = lookupMesh(op, group.getMesh());
  if (group.isMesh() && !mesh)
    return false;
  return getGroupSize(group, mesh) == 1;
}

//===----------------------------------------------------------------------===//
// A collective of one rank is its input
//===----------------------------------------------------------------------===//

template <typename OpT>
static OpFoldResult foldAlone(OpT op) {
  if (isAlone(op, op.getGroup()))
    return op.getInput();
  return {};
}

OpFoldResult AllReduceOp::fold(FoldAdaptor) { return foldAlone(*this); }
OpFoldResult ReduceOp::fold(FoldAdaptor) { return foldAlone(*this); }
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return foldAlone(*this); }
OpFoldResult AllGatherOp::fold(FoldAdaptor) { return foldAlone(*this); }
OpFoldResult GatherOp::fold(FoldAdaptor) { return foldAlone(*this); }
OpFoldResult ScatterOp::fold(FoldAdaptor) { return foldAlone(*this); }
OpFoldResult ReduceScatterOp::fold(FoldAdaptor) { return foldAlone(*this); }
OpFoldResult AllToAllOp::fold(FoldAdaptor) { return foldAlone(*this); }

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  // A rank that is not a target gets zero, not its input.
  return getPairs().empty() ? OpFoldResult() : foldAlone(*this);
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

OpFoldResult AxisIndexOp::fold(FoldAdaptor) {
  MeshOp mesh = lookupMesh(*this, getMeshAttr());
  if (!mesh)
    return {};
  for (auto axis : getAxes().getAsRange<StringAttr>())
    if (mesh.getAxisSize(axis) != 1)
      return {};
  return IntegerAttr::get(IndexType::get(getContext()), 0);
}

LogicalResult GroupOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (!isAlone(*this, getGroup()))
    return failure();
  results.push_back(IntegerAttr::get(IndexType::get(getContext()), 0));
  results.push_back(IntegerAttr::get(IndexType::get(getContext()), 1));
  return success();
}

//===----------------------------------------------------------------------===//
// Reshard
//===----------------------------------------------------------------------===//

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  if (getSource() == getTarget() && !(*this)->hasAttr(kPinAttr))
    return getInput();
  return {};
}

namespace {
/// reshard(reshard(x, a -> b), b -> c) becomes reshard(x, a -> c), unless the value at b has
/// another use, or a and c are partial in different ways.
struct MergeReshards : OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshardOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshardOp>();
    if (op->hasAttr(kPinAttr) || (inner && inner->hasAttr(kPinAttr)))
      return rewriter.notifyMatchFailure(op, "a sharding that the user wrote");
    if (!inner || inner.getTarget() != op.getSource() || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no reshard before it that only it uses");
    if (inner.getSource().isPartial() && op.getTarget().isPartial() &&
        inner.getSource().getPartialKind() != op.getTarget().getPartialKind())
      return rewriter.notifyMatchFailure(op, "partial in two different ways");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(inner.getInput());
      op.setSourceAttr(inner.getSource());
    });
    rewriter.eraseOp(inner);
    return success();
  }
};
} // namespace

void ReshardOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeReshards>(context);
}
