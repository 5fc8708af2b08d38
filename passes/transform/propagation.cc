//===- propagation.cc - rounds, pins and what is recorded -------------------------===//

#include "passes/transform/propagation.h"

#include "dialect/notes.h"
#include "dialect/pin.h"
#include "dialect/sharding.h"
#include "dialect/signature.h"
#include "mlir/IR/Iterators.h"
#include "passes/analysis/sharding_cost.h"
#include "passes/analysis/window.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::coll {

Propagation::Choice *Propagation::makeChoice(Operation *op, Assignment assignment) {
  const ShardingRule &rule = ruleOf(op);
  Choice choice;
  choice.cost = getWorkCost(op, rule, assignment, mesh_);
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    const bool isTensor = isa<RankedTensorType>(operand.getType());
    choice.operands.push_back(isTensor ? getOperandSharding(rule, assignment, mesh_, index)
                                       : nullptr);
    if (isTensor)
      choice.cost += getHaloBytes(op, rule, assignment, mesh_, index);
  }
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    choice.results.push_back(isa<RankedTensorType>(result.getType())
                                 ? getResultSharding(rule, assignment, mesh_, index)
                                 : nullptr);
  choice.assignment = std::move(assignment);
  choices_.push_back(std::move(choice));
  return &choices_.back();
}

double Propagation::reshardBytes(RankedTensorType type, ShardingAttr from, ShardingAttr to) {
  if (from == to)
    return 0;
  auto [known, isNew] = reshardBytes_.try_emplace({type, from, to}, 0);
  if (isNew)
    known->second = getReshardBytes(mesh_, type, from, to);
  return known->second;
}

/// The sharding that uses see: without partial axes if the value has to be combined.
ShardingAttr Propagation::effective(Value value) const {
  ShardingAttr sharding = decided_.shardings.lookup(value);
  if (!sharding)
    return getReplicatedSharding(mesh_, value);
  return decided_.combined.contains(value) ? sharding.withoutPartial() : sharding;
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
    changed_ |= decided_.combined.insert(value).second;
}

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

