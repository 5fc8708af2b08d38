//===- reshard_cause.cc -----------------------------------------------------------===//

#include "passes/transform/reshard_cause.h"

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"
#include "passes/transform/strategy/step_sharding.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::coll {

namespace {

constexpr size_t kMostUses = 4;
constexpr int kMostHops = 64;

std::string join(ArrayRef<StringAttr> axes) {
  return llvm::join(llvm::map_range(axes, [](StringAttr axis) { return axis.getValue(); }), "+");
}

std::string describeDims(ArrayRef<DimShardingAttr> dims) {
  std::string text;
  for (DimShardingAttr dim : dims)
    text += (text.empty() ? "" : ", ") + (dim.getAxes().empty() ? "-" : join(dim.getAxes()));
  return "[" + text + "]";
}

class CauseBuilder {
public:
  CauseBuilder(ReshardPlans &plans, MeshOp mesh, Value value, ShardingAttr from, ShardingAttr to)
      : plans_(plans), mesh_(mesh), value_(value), from_(from), to_(to),
        type_(cast<RankedTensorType>(value.getType())), builder_(value.getContext()),
        plan_(plans.plan(type_, from, to)) {}

  DictionaryAttr run(ArrayRef<ReshardUse> uses) {
    add("from", describeSharding(from_));
    add("to", describeSharding(to_));
    SmallVector<Attribute> entries;
    for (const ReshardUse &use : uses.take_front(kMostUses))
      entries.push_back(builder_.getDictionaryAttr(
          {builder_.getNamedAttr("op", use.user->getName().getIdentifier()),
           builder_.getNamedAttr("loc", LocationAttr(use.user->getLoc())),
           builder_.getNamedAttr("needs", builder_.getStringAttr(describeSharding(use.needs)))}));
    fields_.append("uses", builder_.getArrayAttr(entries));
    add("bound_bytes", perRank(plan_.leastBytes));
    addRunnerUp(uses);
    if (!uses.empty())
      if (std::string text = adviceFor(uses.front().user); !text.empty())
        add("avoid", text);
    return fields_.getDictionary(value_.getContext());
  }

private:
  void add(StringRef name, StringRef text) { fields_.append(name, builder_.getStringAttr(text)); }
  void add(StringRef name, int64_t number) {
    fields_.append(name, builder_.getI64IntegerAttr(number));
  }

  int64_t perRank(int64_t allBytes) {
    int64_t ranks = 1;
    for (int64_t size : mesh_.getAxisSizes())
      ranks *= size;
    return allBytes / ranks;
  }

  /// The alternative that was considered: another split of the user or the producer, or other
  /// moves.
  void addRunnerUp(ArrayRef<ReshardUse> uses) {
    for (Operation *op : {uses.empty() ? nullptr : uses.front().user, value_.getDefiningOp()})
      if (auto decision = op ? op->getAttrOfType<DictionaryAttr>(kDecisionAttr) : nullptr)
        return addDecision(op, decision);
    ShardingAttr replicated = ShardingAttr::replicated(from_.getMesh(), type_.getRank());
    const int64_t otherBytes = plans_.plan(type_, from_, replicated).wireBytes +
                               plans_.plan(type_, replicated, to_).wireBytes;
    if (!to_.isPartial() && otherBytes > plan_.wireBytes) {
      add("runner_up", "the value whole on every rank, then a slice of it");
      add("runner_up_bytes", perRank(otherBytes));
      return add("why_not", "sends " + std::to_string(perRank(otherBytes)) + " bytes a rank, not " +
                                std::to_string(perRank(plan_.wireBytes)));
    }
    if (llvm::any_of(plan_.moves, [](const Move &m) { return m.kind == MoveKind::AllReduce; })) {
      add("runner_up", "reduce_scatter, then all_gather");
      add("runner_up_bytes", perRank(plan_.wireBytes));
      add("why_not", "sends as many bytes in one call more");
    }
  }

