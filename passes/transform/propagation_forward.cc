//===- propagation_forward.cc - from operands to results ---------------------------===//

#include "passes/transform/propagation.h"

#include "dialect/pin.h"
#include "dialect/sharding.h"

namespace mlir::coll {

/// Whether the pin leaves no dimension open.
static bool isClosed(ReshardOp pin) {
  auto attribute = pin->getAttrOfType<DictionaryAttr>(kPinAttr);
  return attribute.getAs<DenseI64ArrayAttr>(kPinOpenDims).empty();
}

void Propagation::forward() {
  decided_.shardings.clear();
  for (auto [index, argument] : llvm::enumerate(function_.getArguments())) {
    auto given = function_.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (ShardingAttr sharding = given ? given : getReplicatedSharding(mesh_, argument))
      decided_.shardings[argument] = sharding;
  }
  visitBlock(function_.getFunctionBody().front());
  for (Value operand : function_.getFunctionBody().front().getTerminator()->getOperands())
    combine(operand);
}

void Propagation::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    visit(&op);
}

void Propagation::visit(Operation *op) {
  if (isa<scf::ForOp, scf::WhileOp>(op) && isUniformLoop(op))
    return visitLoop(op);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch);
  if (auto reduction = dyn_cast<AllReduceOp>(op); reduction && visitUserReduction(reduction))
    return;
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return visitReshard(reshard);
  if (isa<scf::WhileOp>(op) || isa<CollectiveOpInterface>(op))
    return visitOpaque(op);
  visitRule(op);
}

void Propagation::setResults(Operation *op, ArrayRef<ShardingAttr> shardings) {
  auto fixed = fixed_.find(op);
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    ShardingAttr sharding = shardings[index];
    if (fixed != fixed_.end() && fixed->second[index])
      sharding = fixed->second[index];
    if (sharding)
      decided_.shardings[result] = sharding;
  }
}

/// The shardings that uses of a result asked for in the previous round, and those of the pins after
/// it.
SmallVector<ShardingAttr, 2> Propagation::knownRequests(Value result) const {
  SmallVector<ShardingAttr, 2> requests = requests_.lookup(result);
  if (pins_.empty())
    return requests;
  for (Operation *user : result.getUsers())
    if (auto pin = dyn_cast<ReshardOp>(user); pin && pins_.contains(pin))
      if (!pin->hasAttr(kPinAttr) || isClosed(pin))
        if (!llvm::is_contained(requests, pin.getTarget()))
          requests.push_back(pin.getTarget());
  return requests;
}

/// Adds the shardings of pins after the results that leave dimensions open, which are split as
/// `assignment` splits them. Returns whether one is new.
bool Propagation::addOpenRequests(Operation *op, const Assignment &assignment,
                                  MutableArrayRef<SmallVector<ShardingAttr, 2>> requests) {
  bool isNew = false;
  if (!hasOpenPin(op))
    return isNew;
  for (OpResult result : op->getResults()) {
    for (Operation *user : result.getUsers()) {
      auto pin = dyn_cast<ReshardOp>(user);
      if (!pin || !pins_.contains(pin) || !pin->hasAttr(kPinAttr) || isClosed(pin))
        continue;
      SmallVector<ShardingAttr, 2> &known = requests[result.getResultNumber()];
      ShardingAttr request = pinTarget(
          pin, getResultSharding(ruleOf(op), assignment, mesh_, result.getResultNumber()));
      if (llvm::is_contained(known, request))
        continue;
      known.push_back(request);
      isNew = true;
    }
  }
  return isNew;
}

bool Propagation::hasOpenPin(Operation *op) const {
  return !pins_.empty() && llvm::any_of(op->getUsers(), [&](Operation *user) {
    return pins_.contains(user) && user->hasAttr(kPinAttr) && !isClosed(cast<ReshardOp>(user));
  });
}

