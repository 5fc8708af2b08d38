//===- propagation_backward.cc - from uses to operations ---------------------------===//

#include "passes/transform/propagation.h"

#include "dialect/sharding.h"
#include "passes/analysis/assignment.h"

namespace mlir::coll {

/// Result k of a step updates state argument k and has its sharding; other results
/// stay as they are, combined. What the user wrote stays.
void Propagation::decideFunctionResults() {
  SmallVector<ShardingAttr> states;
  for (auto [index, argument] : llvm::enumerate(function_.getArguments())) {
    auto role = function_.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    if (role && role.getValue() == kRoleState)
      states.push_back(decided_.shardings.lookup(argument));
  }
  decided_.returned.clear();
  Operation *terminator = function_.getFunctionBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    auto sharding = function_.getResultAttrOfType<ShardingAttr>(index, kShardingAttr);
    const bool isOpen = !sharding && isa<RankedTensorType>(value.getType());
    if (isOpen && index < states.size())
      sharding = states[index];
    if (isOpen && !sharding)
      sharding = effective(value).withoutPartial();
    decided_.returned.push_back(sharding);
  }
}

/// The sharding that `use` needs; null if any will do.
ShardingAttr Propagation::requestOf(OpOperand &use) {
  Operation *owner = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (owner->hasTrait<OpTrait::IsTerminator>()) {
    Operation *parent = owner->getParentOp();
    if (parent == function_)
      return decided_.returned[number];
    unsigned skipped = isa<scf::ConditionOp>(owner) ? 1 : 0;
    bool follows = isUniformLoop(parent) || isa<scf::IfOp>(parent);
    if (number < skipped || !follows)
      return getReplicatedSharding(mesh_, use.get());
    return decided_.shardings.lookup(parent->getResult(number - skipped));
  }
  if (isUniformLoop(owner)) {
    unsigned bounds = isa<scf::ForOp>(owner) ? 3 : 0;
    return number < bounds ? nullptr : decided_.shardings.lookup(owner->getResult(number - bounds));
  }
  if (auto reshard = dyn_cast<ReshardOp>(owner))
    return pins_.contains(reshard) ? decided_.shardings.lookup(reshard.getResult())
                                   : reshard.getSource();
  const Choice *choice = choiceOf(owner);
  return choice ? choice->operands[number] : getReplicatedSharding(mesh_, use.get());
}

/// If the owner of `use` passes partial values on: the sharding that uses of the owner's result ask
/// for, in terms of the value. Null if that is not known.
///
///   %t = transpose %g; %p = subf %w [tp, -], %t      %t is asked for [tp, -], so %g for [-, tp]
ShardingAttr Propagation::requestBehind(OpOperand &use) {
  Operation *owner = use.getOwner();
  const Choice *choice = choiceOf(owner);
  if (!choice || owner->getNumResults() != 1)
    return nullptr;
  const ShardingRule &rule = ruleOf(owner);
  const int64_t set = choice->assignment.linearSet, number = use.getOperandNumber();
  if (set < 0 || !llvm::is_contained(rule.linearSets[set], number))
    return nullptr;
  auto requests = requests_.find(owner->getResult(0));
  if (requests == requests_.end() || requests->second.size() != 1 ||
      requests->second[0].isPartial())
    return nullptr;
  return getOperandSharding(rule, assignFromResults(owner, rule, requests->second, {}), mesh_,
                            number);
}

/// The split that all uses of `value` agree on, or null. Uses that accept a partial value do not
/// ask for a split.
ShardingAttr Propagation::commonRequest(Value value) {
  ShardingAttr common, have = effective(value);
  for (OpOperand &use : value.getUses()) {
    ShardingAttr request = requestOf(use);
    bool fits =
        request && (!request.isPartial() || (request.getPartialAxes() == have.getPartialAxes() &&
                                             request.getPartialKind() == have.getPartialKind()));
    if (!fits || (common && request.withoutPartial() != common))
      return nullptr;
    common = request.withoutPartial();
  }
  return common;
}

/// Splits an operation's loops further where all uses of its results agree.
void Propagation::refine(Operation *op) {
  auto found = decided_.choices.find(op);
  if (found == decided_.choices.end() || fixed_.contains(op) || op->getNumResults() != 1)
    return;
  Value result = op->getResult(0);
  ShardingAttr request = decided_.shardings.lookup(result) ? commonRequest(result) : nullptr;
  if (!request)
    return;
  auto [known, isNew] = refined_.try_emplace({found->second, request}, nullptr);
  if (isNew)
    known->second = refined(op, *found->second, request);
  if (!known->second)
    return;
  decided_.shardings[result] = known->second->results[0];
  found->second = known->second;
}

/// The choice with its loops split further towards `request`; null if that changes nothing.
const Propagation::Choice *Propagation::refined(Operation *op, const Choice &choice,
                                                ShardingAttr request) {
  const ShardingRule &rule = ruleOf(op);
  Assignment refined = choice.assignment;
  SmallVector<StringAttr> used(refined.linearAxes);
  for (DimShardingAttr split : refined.factors)
    if (split)
      llvm::append_range(used, split.getAxes());
  bool grew = false;
  for (auto [dim, want] : llvm::enumerate(request.getDims())) {
    int64_t factor = rule.results[0][dim].factor;
    if (factor < 0)
      continue;
    DimShardingAttr before = refined.factors[factor];
    ArrayRef<StringAttr> have = before ? before.getAxes() : ArrayRef<StringAttr>();
    ArrayRef<StringAttr> axes = want.getAxes();
    if (axes.size() <= have.size() || axes.take_front(have.size()) != have ||
        overlaps(axes.drop_front(have.size()), used))
      continue;
    refined.factors[factor] = toFactor(want, rule.results[0][dim]);
    if (getResultSharding(rule, refined, mesh_, 0).getDims()[dim] != want) {
      refined.factors[factor] = before;
      continue;
    }
    llvm::append_range(used, axes.drop_front(have.size()));
    grew = true;
  }
  return grew ? makeChoice(op, std::move(refined)) : nullptr;
}

void Propagation::backward(Region &region) {
  for (Block &block : llvm::reverse(region)) {
    for (Operation &op : llvm::reverse(block)) {
      if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
        for (Region &nested : op.getRegions())
          backward(nested);
      else
        refine(&op);
    }
  }
}

} // namespace mlir::coll