  void addDecision(Operation *op, DictionaryAttr decision) {
    auto number = [&](StringRef name) { return decision.getAs<IntegerAttr>(name).getInt(); };
    auto text = [&](StringRef name) { return decision.getAs<StringAttr>(name).str(); };
    add("runner_up", describeOperation(op) + " split " + text("other"));
    add("runner_up_bytes", number("other_bytes"));
    add("why_not", "sends " + std::to_string(number("other_bytes")) + " bytes and does " +
                       std::to_string(number("other_work")) +
                       " bytes' worth of work a rank; split " + text("chosen") + " it is " +
                       std::to_string(number("chosen_bytes")) + " and " +
                       std::to_string(number("chosen_work")));
  }

  /// The move that gathers a dimension for work that the ranks then all do; null if there is none.
  const Move *findRepeatingGather(Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>() || isa<ReshardOp, scf::ForOp, scf::WhileOp>(user))
      return nullptr;
    ShardingRule rule = getShardingRule(user);
    SmallVector<ShardingAttr> have =
        llvm::map_to_vector(user->getOperands(), [](Value v) { return getRecordedSharding(v); });
    SmallVector<StringAttr> used;
    if (!rule.factors.empty())
      for (DimShardingAttr split :
           assignFromResults(user, rule, getResultShardings(user), have).factors)
        if (split)
          llvm::append_range(used, split.getAxes());
    for (const Move &move : plan_.moves)
      if (move.kind == MoveKind::AllGather &&
          llvm::none_of(plans_.axesOf(move.axes),
                        [&](StringAttr axis) { return llvm::is_contained(used, axis); }))
        return &move;
    return nullptr;
  }

  /// The argument that a dimension of the value comes from, through operations whose rule keeps it.
  std::optional<std::pair<BlockArgument, int64_t>> findOrigin(int64_t dim) {
    Value at = value_;
    for (int hop = 0; hop < kMostHops; ++hop) {
      if (auto argument = dyn_cast<BlockArgument>(at)) {
        if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
          return std::nullopt;
        return std::pair(argument, dim);
      }
      Operation *op = at.getDefiningOp();
      if (auto reshard = dyn_cast<ReshardOp>(op)) {
        at = reshard.getInput();
        continue;
      }
      ShardingRule rule = getShardingRule(op);
      if (rule.factors.empty())
        return std::nullopt;
      const DimFactor walked =
          rule.results[cast<OpResult>(at).getResultNumber()][static_cast<size_t>(dim)];
      if (walked.factor < 0)
        return std::nullopt;
      bool isFound = false;
      for (auto [index, dims] : llvm::enumerate(rule.operands))
        for (auto [number, other] : llvm::enumerate(dims))
          if (!isFound && other.factor == walked.factor && other.unit == walked.unit) {
            isFound = true;
            at = op->getOperand(index);
            dim = static_cast<int64_t>(number);
          }
      if (!isFound)
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::string adviceFor(Operation *user) {
    const Move *gather = findRepeatingGather(user);
    if (!gather)
      return "";
    SmallVector<StringAttr> axes = plans_.axesOf(gather->axes);
    if (isGatherOfParameter(value_, axes))
      return "";
    std::string name = describeOperation(user);
    auto origin = findOrigin(gather->join);
    ShardingAttr have = origin ? getRecordedSharding(origin->first) : nullptr;
    if (!have)
      return "write a sharding with dimension " + std::to_string(gather->join) +
             " whole on the operation that makes this value, so that ranks along " + join(axes) +
             " do not all repeat " + name;
    auto function = cast<func::FuncOp>(origin->first.getOwner()->getParentOp());
    std::string path = getArgumentPath(function, origin->first.getArgNumber());
    return "--shard='" + path + ": " + describeDims(without(have, axes)) +
           "' keeps the argument whole along " + join(axes) + ": no gather, and " +
           std::to_string(bytesMore(origin->first, have, axes)) + " bytes more a rank";
  }

  SmallVector<DimShardingAttr> without(ShardingAttr sharding, ArrayRef<StringAttr> axes) {
    SmallVector<DimShardingAttr> dims;
    for (DimShardingAttr dim : sharding.getDims()) {
      SmallVector<StringAttr> kept;
      for (StringAttr axis : dim.getAxes())
        if (!llvm::is_contained(axes, axis))
          kept.push_back(axis);
      dims.push_back(DimShardingAttr::get(value_.getContext(), kept, 1));
    }
    return dims;
  }

  int64_t bytesMore(Value argument, ShardingAttr have, ArrayRef<StringAttr> axes) {
    auto type = cast<RankedTensorType>(argument.getType());
    auto local = [&](ShardingAttr sharding) {
      return getLocalType(mesh_, sharding, type).getNumElements() * getElementBytes(type);
    };
    ShardingAttr whole = ShardingAttr::get(value_.getContext(), have.getMesh(), without(have, axes),
                                           {}, ReductionKind::Sum);
    return local(whole) - local(have);
  }

  ReshardPlans &plans_;
  MeshOp mesh_;
  Value value_;
  ShardingAttr from_, to_;
  RankedTensorType type_;
  Builder builder_;
  MovePlan plan_;
  NamedAttrList fields_;
};

/// The only tensor that an operation computes its result of, element by element or by moving them;
/// null of others.
Value getOnlyInput(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp)
    return linalgOp.getNumDpsInputs() == 1 && linalgOp.getNumReductionLoops() == 0
               ? linalgOp.getDpsInputs().front()
               : nullptr;
  if (isa<CollectiveOpInterface>(op) || op->getNumRegions() > 0)
    return nullptr;
  Value input;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      if (input)
        return nullptr;
      input = operand;
    }
  return input;
}

