//===- trace_control.cc - control flow of traces --------------------------------===//

#include "passes/analysis/proof/trace_builder.h"

using namespace mlir;
using namespace mlir::coll;

using Kind = TraceNode::Kind;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<unsigned> TraceBuilder::getSlot(Value value) {
  auto known = slots_.find(value);
  if (known != slots_.end())
    return known->second;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !open_.contains(argument.getOwner()))
    return std::nullopt;
  slots_[value] = trace_.numSlots;
  return trace_.numSlots++;
}

std::optional<RankExpr> TraceBuilder::compile(Value value) {
  return RankExpr::compile(
      value, [&](Value variable) { return getSlot(variable); },
      [&](Value argument) { return getOperand(argument); });
}

bool TraceBuilder::hasSlot(ValueRange values) {
  return llvm::any_of(values, [&](Value value) { return slots_.contains(value); });
}

TraceBuilder::Assignments TraceBuilder::assign(ValueRange targets, ValueRange sources) {
  Assignments assignments;
  for (auto [target, source] : llvm::zip(targets, sources))
    if (slots_.contains(target))
      assignments.push_back({slots_[target], compile(source)});
  return assignments;
}

LogicalResult TraceBuilder::requireUniform(Operation *op, ValueRange values) {
  auto function = op->getParentOfType<func::FuncOp>();
  std::unique_ptr<UniformValues> &uniform = uniform_[function];
  if (!uniform)
    uniform = std::make_unique<UniformValues>(function, context_.groups);
  bool isUniform = llvm::all_of(values, [&](Value value) { return uniform->isUniform(value); });
  StringRef what = isa<scf::IfOp, scf::IndexSwitchOp>(op) ? "condition" : "trip count";
  if (!isUniform)
    return op->emitError("communicates, but its ")
           << what << " depends on data that may differ between ranks";
  if (!context_.singleClass)
    return op->emitError("communicates, but its ")
           << what << " depends on data, and ranks run several programs";
  return success();
}

//===----------------------------------------------------------------------===//
// Straight code
//===----------------------------------------------------------------------===//

LogicalResult TraceBuilder::addFunction(func::FuncOp function, TraceList &list) {
  if (!context_.communication.communicates(function))
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitError("communicates, but branches between blocks cannot be followed");
  if (llvm::is_contained(callStack_, function))
    return function.emitError("communicates, but calls itself");
  callStack_.push_back(function);
  LogicalResult result = addBlock(function.getBody().front(), list);
  callStack_.pop_back();
  return result;
}

LogicalResult TraceBuilder::addBlock(Block &block, TraceList &list) {
  for (Operation &op : block)
    if (failed(addOp(&op, list)))
      return failure();
  return success();
}

LogicalResult TraceBuilder::addOp(Operation *op, TraceList &list) {
  if (!context_.communication.communicates(op))
    return success();
  if (auto start = dyn_cast<StartOp>(op))
    return addEvent(start.getCommunication(), start, list);
  if (auto await = dyn_cast<AwaitOp>(op))
    return addAwait(await, list), success();
  if (isa<CollectiveOpInterface>(op))
    return addEvent(op, nullptr, list);
  if (auto call = dyn_cast<func::CallOp>(op))
    return addCall(call, list);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return addIf(branch, list);
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    return addSwitch(branch, list);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addFor(loop, list);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return addWhile(loop, list);
  return op->emitError("communication inside '") << op->getName() << "' cannot be followed";
}

