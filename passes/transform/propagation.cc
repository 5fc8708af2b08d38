//===- propagation.cc ------------------------------------------------------------===//

#include "passes/transform/propagation.h"

#include "dialect/sharding.h"

namespace mlir::coll {

const ShardingRule &Propagation::ruleOf(Operation *op) {
  auto [entry, isNew] = rules_.try_emplace(op);
  if (isNew)
    entry->second = getShardingRule(op);
  return entry->second;
}

ShardingAttr Propagation::replicated(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return nullptr;
  auto symbol = FlatSymbolRefAttr::get(MeshOp(mesh_).getSymNameAttr());
  return ShardingAttr::replicated(symbol, type.getRank());
}

/// What uses see: the sharding with partial values combined where they must be.
ShardingAttr Propagation::effective(Value value) const {
  ShardingAttr sharding = shardings_.lookup(value);
  if (!sharding)
    return replicated(value);
  return combined_.contains(value) ? sharding.withoutPartial() : sharding;
}

SmallVector<ShardingAttr> Propagation::effectiveOperands(Operation *op) const {
  return llvm::map_to_vector(op->getOperands(), [&](Value v) { return effective(v); });
}

bool Propagation::isNeutral(Value value) const {
  return neutral_.contains(value) || isIdentity(value, ReductionKind::Sum);
}

void Propagation::combine(Value value) {
  ShardingAttr sharding = effective(value);
  if (sharding && sharding.isPartial())
    changed_ |= combined_.insert(value).second;
}

/// Where an operation cannot give a result the sharding that the user wants, such as that of a
/// concatenation along its dimension, a reshard behind it does.
void Propagation::detachWishes() {
  SmallVector<Operation *> ops;
  function_->walk([&](Operation *op) {
    if (op->hasAttr(kShardingsAttr) &&
        !isa<scf::ForOp, scf::WhileOp, scf::IfOp, ReshardOp, CollectiveOpInterface>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    SmallVector<ShardingAttr> shardings = mlir::coll::getResultShardings(op);
    if (llvm::any_of(shardings, [](ShardingAttr wish) { return wish && wish.isPartial(); }))
      continue;
    const ShardingRule &rule = ruleOf(op);
    Assignment assignment = assignFromResults(op, rule, shardings, effectiveOperands(op));
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      ShardingAttr wish = shardings[index];
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!wish || !type)
        continue;
      ShardingAttr own = getResultSharding(rule, assignment, mesh_, index);
      if (splitAlike(mesh_, own, wish, type.getShape()))
        continue;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      auto reshard = ReshardOp::create(builder, op->getLoc(), result, own, wish);
      setShardings(reshard, {wish});
      std::string why = op->getName().getStringRef().str() + " cannot be split as wanted by itself";
      reshard->setAttr(kWhyAttr, builder.getStringAttr(why));
      result.replaceAllUsesExcept(reshard.getResult(), reshard);
      shardings[index] = own;
    }
    setShardings(op, shardings);
  }
}

void Propagation::run() {
  detachWishes();
  function_->walk([&](Operation *op) {
    if (op->hasAttr(kShardingsAttr))
      fixed_[op] = mlir::coll::getResultShardings(op);
  });
  do {
    changed_ = false;
    forward();
  } while (changed_);
  decideFunctionResults();
  backward(function_.getFunctionBody());
}

void Propagation::record() {
  function_->walk([&](Operation *op) {
    SmallVector<ShardingAttr> shardings;
    for (Value result : op->getResults())
      shardings.push_back(shardings_.lookup(result));
    if (llvm::any_of(shardings, [](ShardingAttr sharding) { return sharding != nullptr; }))
      setShardings(op, shardings);
  });
  for (auto [index, argument] : llvm::enumerate(function_.getArguments()))
    if (ShardingAttr sharding = shardings_.lookup(argument))
      function_.setArgAttr(index, kShardingAttr, sharding);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

void Propagation::forward() {
  shardings_.clear();
  for (auto [index, argument] : llvm::enumerate(function_.getArguments())) {
    auto given = function_.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (ShardingAttr sharding = given ? given : replicated(argument))
      shardings_[argument] = sharding;
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
      shardings_[result] = sharding;
  }
}

void Propagation::visitRule(Operation *op) {
  const ShardingRule &rule = ruleOf(op);
  SmallVector<ShardingAttr> operands = effectiveOperands(op);
  SmallVector<int64_t> rejected;
  Assignment assignment = assignFromOperands(
      op, rule, mesh_, operands, [&](Value value) { return isNeutral(value); }, rejected);
  for (int64_t index : rejected)
    combine(op->getOperand(index));
  for (Value captured : getCapturedTensors(op))
    combine(captured);
  SmallVector<ShardingAttr> results(op->getNumResults());
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (isa<RankedTensorType>(result.getType()))
      results[index] = getResultSharding(rule, assignment, mesh_, index);
  setResults(op, results);
  if (fixed_.contains(op))
    assignment = assignFromResults(op, rule, fixed_[op], operands);
  assignments_[op] = assignment;
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
  if (input.isPartial() && input != op.getSource())
    combine(op.getInput());
  setResults(op, {op.getTarget()});
}

void Propagation::visitOpaque(Operation *op) {
  for (Value operand : op->getOperands())
    combine(operand);
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        if (ShardingAttr sharding = replicated(argument))
          shardings_[argument] = sharding;
      visitBlock(block);
      for (Value operand : block.getTerminator()->getOperands())
        combine(operand);
    }
  }
  setResults(op, llvm::map_to_vector(op->getResults(), [&](Value v) { return replicated(v); }));
}

