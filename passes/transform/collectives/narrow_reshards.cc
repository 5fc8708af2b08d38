//===- narrow_reshards.cc - sends values in the type that their uses read ----------===//
//
//   %g f32, partial over "dp"
//   %w = coll.reshard %g            %n = truncf %g      (each contribution is rounded)
//   %b = truncf %w             ->   %b = coll.reshard %n
//
// If nothing is summed, both forms give the same bits.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/analysis/sharding_map.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_NARROWRESHARDSPASS
#include "passes/passes.h.inc"

namespace {

class NarrowReshardsPass : public impl::NarrowReshardsPassBase<NarrowReshardsPass> {
public:
  using NarrowReshardsPassBase::NarrowReshardsPassBase;

  void runOnOperation() override {
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp reshard) { reshards.push_back(reshard); });
    // The last ones first: those that they read may then be narrowed, too.
    bool changed = false;
    for (ReshardOp reshard : llvm::reverse(reshards)) {
      Type type = narrowUse(reshard);
      if (!type || !mayNarrow(reshard))
        continue;
      narrow(reshard, type);
      changed = true;
    }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// The type to which all uses narrow the value; null if one does not, or they differ.
  static Type narrowUse(ReshardOp reshard) {
    Type type;
    for (Operation *user : reshard->getUsers()) {
      auto truncation = dyn_cast<arith::TruncFOp>(user);
      if (!truncation || (type && type != truncation.getType()))
        return nullptr;
      type = truncation.getType();
    }
    return type;
  }

  bool mayNarrow(ReshardOp reshard) {
    ShardingAttr source = reshard.getSource();
    if (source.isPartial())
      return sums && source.getPartialKind() == ReductionKind::Sum &&
             !reshard.getTarget().isPartial();
    // A value that every rank has in whole is only sliced; nothing is sent.
    return llvm::any_of(source.getDims(),
                        [](DimShardingAttr dim) { return !dim.getAxes().empty(); });
  }

  static void narrow(ReshardOp reshard, Type type) {
    OpBuilder builder(reshard);
    auto first = cast<arith::TruncFOp>(*reshard->user_begin());
    auto rounded = arith::TruncFOp::create(builder, first.getLoc(), type, reshard.getInput());
    setShardings(rounded, {reshard.getSource()});
    auto moved = ReshardOp::create(builder, reshard.getLoc(), rounded.getResult(),
                                   reshard.getSource(), reshard.getTarget());
    moved->setDiscardableAttrs(reshard->getDiscardableAttrDictionary());
    for (Operation *user : llvm::make_early_inc_range(reshard->getUsers())) {
      user->getResult(0).replaceAllUsesWith(moved.getResult());
      user->erase();
    }
    reshard.erase();
  }
};

} // namespace
} // namespace mlir::coll
