//===- insert_reshards.cc - L2 to L3 ---------------------------------------------===//
//
// First all demands are collected: which operand of which operation needs its value how. Then all
// targets of one value are planned together, so that it is reduced or gathered once for all of
// them:
//
//   %g partial over "dp", one user needs it whole, one split over "dp"
//   %whole = coll.reshard %g, %split = coll.reshard %whole   (one all_reduce, and a slice)
//
//===----------------------------------------------------------------------------===//

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/alike_ops.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"
#include "passes/passes.h"
#include "passes/transform/reshard_cause.h"
#include "llvm/ADT/MapVector.h"

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

/// The reduction by which any of these are partial; nullopt where there are several.
std::optional<ReductionKind> commonKind(ShardingAttr have, ArrayRef<ShardingAttr> targets) {
  ReductionKind kind = ReductionKind::Sum;
  bool found = false;
  auto agrees = [&](ShardingAttr sharding) {
    if (!sharding.isPartial())
      return true;
    if (!found)
      kind = sharding.getPartialKind();
    found = true;
    return kind == sharding.getPartialKind();
  };
  if (!agrees(have) || !llvm::all_of(targets, agrees))
    return std::nullopt;
  return kind;
}

class FunctionReshards {
public:
  FunctionReshards(FunctionOpInterface function, MeshOp mesh, ReshardPlans plans, bool explains)
      : function_(function), mesh_(mesh), plans_(std::move(plans)), explains_(explains) {}

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
    for (Operation *op : llvm::reverse(ops))
      if (auto pin = dyn_cast<ReshardOp>(op))
        skip(pin);
    for (auto &[value, demands] : demands_)
      serve(value, demands);
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
      const AlikeOps::Kind &kind = alike_.kindOf(op);
      SmallVector<ShardingAttr> results = getResultShardings(op);
      SmallVector<ShardingAttr> &known = wanted_.at(kind.number, {have, results});
      if (known.empty())
        known = wantedByRule(op, kind.rule, results, have, std::move(want));
      return known;
    }
    return want;
  }

  SmallVector<ShardingAttr> wantedByRule(Operation *op, const ShardingRule &rule,
                                         ArrayRef<ShardingAttr> results,
                                         ArrayRef<ShardingAttr> have,
                                         SmallVector<ShardingAttr> want) {
    Assignment assignment = assignFromResults(op, rule, results, have);
    for (auto [index, wish] : llvm::enumerate(want))
      if (wish)
        wish = getOperandSharding(rule, assignment, mesh_, index);
    return want;
  }

  /// The uses of one value that need it in one way.
  struct Demand {
    ShardingAttr want;
    SmallVector<OpOperand *> uses;
    Operation *user = nullptr; // the first one
  };

  void demand(OpOperand &use, ShardingAttr want, Operation *user) {
    SmallVector<Demand> &demands = demands_[use.get()];
    auto found = llvm::find_if(demands, [&](const Demand &demand) { return demand.want == want; });
    if (found == demands.end()) {
      demands.push_back({want, {}, user});
      found = std::prev(demands.end());
    }
    found->uses.push_back(&use);
  }

  /// Leaves out a change of sharding whose result no use reads as it is, where that is cheaper: the
  /// uses then take what they need from its input.
  ///
  ///   %p = reshard %g (partial over sp) to whole; all uses read %p split over sp
  ///   %g is scattered over sp
  void skip(ReshardOp pin) {
    auto found = demands_.find(pin.getResult());
    if (found == demands_.end() || demands_.contains(pin.getInput()))
      return;
    SmallVector<ShardingAttr> targets;
    int64_t numUses = 0;
    for (const Demand &demand : found->second) {
      targets.push_back(demand.want);
      numUses += static_cast<int64_t>(demand.uses.size());
    }
    ShardingAttr from = pin.getSource(), through = pin.getTarget();
    const bool isAllServed = numUses == std::distance(pin->use_begin(), pin->use_end());
    if (!isAllServed || recorded(pin.getInput()) != from || !commonKind(from, targets) ||
        through.isPartial() || llvm::any_of(targets, [](auto t) { return t.isPartial(); }))
      return;
    RankedTensorType type = pin.getType();
    const double now =
        plans_.plan(type, from, through).cost + plans_.planTargets(type, through, targets).cost;
    if (plans_.planTargets(type, from, targets).cost >= now)
      return;
    SmallVector<Demand> demands = std::move(found->second);
    demands_.erase(found);
    pin.getResult().replaceAllUsesWith(pin.getInput());
    demands_[pin.getInput()] = std::move(demands);
    pin.erase();
  }

  void visit(Operation *op) {
    SmallVector<ShardingAttr> have =
        llvm::map_to_vector(op->getOperands(), [&](Value v) { return recorded(v); });
    SmallVector<ShardingAttr> want = wanted(op, have);
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      if (want[index] && want[index] != have[index] &&
          !isNeutral(operand.get(), have[index], want[index]))
        demand(operand, want[index], op);
    }
    // The regions of `op` index whole values.
    for (Value captured : getCapturedTensors(op)) {
      ShardingAttr want = replicated(captured);
      if (recorded(captured) == want)
        continue;
      for (OpOperand &use : captured.getUses())
        if (op->isProperAncestor(use.getOwner()))
          demand(use, want, op);
    }
  }

  /// A neutral constant is its own contribution.
  bool isNeutral(Value value, ShardingAttr have, ShardingAttr want) {
    return want.isPartial() && !have.isPartial() && have == want.withoutPartial() &&
           isIdentity(value, want.getPartialKind());
  }

  /// All reshards of a value stand right behind it. Contributions to one reduction are none to
  /// another: what is partial in another way is combined first.
  void serve(Value value, SmallVector<Demand> &demands) {
    ShardingAttr have = recorded(value);
    SmallVector<ShardingAttr> targets;
    for (const Demand &demand : demands)
      targets.push_back(combines(have, demand.want) ? have.withoutPartial() : demand.want);
    auto type = cast<RankedTensorType>(value.getType());
    Value base = value;
    ShardingAttr from = have;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    std::optional<ReductionKind> kind = commonKind(have, targets);
    if (targets.size() > 1 && kind) {
      TargetsPlan plan = plans_.planTargets(type, have, targets);
      if (plan.base != plans_.layoutOf(type, have)) {
        from = baseSharding(type, plan.base, targets, *kind);
        base = createReshard(builder, value, have, from, demands);
      }
    }
    for (auto [demand, target] : llvm::zip_equal(demands, targets)) {
      Value result = base;
      if (target != from)
        result = createReshard(builder, base, from, target, demand);
      if (target != demand.want)
        result = createReshard(builder, result, target, demand.want, demand);
      for (OpOperand *use : demand.uses)
        use->set(result);
    }
  }

  static bool combines(ShardingAttr have, ShardingAttr want) {
    return have.isPartial() && want.isPartial() && have.getPartialKind() != want.getPartialKind();
  }

  /// The target that is laid out as the base is, if there is one.
  ShardingAttr baseSharding(RankedTensorType type, const Layout &base,
                            ArrayRef<ShardingAttr> targets, ReductionKind kind) {
    for (ShardingAttr target : targets)
      if (plans_.layoutOf(type, target) == base)
        return target;
    return plans_.shardingOf(type, base, kind);
  }

  Value createReshard(OpBuilder &builder, Value value, ShardingAttr have, ShardingAttr want,
                      ArrayRef<Demand> demands) {
    Operation *user = demands.front().user;
    SmallVector<ReshardUse> uses = llvm::map_to_vector(
        demands, [](const Demand &demand) { return ReshardUse{demand.user, demand.want}; });
    auto reshard = ReshardOp::create(builder, value.getLoc(), value, have, want);
    setShardings(reshard, {want});
    if (!explains_)
      return reshard.getResult();
    DictionaryAttr cause = describeCause(plans_, mesh_, value, have, want, uses);
    reshard->setAttr(kCauseAttr, cause);
    reshard->setAttr(kWhyAttr, builder.getStringAttr(explain(value, have, want, user, cause)));
    return reshard.getResult();
  }

  /// Why the reshard is there, and the bytes that its plan sends beyond the bound.
  std::string explain(Value value, ShardingAttr have, ShardingAttr want, Operation *user,
                      DictionaryAttr known) {
    auto type = cast<RankedTensorType>(value.getType());
    const MovePlan plan = plans_.plan(type, have, want);
    std::string why = cause(type, plan, have, want, user, known);
    if (plan.wireBytes > plan.leastBytes)
      why += "; its moves send " + std::to_string(plan.wireBytes) + " bytes, at least " +
             std::to_string(plan.leastBytes) + " are needed";
    return why;
  }

  std::string cause(RankedTensorType type, const MovePlan &plan, ShardingAttr have,
                    ShardingAttr want, Operation *user, DictionaryAttr known) {
    std::string name = user->getName().getStringRef().str();
    if (have.isPartial() && !want.isPartial())
      return stringifyReductionKind(have.getPartialKind()).str() + " of the contributions over " +
             quoted(have.getPartialAxes()) + " for " + name;
    auto sent = llvm::find_if(plan.moves, [](const Move &move) { return move.join >= 0; });
    if (sent == plan.moves.end())
      return plan.wireBytes == 0 ? "each rank takes its part for " + name
                                 : "ranks trade their parts for " + name;
    std::string dim = std::to_string(sent->join);
    if (!want.getDims()[sent->join].getAxes().empty())
      return name + " needs dimension " + dim + " split over " +
             quoted(want.getDims()[sent->join].getAxes());
    if (sent->kind == MoveKind::AllGather)
      user->emitRemark() << "needs dimension " << dim << " of operand " << type
                         << " whole: gathered over " << quoted(plans_.axesOf(sent->axes)) << ", "
                         << bytesOf(type) << " bytes" << consequence(*sent, known)
                         << runnerUp(known);
    return name + " needs dimension " + dim + " whole";
  }

  /// What a gather costs beside its bytes, and which annotation would make it needless.
  std::string consequence(const Move &gather, DictionaryAttr known) {
    auto avoid = known.getAs<StringAttr>("avoid");
    if (!avoid)
      return "";
    int64_t ranks = 1;
    for (StringAttr axis : plans_.axesOf(gather.axes))
      ranks *= mesh_.getAxisSize(axis.getValue()).value_or(1);
    return "; from here on " + std::to_string(ranks) + " ranks do the same work (" +
           std::to_string(ranks) +
           " times the time of their own parts); to avoid it: " + avoid.str();
  }

  /// The other way that was considered, and why it lost.
  static std::string runnerUp(DictionaryAttr known) {
    auto other = known.getAs<StringAttr>("runner_up"), why = known.getAs<StringAttr>("why_not");
    return other && why ? "; instead: " + other.str() + ", which " + why.str() : "";
  }

  static int64_t bytesOf(RankedTensorType type) {
    Type element = type.getElementType();
    unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
    return type.getNumElements() * llvm::divideCeil(bits, 8);
  }

  FunctionOpInterface function_;
  MeshOp mesh_;
  ReshardPlans plans_;
  bool explains_;
  AlikeOps alike_;
  ShardingAnswers<SmallVector<ShardingAttr>> wanted_;
  llvm::MapVector<Value, SmallVector<Demand>> demands_;
};

class InsertReshardsPass : public impl::InsertReshardsPassBase<InsertReshardsPass> {
public:
  using InsertReshardsPassBase::InsertReshardsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCollDialects(registry);
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      MeshOp mesh = function.isExternal() ? nullptr : getFunctionMesh(function);
      if (!mesh)
        continue;
      FailureOr<ReshardPlans> plans = ReshardPlans::create(mesh, topology);
      if (failed(plans))
        return signalPassFailure();
      FunctionReshards(function, mesh, std::move(*plans), explain).run();
    }
  }
};

} // namespace
} // namespace mlir::coll
