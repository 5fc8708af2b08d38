//===- insert_reshards.cc - L2 to L3 ---------------------------------------------===//
//
// First it collects the sharding that each operand of each operation needs. Then all targets of one
// value are planned together, so that it is reduced or gathered once for all of them:
//
//   %g partial over "dp", one user needs it whole, one split over "dp"
//   %whole = coll.reshard %g, %split = coll.reshard %whole   (one all_reduce, and a slice)
//
//===----------------------------------------------------------------------------===//

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"
#include "passes/passes.h"
#include "passes/transform/reshard_cause.h"
#include "passes/transform/strategy/step_sharding.h"
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

/// The reduction by which any of these are partial; nullopt if there are several.
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
  ShardingAttr recorded(Value value) {
    ShardingAttr sharding = getRecordedSharding(value);
    return sharding ? sharding : getReplicatedSharding(mesh_, value);
  }

  /// The shardings that `op` needs for its operands; null for an operand that is not a tensor.
  SmallVector<ShardingAttr> neededOperands(Operation *op, ArrayRef<ShardingAttr> have) {
    SmallVector<ShardingAttr> needed = llvm::map_to_vector(
        op->getOperands(), [&](Value v) { return getReplicatedSharding(mesh_, v); });
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      for (auto [sharding, given] : llvm::zip(needed, getTerminatorShardings(op)))
        sharding = given ? given : sharding;
    } else if (isUniformLoop(op)) {
      unsigned bounds = isa<scf::ForOp>(op) ? 3 : 0;
      for (auto [index, sharding] : llvm::enumerate(getResultShardings(op)))
        needed[index + bounds] = sharding;
    } else if (auto reshard = dyn_cast<ReshardOp>(op)) {
      needed[0] = reshard.getSource();
    } else if (auto reduction = dyn_cast<AllReduceOp>(op)) {
      ShardingAttr result = getResultShardings(op)[0];
      if (have[0].isPartial() && result == have[0].withoutPartial())
        needed[0] = have[0];
    } else if (!isa<scf::WhileOp, scf::IfOp, CollectiveOpInterface>(op)) {
      const OpKinds::Kind &kind = kinds_.kindOf(op);
      SmallVector<ShardingAttr> results = getResultShardings(op);
      SmallVector<ShardingAttr> &known = needed_.at(kind.number, {have, results});
      if (known.empty())
        known = neededByRule(op, kind.rule, results, have, std::move(needed));
      return known;
    }
    return needed;
  }

  SmallVector<ShardingAttr> neededByRule(Operation *op, const ShardingRule &rule,
                                         ArrayRef<ShardingAttr> results,
                                         ArrayRef<ShardingAttr> have,
                                         SmallVector<ShardingAttr> needed) {
    Assignment assignment = assignFromResults(op, rule, results, have);
    for (auto [index, sharding] : llvm::enumerate(needed))
      if (sharding)
        sharding = getOperandSharding(rule, assignment, mesh_, index);
    return needed;
  }

  /// The uses of one value that need the same sharding.
  struct Demand {
    ShardingAttr needed;
    SmallVector<OpOperand *> uses;
    Operation *user = nullptr; // the first one
  };

  void demand(OpOperand &use, ShardingAttr needed, Operation *user) {
    SmallVector<Demand> &demands = demands_[use.get()];
    auto found =
        llvm::find_if(demands, [&](const Demand &demand) { return demand.needed == needed; });
    if (found == demands.end()) {
      demands.push_back({needed, {}, user});
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
      targets.push_back(demand.needed);
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
    SmallVector<ShardingAttr> needed = neededOperands(op, have);
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      if (needed[index] && needed[index] != have[index] &&
          !isNeutral(operand.get(), have[index], needed[index]))
        demand(operand, needed[index], op);
    }
    // The regions of `op` read values by index, and need them whole.
    for (Value captured : getCapturedTensors(op)) {
      ShardingAttr needed = getReplicatedSharding(mesh_, captured);
      if (recorded(captured) == needed)
        continue;
      for (OpOperand &use : captured.getUses())
        if (op->isProperAncestor(use.getOwner()))
          demand(use, needed, op);
    }
  }

  /// A neutral constant is its own contribution.
  bool isNeutral(Value value, ShardingAttr have, ShardingAttr needed) {
    return needed.isPartial() && !have.isPartial() && have == needed.withoutPartial() &&
           isIdentity(value, needed.getPartialKind());
  }

  /// All reshards of a value stand directly after it. Contributions to one reduction cannot be used
  /// in another: a value that is partial in another way is combined first.
  void serve(Value value, SmallVector<Demand> &demands) {
    ShardingAttr have = recorded(value);
    SmallVector<ShardingAttr> targets;
    for (const Demand &demand : demands)
      targets.push_back(combines(have, demand.needed) ? have.withoutPartial() : demand.needed);
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
      if (target != demand.needed)
        result = createReshard(builder, result, target, demand.needed, demand);
      for (OpOperand *use : demand.uses)
        use->set(result);
    }
  }

  static bool combines(ShardingAttr have, ShardingAttr needed) {
    return have.isPartial() && needed.isPartial() &&
           have.getPartialKind() != needed.getPartialKind();
  }

  /// The target that is laid out as the base is, if there is one.
  ShardingAttr baseSharding(RankedTensorType type, const Layout &base,
                            ArrayRef<ShardingAttr> targets, ReductionKind kind) {
    for (ShardingAttr target : targets)
      if (plans_.layoutOf(type, target) == base)
        return target;
    return plans_.shardingOf(type, base, kind);
  }

  Value createReshard(OpBuilder &builder, Value value, ShardingAttr have, ShardingAttr needed,
                      ArrayRef<Demand> demands) {
    Operation *user = demands.front().user;
    SmallVector<ReshardUse> uses = llvm::map_to_vector(
        demands, [](const Demand &demand) { return ReshardUse{demand.user, demand.needed}; });
    auto reshard = ReshardOp::create(builder, value.getLoc(), value, have, needed);
    setShardings(reshard, {needed});
    if (!explains_)
      return reshard.getResult();
    DictionaryAttr cause = describeCause(plans_, mesh_, value, have, needed, uses);
    reshard->setAttr(kCauseAttr, cause);
    reshard->setAttr(kWhyAttr, builder.getStringAttr(explain(value, have, needed, user, cause)));
    return reshard.getResult();
  }

  /// Why the reshard is there, and the bytes that its plan sends beyond the bound.
  std::string explain(Value value, ShardingAttr have, ShardingAttr needed, Operation *user,
                      DictionaryAttr known) {
    auto type = cast<RankedTensorType>(value.getType());
    const MovePlan plan = plans_.plan(type, have, needed);
    std::string why = cause(value, plan, have, needed, user, known);
    if (plan.wireBytes > plan.leastBytes)
      why +=
          "; its moves send " + std::to_string(plan.wireBytes) + " bytes" +
          (plan.paddingBytes > 0 ? ", " + std::to_string(plan.paddingBytes) + " of padding" : "") +
          ", at least " + std::to_string(plan.leastBytes) + " are needed: " + plan.reason;
    return why;
  }

  std::string cause(Value value, const MovePlan &plan, ShardingAttr have, ShardingAttr needed,
                    Operation *user, DictionaryAttr known) {
    auto type = cast<RankedTensorType>(value.getType());
    const std::string name = describeOperation(user);
    if (have.isPartial() && !needed.isPartial())
      return stringifyReductionKind(have.getPartialKind()).str() + " of the contributions over " +
             quoted(have.getPartialAxes()) + " for " + name;
    auto sent = llvm::find_if(plan.moves, [](const Move &move) { return move.join >= 0; });
    if (sent == plan.moves.end())
      return plan.wireBytes == 0 ? "each rank takes its part for " + name
                                 : "ranks trade their parts for " + name;
    std::string dim = std::to_string(sent->join);
    if (!needed.getDims()[sent->join].getAxes().empty())
      return name + " needs dimension " + dim + " split over " +
             quoted(needed.getDims()[sent->join].getAxes());
    if (sent->kind == MoveKind::AllGather && !isGatherOfParameter(value, plans_.axesOf(sent->axes)))
      user->emitRemark() << "needs dimension " << dim << " of operand " << type
                         << " whole: gathered over " << quoted(plans_.axesOf(sent->axes)) << ", "
                         << bytesOf(type) << " bytes" << consequence(*sent, known)
                         << runnerUp(known);
    BlockArgument parameter = findParameter(value);
    if (!parameter)
      return name + " needs dimension " + dim + " whole";
    auto step = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
    return name + " needs dimension " + dim + " of " +
           getArgumentPath(step, parameter.getArgNumber()) + " whole";
  }

  /// The cost of a gather besides its bytes, and the annotation that would make it unnecessary.
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

  /// The alternative that was considered, and why it was not taken.
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
  OpKinds kinds_;
  ShardingAnswers<SmallVector<ShardingAttr>> needed_;
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