/// Moves shardings that the user wrote on operations to reshards after them. Partial shardings stay
/// on the operation: only the operation itself can produce a partial value.
void Propagation::insertPins() {
  SmallVector<Operation *> ops;
  function_->walk([&](Operation *op) {
    if (op->hasAttr(kPinAttr))
      pins_.insert(op);
    else if (op->hasAttr(kShardingsAttr))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    SmallVector<ShardingAttr> shardings = mlir::coll::getResultShardings(op);
    bool stays = isa<scf::ForOp, scf::WhileOp, scf::IfOp, ReshardOp, CollectiveOpInterface>(op) ||
                 llvm::any_of(shardings, [](ShardingAttr s) { return s && s.isPartial(); });
    if (stays) {
      fixed_[op] = shardings;
      continue;
    }
    op->removeAttr(kShardingsAttr);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (auto [result, request] : llvm::zip(op->getResults(), shardings)) {
      if (!request)
        continue;
      auto pin = ReshardOp::create(builder, op->getLoc(), result, request, request);
      auto why = op->getAttrOfType<StringAttr>(kWhyAttr);
      pin->setAttr(kWhyAttr, why ? why
                                 : builder.getStringAttr("the sharding that is written on " +
                                                         op->getName().getStringRef()));
      result.replaceAllUsesExcept(pin.getResult(), pin);
      pins_.insert(pin);
    }
  }
}

/// The sharding that `pin` asks for if its input has `have`: open dimensions are split as those of
/// the input, by axes that no other dimension uses.
///
///   {"a", ?}, {"b"}; have ["a", "c"], ["d"]    ["a", "c"], ["b"]
ShardingAttr Propagation::pinTarget(ReshardOp pin, ShardingAttr have) const {
  ShardingAttr written = pin.getTarget();
  auto attribute = pin->getAttrOfType<DictionaryAttr>(kPinAttr);
  if (!attribute)
    return written;
  SmallVector<DimShardingAttr> dims(written.getDims());
  SmallVector<StringAttr> used;
  llvm::append_range(used, attribute.getAs<ArrayAttr>(kPinReplicated).getAsRange<StringAttr>());
  for (DimShardingAttr dim : dims)
    llvm::append_range(used, dim.getAxes());
  for (int64_t open : attribute.getAs<DenseI64ArrayAttr>(kPinOpenDims).asArrayRef()) {
    DimShardingAttr split = have.getDims()[open];
    size_t known = dims[open].getAxes().size();
    if (split.getAxes().take_front(known) != dims[open].getAxes())
      continue;
    ArrayRef<StringAttr> more = split.getAxes().drop_front(known).take_while(
        [&](StringAttr axis) { return !llvm::is_contained(used, axis); });
    if (more.empty())
      continue;
    llvm::append_range(used, more);
    const bool isSame = known + more.size() == split.getAxes().size();
    dims[open] =
        DimShardingAttr::get(written.getContext(), split.getAxes().take_front(known + more.size()),
                             isSame ? split.getUnit() : 1);
  }
  return ShardingAttr::get(written.getContext(), written.getMesh(), dims, {}, ReductionKind::Sum);
}

/// A pin remains if its operation got another sharding. Those of scatterSums() have done their
/// work: all uses ask for the part.
void Propagation::resolvePins() {
  for (Operation *op : pins_) {
    auto pin = cast<ReshardOp>(op);
    if (sums_.contains(pin)) {
      pin.getResult().replaceAllUsesWith(pin.getInput());
      pin.erase();
      continue;
    }
    ShardingAttr have = effective(pin.getInput());
    pin.setTargetAttr(decided_.shardings.lookup(pin.getResult()));
    pin->removeAttr(kPinAttr);
    if (!pin->hasAttr(kWhyAttr))
      pin->setAttr(kWhyAttr,
                   StringAttr::get(op->getContext(), "the sharding that is written here"));
    ArrayRef<int64_t> shape = pin.getType().getShape();
    if (have.isPartial() || !haveSameBlocks(mesh_, have, pin.getTarget(), shape)) {
      pin.setSourceAttr(have);
      continue;
    }
    // Equal blocks may be written with different units.
    if (!decided_.combined.contains(pin.getInput()))
      decided_.shardings[pin.getInput()] = pin.getTarget();
    pin.getResult().replaceAllUsesWith(pin.getInput());
    pin.erase();
  }
  pins_.clear();
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

void Propagation::run() {
  formWindows(function_.getFunctionBody());
  insertPins();
  runRounds();
  if (stageReductions())
    runRounds();
  keepIfCheaper(&Propagation::regainSplits);
  keepIfCheaper(&Propagation::scatterSums);
  keepIfCheaper(&Propagation::scatterCollected);
}

/// Keeps the pins that `insert` inserts if the rounds with them are cheaper.
void Propagation::keepIfCheaper(bool (Propagation::*insert)()) {
  Decisions before = decided_;
  const double least = getCost();
  if (!(this->*insert)())
    return;
  runRounds();
  if (getCost() < least) {
    regained_.clear();
    return;
  }
  dropRegained();
  decided_ = std::move(before);
  decideFunctionResults();
}

/// Runs rounds in which each conflict is decided by its cost, until a round is not cheaper, and one
/// round in which larger operands decide: an expensive choice at one operation may save more after
/// it. The cheapest round is kept.
void Propagation::runRounds() {
  requests_.clear();
  runRound();
  if (!meetsConflict())
    return;
  Decisions best = decided_;
  double least = getCost();
  auto isCheaper = [&] {
    runRound();
    double cost = getCost();
    if (cost >= least)
      return false;
    least = cost;
    best = decided_;
    return true;
  };
  for (int round = 1; round < kMaxRounds; ++round) {
    collectRequests();
    if (!isCheaper())
      break;
  }
  decidesByCost_ = false;
  isCheaper();
  decidesByCost_ = true;
  decided_ = std::move(best);
  decideFunctionResults();
}

void Propagation::runRound() {
  decided_ = Decisions();
  do {
    changed_ = false;
    forward();
  } while (changed_);
  decideFunctionResults();
  backward(function_.getFunctionBody());
}

bool Propagation::meetsConflict() const {
  return llvm::any_of(decided_.choices, [](const auto &entry) {
    return entry.second->assignment.decision.has_value();
  });
}

/// Collects the shardings that the uses of each value asked for in this round, for the next one.
/// Uses are visited before the values that they read, so that requests pass through chains of
/// operations.
void Propagation::collectRequests() {
  requests_.clear();
  function_->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    for (Value result : op->getResults()) {
      SmallVector<ShardingAttr, 2> requests;
      for (OpOperand &use : result.getUses()) {
        ShardingAttr request = isa<RankedTensorType>(result.getType()) ? requestOf(use) : nullptr;
        if (request && request.isPartial())
          if (ShardingAttr behind = requestBehind(use))
            request = behind;
        if (request && !llvm::is_contained(requests, request) && requests.size() < kMaxRequests)
          requests.push_back(request);
      }
      if (!requests.empty())
        requests_[result] = requests;
    }
  });
}