/// The choice that follows from the operands and the known requests. If an open pin depends on the
/// choice, or carried values count as zeros for now, it is made for this operation alone instead of
/// once for its kind.
const Propagation::Choice *Propagation::choose(Operation *op) {
  SmallVector<ShardingAttr> operands = effectiveOperands(op);
  SmallVector<SmallVector<ShardingAttr, 2>> requests =
      llvm::map_to_vector(op->getResults(), [&](Value result) { return knownRequests(result); });
  if (!neutral_.empty() || hasOpenPin(op))
    return chooseAnew(op, operands, requests);
  SmallVector<ArrayRef<ShardingAttr>> lists = {operands};
  llvm::append_range(lists, requests);
  const unsigned kind = 2 * kinds_.kindOf(op).number + (decidesByCost_ ? 1 : 0);
  const Choice *&known = chosen_.at(kind, lists);
  if (!known)
    known = chooseAnew(op, operands, requests);
  return known;
}

const Propagation::Choice *
Propagation::chooseAnew(Operation *op, ArrayRef<ShardingAttr> operands,
                        MutableArrayRef<SmallVector<ShardingAttr, 2>> requests) {
  const ShardingRule &rule = ruleOf(op);
  auto isZero = [&](Value value) { return isNeutral(value); };
  SmallVector<int64_t> rejected;
  Assignment assignment =
      chooseAssignment(op, rule, mesh_, {operands, requests, isZero, decidesByCost_}, rejected);
  if (addOpenRequests(op, assignment, requests)) {
    rejected.clear();
    assignment =
        chooseAssignment(op, rule, mesh_, {operands, requests, isZero, decidesByCost_}, rejected);
  }
  Choice *choice = makeChoice(op, std::move(assignment));
  choice->rejected = std::move(rejected);
  return choice;
}

void Propagation::visitRule(Operation *op) {
  const Choice *choice = choose(op);
  for (int64_t index : choice->rejected)
    combine(op->getOperand(index));
  if (op->getNumRegions() > 0) {
    auto [captured, isNew] = captured_.try_emplace(op);
    if (isNew)
      captured->second = getCapturedTensors(op);
    for (Value value : captured->second)
      combine(value);
  }
  setResults(op, choice->results);
  if (auto fixed = fixed_.find(op); fixed != fixed_.end())
    choice =
        makeChoice(op, assignFromResults(op, ruleOf(op), fixed->second, effectiveOperands(op)));
  decided_.choices[op] = choice;
}

/// A reduction that the user wrote over exactly the partial axes takes the partial
/// value as it is: nothing needs to be inserted.
bool Propagation::visitUserReduction(AllReduceOp op) {
  ShardingAttr input = effective(op.getInput());
  bool takes = input.isPartial() && op.getGroup().isMesh() &&
               input.getPartialAxes() == op.getGroup().getAxes() &&
               input.getPartialKind() == ReductionKind::Sum &&
               (op.getReduction() == ReductionKind::Sum || op.getReduction() == ReductionKind::Avg);
  if (takes)
    setResults(op, {input.withoutPartial()});
  return takes;
}

/// A change of sharding that stands in the IR already, by hand or from an earlier run.
void Propagation::visitReshard(ReshardOp op) {
  ShardingAttr input = effective(op.getInput());
  if (input.isPartial() && input != op.getSource() && !pins_.contains(op))
    combine(op.getInput());
  setResults(op, {pins_.contains(op) ? pinTarget(op, input) : op.getTarget()});
}

void Propagation::visitOpaque(Operation *op) {
  for (Value operand : op->getOperands())
    combine(operand);
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        if (ShardingAttr sharding = getReplicatedSharding(mesh_, argument))
          decided_.shardings[argument] = sharding;
      visitBlock(block);
      for (Value operand : block.getTerminator()->getOperands())
        combine(operand);
    }
  }
  setResults(op, llvm::map_to_vector(op->getResults(),
                                     [&](Value v) { return getReplicatedSharding(mesh_, v); }));
}

} // namespace mlir::coll