bool hasRole(BlockArgument argument, StringRef role) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto attr = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRoleAttr)
                       : nullptr;
  return attr && attr.getValue() == role;
}

} // namespace

std::string describeOperation(Operation *op) {
  std::string own = op->getName().getStringRef().str();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return own;
  std::string name;
  op->getLoc()->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    const StringRef whole = named.getName().getValue();
    name = whole.substr(whole.rfind('/') + 1).str(); // npos + 1 is 0
    return WalkResult::interrupt();
  });
  return name.empty() ? own : name;
}

BlockArgument findParameter(Value value) {
  for (int hop = 0; hop < kMostHops && value; ++hop) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return hasRole(argument, "state") ? argument : nullptr;
    value = getOnlyInput(value.getDefiningOp());
  }
  return nullptr;
}

bool isGatherOfParameter(Value value, ArrayRef<StringAttr> axes) {
  BlockArgument parameter = findParameter(value);
  if (!parameter)
    return false;
  auto splitsBatch = [&](StringAttr axis) {
    return llvm::any_of(parameter.getOwner()->getArguments(), [&](BlockArgument argument) {
      ShardingAttr sharding = hasRole(argument, "batch") ? getRecordedSharding(argument) : nullptr;
      return sharding && llvm::any_of(sharding.getDims(), [&](DimShardingAttr dim) {
               return llvm::is_contained(dim.getAxes(), axis);
             });
    });
  };
  return llvm::all_of(axes, splitsBatch);
}

std::string describeSharding(ShardingAttr sharding) {
  std::string text = describeDims(sharding.getDims());
  if (sharding.isPartial())
    text += ", partial " + stringifyReductionKind(sharding.getPartialKind()).str() + " over " +
            join(sharding.getPartialAxes());
  return text;
}

DictionaryAttr describeCause(ReshardPlans &plans, MeshOp mesh, Value value, ShardingAttr from,
                             ShardingAttr to, ArrayRef<ReshardUse> uses) {
  return CauseBuilder(plans, mesh, value, from, to).run(uses);
}

} // namespace mlir::coll