LogicalResult TraceBuilder::addCall(func::CallOp call, TraceList &list) {
  func::FuncOp callee = context_.communication.resolve(call);
  // Recursion is refused: the callee is not being called by anyone else.
  for (auto [argument, operand] : llvm::zip(callee.getArguments(), call.getOperands()))
    operands_[argument] = operand;
  return addFunction(callee, list);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

LogicalResult TraceBuilder::addIf(scf::IfOp branch, TraceList &list) {
  TraceNode node{Kind::Branch, branch};
  node.bodies.resize(2);
  if (failed(addBlock(*branch.thenBlock(), node.bodies[0])))
    return failure();
  if (branch.elseBlock() && failed(addBlock(*branch.elseBlock(), node.bodies[1])))
    return failure();
  if (std::optional<RankExpr> condition = compile(branch.getCondition())) {
    node.exprs.push_back(std::move(*condition));
    node.cases.push_back(0);
  } else if (isSameTrace(node.bodies[0], node.bodies[1])) {
    // Both branches communicate in the same way, so it does not matter to other ranks which one is
    // taken.
    std::move(node.bodies[0].begin(), node.bodies[0].end(), std::back_inserter(list));
    return success();
  } else {
    if (failed(requireUniform(branch, branch.getCondition())))
      return failure();
    node.kind = Kind::Lockstep;
  }
  list.push_back(std::move(node));
  return success();
}

LogicalResult TraceBuilder::addSwitch(scf::IndexSwitchOp branch, TraceList &list) {
  TraceNode node{Kind::Branch, branch};
  // Region 0 is the default.
  for (Region &region : branch->getRegions())
    if (failed(addBlock(region.front(), node.bodies.emplace_back())))
      return failure();
  if (std::optional<RankExpr> selector = compile(branch.getArg())) {
    node.exprs.push_back(std::move(*selector));
    node.cases.assign(branch.getCases().begin(), branch.getCases().end());
  } else {
    if (failed(requireUniform(branch, branch.getArg())))
      return failure();
    node.kind = Kind::Lockstep;
  }
  list.push_back(std::move(node));
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A round, and the futures that it hands to the next.
LogicalResult TraceBuilder::addForBody(scf::ForOp loop, TraceList &body) {
  if (failed(addBlock(*loop.getBody(), body)))
    return failure();
  addMoves(loop, loop.getYieldedValues(), loop.getRegionIterArgs(), body);
  return success();
}

LogicalResult TraceBuilder::addFor(scf::ForOp loop, TraceList &list) {
  addMoves(loop, loop.getInitArgs(), loop.getRegionIterArgs(), list);
  // A result is what the last round has handed on.
  for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
    if (isa<FutureType>(argument.getType()))
      requests_[result] = getRequest(argument);
  Value values[] = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  std::vector<RankExpr> bounds;
  for (Value value : values)
    if (std::optional<RankExpr> bound = compile(value))
      bounds.push_back(std::move(*bound));
  if (bounds.size() == 3 && !loop.getUnsignedCmp())
    return addCountedFor(loop, std::move(bounds), list);
  if (failed(requireUniform(loop, values)))
    return failure();
  TraceNode node{Kind::Lockstep, loop};
  node.bodies.resize(1);
  if (failed(addForBody(loop, node.bodies[0])))
    return failure();
  list.push_back(std::move(node));
  return success();
}

LogicalResult TraceBuilder::addCountedFor(scf::ForOp loop, std::vector<RankExpr> bounds,
                                          TraceList &list) {
  TraceNode init{Kind::Assign, loop}, node{Kind::Loop, loop}, next{Kind::Assign, loop};
  node.exprs = std::move(bounds);
  TraceList &body = node.bodies.emplace_back();
  open_.insert(loop.getBody());
  if (failed(addForBody(loop, body)))
    return failure();
  // A variable's next value may need further variables.
  for (unsigned before = ~0u; before != trace_.numSlots;) {
    before = trace_.numSlots;
    init.assignments = assign(loop.getRegionIterArgs(), loop.getInitArgs());
    next.assignments = assign(loop.getRegionIterArgs(), loop.getYieldedValues());
  }
  open_.erase(loop.getBody());
  if (hasSlot(loop.getInductionVar()))
    node.inductionSlot = slots_[loop.getInductionVar()];
  node.isUniform = !hasSlot(loop.getBody()->getArguments());
  if (!init.assignments.empty()) {
    list.push_back(std::move(init));
    body.push_back(std::move(next));
  }
  list.push_back(std::move(node));
  return success();
}

LogicalResult TraceBuilder::addWhile(scf::WhileOp loop, TraceList &list) {
  if (std::optional<CountedWhile> counted = countWhile(loop))
    return addCountedWhile(loop, std::move(*counted), list);
  if (failed(requireUniform(loop, loop.getConditionOp().getCondition())))
    return failure();
  // The condition's region runs once more than the body's.
  TraceNode node{Kind::Lockstep, loop};
  node.bodies.resize(1);
  if (failed(addBlock(*loop.getBeforeBody(), list)) ||
      failed(addBlock(*loop.getAfterBody(), node.bodies[0])) ||
      failed(addBlock(*loop.getBeforeBody(), node.bodies[0])))
    return failure();
  list.push_back(std::move(node));
  return success();
}

LogicalResult TraceBuilder::addCountedWhile(scf::WhileOp loop, CountedWhile counted,
                                            TraceList &list) {
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  TraceNode init{Kind::Assign, loop}, node{Kind::Loop, loop};
  TraceNode enter{Kind::Assign, loop}, next{Kind::Assign, loop};
  node.counted = std::move(counted);
  open_.insert(before);
  open_.insert(after);
  TraceList first, body, again;
  if (failed(addBlock(*before, first)) || failed(addBlock(*after, body)) ||
      failed(addBlock(*before, again)))
    return failure();
  for (unsigned known = ~0u; known != trace_.numSlots;) {
    known = trace_.numSlots;
    enter.assignments = assign(after->getArguments(), loop.getConditionOp().getArgs());
    next.assignments = assign(before->getArguments(), loop.getYieldOp().getOperands());
    init.assignments = assign(before->getArguments(), loop.getInits());
  }
  open_.erase(before);
  open_.erase(after);
  node.isUniform = !hasSlot(before->getArguments()) && !hasSlot(after->getArguments());

  // The loop is: init, first, then for each trip enter, body, next, again.
  auto append = [](TraceList &to, TraceList from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  };
  list.push_back(std::move(init));
  append(list, std::move(first));
  TraceList &trip = node.bodies.emplace_back();
  trip.push_back(std::move(enter));
  append(trip, std::move(body));
  trip.push_back(std::move(next));
  append(trip, std::move(again));
  list.push_back(std::move(node));
  return success();
}

std::optional<CountedWhile> TraceBuilder::countWhile(scf::WhileOp loop) {
  CountedWhile counted;
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  // Slots of its own: the counting must not make the loop's body look as if it
  // depended on the iteration.
  llvm::MapVector<Value, unsigned> own;
  auto compileOwn = [&](Value value) {
    auto slotOf = [&](Value variable) -> std::optional<unsigned> {
      auto argument = dyn_cast<BlockArgument>(variable);
      if (!argument || (argument.getOwner() != before && argument.getOwner() != after))
        return getSlot(variable);
      auto [entry, isNew] = own.try_emplace(variable, trace_.numSlots);
      if (isNew)
        ++trace_.numSlots;
      return entry->second;
    };
    return RankExpr::compile(value, slotOf, [&](Value argument) { return getOperand(argument); });
  };
  counted.condition = compileOwn(loop.getConditionOp().getCondition());
  if (!counted.condition)
    return std::nullopt;
  for (size_t i = 0; i < own.size(); ++i) {
    auto [value, slot] = *(own.begin() + i);
    unsigned number = cast<BlockArgument>(value).getArgNumber();
    if (cast<BlockArgument>(value).getOwner() == after) {
      std::optional<RankExpr> passed = compileOwn(loop.getConditionOp().getArgs()[number]);
      if (!passed)
        return std::nullopt;
      counted.before.push_back({slot, std::move(*passed)});
      continue;
    }
    std::optional<RankExpr> init = compile(loop.getInits()[number]);
    std::optional<RankExpr> next = compileOwn(loop.getYieldOp().getOperand(number));
    if (!init || !next)
      return std::nullopt;
    counted.init.push_back({slot, std::move(*init)});
    counted.after.push_back({slot, std::move(*next)});
  }
  return counted;
}

static int64_t countNodes(const TraceList &list) {
  int64_t count = list.size();
  for (const TraceNode &node : list)
    for (const TraceList &body : node.bodies)
      count += countNodes(body);
  return count;
}

FailureOr<Trace> coll::buildTrace(func::FuncOp function, TraceContext &context) {
  Trace trace;
  trace.function = function;
  if (failed(TraceBuilder(context, trace).addFunction(function, trace.body)))
    return failure();
  trace.numNodes = countNodes(trace.body);
  return trace;
}
