//===- isolate_micro_batches.cc - merging over time as a step of its own ----------===//
//
// A change of sharding that merges micro-batches is cut in two: first over the micro-batches, which
// a rank does alone, then over ranks, once.
//
//   partial over dp, micro -> [dp]    =>    partial over dp, micro -> partial over dp -> [dp]
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/micro_batches.h"
#include "passes/analysis/sharding_map.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_ISOLATEMICROBATCHESPASS
#include "passes/passes.h.inc"

namespace {

bool names(ShardingAttr sharding, StringAttr axis) {
  auto has = [&](ArrayRef<StringAttr> axes) { return llvm::is_contained(axes, axis); };
  return has(sharding.getPartialAxes()) ||
         llvm::any_of(sharding.getDims(), [&](DimShardingAttr dim) { return has(dim.getAxes()); });
}

SmallVector<StringAttr> without(ArrayRef<StringAttr> axes, StringAttr axis) {
  return llvm::filter_to_vector(axes, [&](StringAttr other) { return other != axis; });
}

class IsolateMicroBatchesPass : public impl::IsolateMicroBatchesPassBase<IsolateMicroBatchesPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<CollDialect>();
  }

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>(kStepFunction);
    mesh_ = step && !step.isExternal() ? getFunctionMesh(step) : nullptr;
    axis_ = StringAttr::get(&getContext(), kTimeAxis);
    if (!mesh_ || !mesh_.getAxisSize(kTimeAxis))
      return;
    gatherResults(step);
    SmallVector<ReshardOp> reshards;
    step.walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp reshard : reshards)
      if (names(reshard.getSource(), axis_) && !names(reshard.getTarget(), axis_))
        isolate(reshard);
  }

private:
  /// `sharding` of a tensor of `type` once all micro-batches are there.
  ShardingAttr merged(RankedTensorType type, ShardingAttr sharding) {
    SmallVector<DimShardingAttr> dims(sharding.getDims());
    for (auto [number, dim] : llvm::enumerate(dims)) {
      if (!llvm::is_contained(dim.getAxes(), axis_))
        continue;
      // A rank's micro-batches lie one after the other, padding included.
      int64_t block = getBlockExtent(mesh_, dim, type.getDimSize(number));
      SmallVector<StringAttr> axes = without(dim.getAxes(), axis_);
      int64_t unit = axes.empty() ? 1 : block * *mesh_.getAxisSize(kTimeAxis);
      dim = DimShardingAttr::get(&getContext(), axes, unit);
    }
    return ShardingAttr::get(&getContext(), sharding.getMesh(), dims,
                             without(sharding.getPartialAxes(), axis_), sharding.getPartialKind());
  }

  /// The results of the step are those of the whole batch.
  void gatherResults(func::FuncOp step) {
    Operation *terminator = step.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      auto sharding = step.getResultAttrOfType<ShardingAttr>(index, kShardingAttr);
      if (!sharding || !names(sharding, axis_))
        continue;
      ShardingAttr whole = merged(cast<RankedTensorType>(operand.get().getType()), sharding);
      step.setResultAttr(index, kShardingAttr, whole);
      OpBuilder builder(terminator);
      operand.set(create(builder, terminator->getLoc(), operand.get(), sharding, whole,
                         "the rows of all micro-batches"));
    }
  }

  Value create(OpBuilder &builder, Location loc, Value value, ShardingAttr from, ShardingAttr to,
               const Twine &why) {
    auto reshard = ReshardOp::create(builder, loc, value, from, to);
    setShardings(reshard, {to});
    reshard->setAttr(kWhyAttr, builder.getStringAttr(why));
    return reshard.getResult();
  }

  void isolate(ReshardOp op) {
    ShardingAttr between = merged(op.getType(), op.getSource());
    if (between == op.getTarget())
      return;
    OpBuilder builder(op);
    op.getInputMutable().set(create(builder, op.getLoc(), op.getInput(), op.getSource(), between,
                                    "what the micro-batches contribute"));
    op.setSourceAttr(between);
  }

  MeshOp mesh_;
  StringAttr axis_;
};

} // namespace
} // namespace mlir::coll
