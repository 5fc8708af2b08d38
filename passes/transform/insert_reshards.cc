//===- insert_reshards.cc - L2 to L3 ---------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_INSERTRESHARDSPASS
#include "passes/passes.h.inc"

namespace {

std::string quoted(ArrayRef<StringAttr> axes) {
  std::string text;
  for (StringAttr axis : axes)
    text += (text.empty() ? "\"" : ", \"") + axis.str() + "\"";
  return text;
}

/// The first dimension that `target` needs whole although `source` splits it in
/// another way; -1 where nothing has to be gathered.
int64_t findGatheredDim(ShardingAttr source, ShardingAttr target) {
  for (auto [dim, pair] : llvm::enumerate(llvm::zip(source.getDims(), target.getDims()))) {
    auto [have, want] = pair;
    if (!have.getAxes().empty() && have != want)
      return dim;
  }
  return -1;
}

class FunctionReshards {
public:
  FunctionReshards(FunctionOpInterface function, MeshOp mesh) : function_(function), mesh_(mesh) {}

  void run() {
    SmallVector<Operation *> ops;
    function_->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function_)
        ops.push_back(op);
      bool nests = op == function_ || isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op);
      return nests ? WalkResult::advance() : WalkResult::skip();
    });
    for (Operation *op : ops)
      visit(op);
  }

private:
  ShardingAttr replicated(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto symbol = FlatSymbolRefAttr::get(mesh_.getSymNameAttr());
    return type ? ShardingAttr::replicated(symbol, type.getRank()) : nullptr;
  }

  ShardingAttr recorded(Value value) {
    ShardingAttr sharding = getRecordedSharding(value);
    return sharding ? sharding : replicated(value);
  }

  /// What `op` needs its operands to be; null for what is not a tensor.
  SmallVector<ShardingAttr> wanted(Operation *op, ArrayRef<ShardingAttr> have) {
    SmallVector<ShardingAttr> want =
        llvm::map_to_vector(op->getOperands(), [&](Value v) { return replicated(v); });
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      for (auto [wish, given] : llvm::zip(want, getTerminatorShardings(op)))
        wish = given ? given : wish;
    } else if (isUniformLoop(op)) {
      unsigned bounds = isa<scf::ForOp>(op) ? 3 : 0;
      for (auto [index, sharding] : llvm::enumerate(getResultShardings(op)))
        want[index + bounds] = sharding;
    } else if (auto reshard = dyn_cast<ReshardOp>(op)) {
      want[0] = reshard.getSource();
    } else if (auto reduction = dyn_cast<AllReduceOp>(op)) {
      ShardingAttr result = getResultShardings(op)[0];
      if (have[0].isPartial() && result == have[0].withoutPartial())
        want[0] = have[0];
    } else if (!isa<scf::WhileOp, scf::IfOp, CollectiveOpInterface>(op)) {
      ShardingRule rule = getShardingRule(op);
      Assignment assignment = assignFromResults(op, rule, getResultShardings(op), have);
      for (auto [index, wish] : llvm::enumerate(want))
        if (wish)
          wish = getOperandSharding(rule, assignment, mesh_, index);
    }
    return want;
  }

  void visit(Operation *op) {
    SmallVector<ShardingAttr> have =
        llvm::map_to_vector(op->getOperands(), [&](Value v) { return recorded(v); });
    SmallVector<ShardingAttr> want = wanted(op, have);
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      if (!want[index] || want[index] == have[index] ||
          isNeutral(operand.get(), have[index], want[index]))
        continue;
      operand.set(getReshard(operand.get(), have[index], want[index], op));
    }
    for (Value captured : getCapturedTensors(op))
      gatherCaptured(op, captured);
  }

  /// The regions of `op` index the whole value.
  void gatherCaptured(Operation *op, Value captured) {
    ShardingAttr have = recorded(captured), want = replicated(captured);
    if (have == want)
      return;
    Value whole = getReshard(captured, have, want, op);
    captured.replaceUsesWithIf(
        whole, [&](OpOperand &use) { return op->isProperAncestor(use.getOwner()); });
  }

  /// A neutral constant is its own contribution.
  bool isNeutral(Value value, ShardingAttr have, ShardingAttr want) {
    return want.isPartial() && !have.isPartial() && have == want.withoutPartial() &&
           isIdentity(value, want.getPartialKind());
  }

  /// One reshard per value and target, right behind the value. Contributions to one
  /// reduction are none to another: what is partial in another way is combined first.
  Value getReshard(Value value, ShardingAttr have, ShardingAttr want, Operation *user) {
    if (Value cached = reshards_.lookup({value, want}))
      return cached;
    std::pair key(value, want);
    if (have.isPartial() && want.isPartial() && have.getPartialKind() != want.getPartialKind()) {
      value = getReshard(value, have, have.withoutPartial(), user);
      have = have.withoutPartial();
    }
    OpBuilder builder(user);
    builder.setInsertionPointAfterValue(value);
    auto reshard = ReshardOp::create(builder, value.getLoc(), value, have, want);
    setShardings(reshard, {want});
    reshard->setAttr(kWhyAttr, builder.getStringAttr(explain(value, have, want, user)));
    return reshards_[key] = reshard.getResult();
  }

  std::string explain(Value value, ShardingAttr have, ShardingAttr want, Operation *user) {
    std::string name = user->getName().getStringRef().str();
    if (have.isPartial() && !want.isPartial())
      return stringifyReductionKind(have.getPartialKind()).str() + " of the contributions over " +
             quoted(have.getPartialAxes()) + " for " + name;
    int64_t dim = findGatheredDim(have, want);
    if (dim < 0)
      return "each rank takes its part for " + name;
    auto type = cast<RankedTensorType>(value.getType());
    Type element = type.getElementType();
    unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
    int64_t bytes = type.getNumElements() * llvm::divideCeil(bits, 8);
    user->emitRemark() << "needs dimension " << dim << " of operand " << type
                       << " whole: gathered over " << quoted(have.getDims()[dim].getAxes()) << ", "
                       << bytes << " bytes";
    return name + " needs dimension " + std::to_string(dim) + " whole";
  }

  FunctionOpInterface function_;
  MeshOp mesh_;
  llvm::DenseMap<std::pair<Value, ShardingAttr>, Value> reshards_;
};

class InsertReshardsPass : public impl::InsertReshardsPassBase<InsertReshardsPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registerCollDialects(registry);
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal())
        if (MeshOp mesh = getFunctionMesh(function))
          FunctionReshards(function, mesh).run();
  }
};

} // namespace
} // namespace mlir::coll