/// The cost of the round: bytes sent and work done. One reshard of a value serves all uses that ask
/// for it.
double Propagation::getCost() {
  double cost = 0;
  auto visitValue = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    ShardingAttr have = effective(value);
    if (decided_.combined.contains(value))
      cost += reshardBytes(type, decided_.shardings.lookup(value), have);
    SmallVector<ShardingAttr> served;
    for (OpOperand &use : value.getUses()) {
      ShardingAttr want = requestOf(use);
      if (!want || llvm::is_contained(served, want))
        continue;
      served.push_back(want);
      cost += reshardBytes(type, have, have.isPartial() ? want : want.withoutPartial());
    }
  };
  llvm::for_each(function_.getArguments(), visitValue);
  function_->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), visitValue);
    if (const Choice *choice = choiceOf(op))
      cost += choice->cost;
  });
  return cost;
}

/// The decision as `coll.decision` has it.
static DictionaryAttr toAttribute(MLIRContext *context, const Decision &decision) {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("chosen", builder.getStringAttr(decision.chosen)),
       builder.getNamedAttr("chosen_bytes", builder.getI64IntegerAttr(decision.chosenBytes)),
       builder.getNamedAttr("chosen_work", builder.getI64IntegerAttr(decision.chosenWork)),
       builder.getNamedAttr("other", builder.getStringAttr(decision.other)),
       builder.getNamedAttr("other_bytes", builder.getI64IntegerAttr(decision.otherBytes)),
       builder.getNamedAttr("other_work", builder.getI64IntegerAttr(decision.otherWork))});
}

void Propagation::record() {
  resolvePins();
  // Repeated layers repeat a decision; its remark is emitted once.
  llvm::StringSet<> said;
  llvm::DenseMap<const Choice *, DictionaryAttr> attributes;
  function_->walk([&](Operation *op) {
    const Choice *choice = choiceOf(op);
    if (choice && choice->assignment.decision) {
      const Decision &decision = *choice->assignment.decision;
      DictionaryAttr &attribute = attributes[choice];
      if (!attribute) {
        attribute = toAttribute(op->getContext(), decision);
        if (std::string text = decision.describe(); said.insert(text).second)
          op->emitRemark() << text;
      }
      op->setAttr(kDecisionAttr, attribute);
    }
    SmallVector<ShardingAttr> shardings;
    for (Value result : op->getResults())
      shardings.push_back(decided_.shardings.lookup(result));
    if (llvm::any_of(shardings, [](ShardingAttr sharding) { return sharding != nullptr; }))
      setShardings(op, shardings);
  });
  setArgumentAttrs(function_, kShardingAttr,
                   llvm::map_to_vector(function_.getArguments(), [&](Value argument) -> Attribute {
                     return decided_.shardings.lookup(argument);
                   }));
  setResultAttrs(function_, kShardingAttr,
                 SmallVector<Attribute>(decided_.returned.begin(), decided_.returned.end()));
}

} // namespace mlir::coll