void Propagation::setArguments(Region &region, ArrayRef<ShardingAttr> carried) {
  for (BlockArgument argument : region.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      shardings_[argument] = carried[getCarriedIndex(argument)];
}

/// More split than before: dimensions that only the yielded value splits, and a
/// partial yielded value unless the body needs the carried one combined.
ShardingAttr Propagation::join(Operation *op, int64_t index, ShardingAttr carried,
                               ShardingAttr yielded) {
  SmallVector<StringAttr> used(carried.getPartialAxes());
  for (DimShardingAttr dim : carried.getDims())
    llvm::append_range(used, dim.getAxes());
  auto isFree = [&](StringAttr axis) { return !llvm::is_contained(used, axis); };
  SmallVector<DimShardingAttr> dims(carried.getDims());
  for (auto [dim, wish] : llvm::zip(dims, yielded.getDims())) {
    if (!dim.getAxes().empty() || !llvm::all_of(wish.getAxes(), isFree))
      continue;
    dim = wish;
    llvm::append_range(used, wish.getAxes());
  }
  SmallVector<StringAttr> partial(carried.getPartialAxes());
  bool whole = llvm::any_of(op->getRegions(), [&](Region &region) {
    int64_t skipped = isa<scf::ForOp>(op) ? 1 : 0;
    return combined_.contains(region.getArgument(index + skipped));
  });
  if (partial.empty() && yielded.isPartial() && !whole &&
      yielded.getPartialKind() == ReductionKind::Sum &&
      llvm::all_of(yielded.getPartialAxes(), isFree))
    partial.assign(yielded.getPartialAxes().begin(), yielded.getPartialAxes().end());
  return ShardingAttr::get(carried.getContext(), carried.getMesh(), dims, partial,
                           ReductionKind::Sum);
}

/// One round over the body; true if its yields split the carried values further.
bool Propagation::growCarried(Operation *op, SmallVectorImpl<ShardingAttr> &carried) {
  for (Region &region : op->getRegions()) {
    setArguments(region, carried);
    visitBlock(region.front());
  }
  bool grew = false;
  Operation *yield = op->getRegions().back().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
    if (!carried[index])
      continue;
    ShardingAttr joined = join(op, index, carried[index], effective(value));
    grew |= joined != carried[index];
    carried[index] = joined;
  }
  return grew;
}

void Propagation::visitLoop(Operation *op) {
  unsigned bounds = isa<scf::ForOp>(op) ? 3 : 0;
  unsigned skipped = isa<scf::ForOp>(op) ? 1 : 0;
  SmallVector<ShardingAttr> carried;
  SmallVector<Value> open;
  for (auto [index, init] : llvm::enumerate(op->getOperands().drop_front(bounds))) {
    ShardingAttr sharding = effective(init);
    carried.push_back(sharding ? join(op, index, sharding.withoutPartial(), sharding) : nullptr);
    if (sharding && isNeutral(init))
      for (Region &region : op->getRegions())
        open.push_back(region.getArgument(index + skipped));
  }
  // In the first round, zero counts as anyone's contribution; afterwards the carried
  // values are what that round made of them.
  neutral_.insert(open.begin(), open.end());
  growCarried(op, carried);
  for (Value value : open)
    neutral_.erase(value);
  while (growCarried(op, carried))
    ;
  setResults(op, carried);
}

void Propagation::visitBranch(scf::IfOp op) {
  SmallVector<ShardingAttr> results(op->getNumResults());
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    visitBlock(region.front());
    Operation *yield = region.front().getTerminator();
    for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
      ShardingAttr yielded = effective(value);
      if (!results[index])
        results[index] = yielded;
      else if (yielded != results[index])
        results[index] = replicated(value);
    }
  }
  setResults(op, results);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Result k of a step updates state argument k and has its sharding; other results
/// stay as they are, combined.
void Propagation::decideFunctionResults() {
  SmallVector<ShardingAttr> states;
  for (auto [index, argument] : llvm::enumerate(function_.getArguments())) {
    auto role = function_.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    if (role && role.getValue() == kRoleState)
      states.push_back(shardings_.lookup(argument));
  }
  Operation *terminator = function_.getFunctionBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    if (!isa<RankedTensorType>(value.getType()) || function_.getResultAttr(index, kShardingAttr))
      continue;
    ShardingAttr sharding = effective(value).withoutPartial();
    if (index < states.size() && states[index])
      sharding = states[index];
    function_.setResultAttr(index, kShardingAttr, sharding);
  }
}

/// What `use` needs its value to be; null where it does not care.
ShardingAttr Propagation::wanted(OpOperand &use) {
  Operation *owner = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (owner->hasTrait<OpTrait::IsTerminator>()) {
    Operation *parent = owner->getParentOp();
    if (parent == function_)
      return function_.getResultAttrOfType<ShardingAttr>(number, kShardingAttr);
    unsigned skipped = isa<scf::ConditionOp>(owner) ? 1 : 0;
    bool follows = isUniformLoop(parent) || isa<scf::IfOp>(parent);
    if (number < skipped || !follows)
      return replicated(use.get());
    return shardings_.lookup(parent->getResult(number - skipped));
  }
  if (isUniformLoop(owner)) {
    unsigned bounds = isa<scf::ForOp>(owner) ? 3 : 0;
    return number < bounds ? nullptr : shardings_.lookup(owner->getResult(number - bounds));
  }
  if (auto reshard = dyn_cast<ReshardOp>(owner))
    return reshard.getSource();
  auto assignment = assignments_.find(owner);
  if (assignment == assignments_.end())
    return replicated(use.get());
  return getOperandSharding(ruleOf(owner), assignment->second, mesh_, number);
}

/// The sharding that every use of `value` wants, or null.
ShardingAttr Propagation::commonWish(Value value) {
  ShardingAttr common;
  for (OpOperand &use : value.getUses()) {
    ShardingAttr wish = wanted(use);
    if (!wish || wish.isPartial() || (common && wish != common))
      return nullptr;
    common = wish;
  }
  return common;
}

/// Splits an operation's loops further where all uses of its results agree.
void Propagation::refine(Operation *op) {
  if (!assignments_.contains(op) || fixed_.contains(op) || op->getNumResults() != 1)
    return;
  Value result = op->getResult(0);
  ShardingAttr current = shardings_.lookup(result);
  if (!current || current.isPartial())
    return;
  ShardingAttr wish = commonWish(result);
  if (!wish || wish == current)
    return;
  for (auto [have, want] : llvm::zip(current.getDims(), wish.getDims()))
    if (!have.getAxes().empty() && have != want)
      return;
  const ShardingRule &rule = ruleOf(op);
  Assignment refined = assignFromResults(op, rule, {wish}, effectiveOperands(op));
  SmallVector<StringAttr> used;
  for (DimShardingAttr split : refined.factors) {
    if (!split)
      continue;
    for (StringAttr axis : split.getAxes()) {
      if (llvm::is_contained(used, axis))
        return;
      used.push_back(axis);
    }
  }
  if (getResultSharding(rule, refined, mesh_, 0) != wish)
    return;
  shardings_[result] = wish;
  assignments_[op] = refined;
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
