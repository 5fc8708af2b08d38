//===- delay_gradients.cc - gradients are applied some steps late -----------------===//
//
// Each update keeps the gradients of the last steps as state of its own, the oldest first. With
// two:
//
//   %w1 = root_update grad(%g) state(%w)                  { f(g, w) }
//   =>
//   %w1, %p1, %q1 = root_update grad(%g) state(%w, %p, %q) factor(%ready)
//                                                         { ready ? f(p, w) : w, q, g }
//
// Other values that are computed from %g for the update, such as a global norm, are computed from
// %p. State that belongs to the optimizer, such as a count of steps, waits for the first gradient,
// too.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/micro_batches.h"
#include "passes/analysis/root_terms.h"
#include "passes/passes.h"
#include "passes/transform/find_step.h"
#include "passes/transform/roots/step_states.h"

namespace mlir::coll {

#define GEN_PASS_DEF_DELAYGRADIENTSPASS
#include "passes/passes.h.inc"

namespace {

/// Everything that `values` are computed from, arguments included.
DenseSet<Value> findSources(ArrayRef<Value> values) {
  DenseSet<Value> sources;
  SmallVector<Value> open(values);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!sources.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(open, getReadValues(op));
  }
  return sources;
}

/// `values`, and everything in `block` that is computed from them without an update.
DenseSet<Value> findConsequences(Block &block, ArrayRef<Value> values) {
  DenseSet<Value> found(values.begin(), values.end());
  for (Operation &op : block)
    if (!isa<RootUpdateOp>(op) &&
        llvm::any_of(getReadValues(&op), [&](Value value) { return found.contains(value); }))
      found.insert(op.result_begin(), op.result_end());
  return found;
}

/// A state that the pass adds, and the number of the result that updates it.
struct AddedState {
  Value argument;
  unsigned result;
};

class GradientDelay {
public:
  GradientDelay(func::FuncOp step, int64_t steps)
      : step_(step), body_(step.getBody().front()), steps_(steps), states_(getStateArguments(step)),
        builder_(OpBuilder::atBlockBegin(&body_)) {}

  LogicalResult run(ArrayRef<RootUpdateOp> updates);

private:
  AddedState addState(RankedTensorType type, const Twine &name);
  void countGradients();
  SmallVector<AddedState> addQueue(RootUpdateOp update, unsigned gradient);
  void delay(RootUpdateOp old);
  void fillBody(RootUpdateOp update, RootUpdateOp old);
  void redirect(Value gradient, Value oldest);
  LogicalResult checkReturns() const;
  LogicalResult checkStates(RootUpdateOp update) const;
  LogicalResult checkRoot(RootUpdateOp update) const;
  LogicalResult gateOthers();
  Value select(Location loc, Value updated, Value old);

  func::FuncOp step_;
  Block &body_;
  int64_t steps_;
  SmallVector<BlockArgument> states_; // the user's
  unsigned numAdded_ = 0;
  OpBuilder builder_;
  Value ready_;             // whether there is a gradient that is old enough
  DenseSet<Value> before_;  // all gradients, and what they are computed from
  SmallVector<Value> late_; // what is known from older steps
};

/// Adds a state after the others that the user does not see and that starts as zeros.
AddedState GradientDelay::addState(RankedTensorType type, const Twine &name) {
  SmallVector<NamedAttribute> attributes = {
      builder_.getNamedAttr(kNameAttr, builder_.getStringAttr(name)),
      builder_.getNamedAttr(kPartsAttr, builder_.getArrayAttr({})),
      builder_.getNamedAttr(kRoleAttr, builder_.getStringAttr(kRoleState))};
  unsigned place = states_.back().getArgNumber() + 1 + numAdded_;
  unsigned result = states_.size() + numAdded_;
  ++numAdded_;
  (void)step_.insertArgument(place, type, builder_.getDictionaryAttr(attributes), step_.getLoc());
  Value argument = step_.getArgument(place);
  body_.getTerminator()->insertOperands(result, argument);
  (void)step_.insertResult(result, type, {});
  return {argument, result};
}

/// Counts gradients until there are enough.
void GradientDelay::countGradients() {
  auto type = RankedTensorType::get({}, builder_.getI32Type());
  AddedState count = addState(type, "late.count");
  Location loc = step_.getLoc();
  auto constant = [&](int64_t value) {
    auto number = DenseElementsAttr::get(cast<ShapedType>(type), builder_.getI32IntegerAttr(value));
    return arith::ConstantOp::create(builder_, loc, cast<TypedAttr>(number));
  };
  Value enough = constant(steps_);
  ready_ = arith::CmpIOp::create(builder_, loc, arith::CmpIPredicate::sge, count.argument, enough);
  Value next = arith::AddIOp::create(builder_, loc, count.argument, constant(1));
  Value kept = arith::MinSIOp::create(builder_, loc, next, enough);
  body_.getTerminator()->setOperand(count.result, kept);
}

/// States for the last gradients of an update, the oldest first.
SmallVector<AddedState> GradientDelay::addQueue(RootUpdateOp update, unsigned gradient) {
  std::string name = "late";
  if (auto parameter = dyn_cast<BlockArgument>(update.getStates().front()))
    if (auto given = step_.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), kNameAttr))
      name += "." + given.str();
  if (update.getGradients().size() > 1)
    name += "." + std::to_string(gradient);
  auto type = cast<RankedTensorType>(update.getGradients()[gradient].getType());
  SmallVector<AddedState> queue;
  for (int64_t i = 0; i < steps_; ++i)
    queue.push_back(addState(type, name + "." + Twine(i)));
  return queue;
}

/// The region of `old`, with older gradients; `update` has more states, gradient by gradient, and
/// one more factor.
void GradientDelay::fillBody(RootUpdateOp update, RootUpdateOp old) {
  update.getBody().takeBody(old.getBody());
  Block &body = update.getBody().front();
  unsigned numGradients = update.getGradients().size(), numOld = old.getStates().size();
  SmallVector<Value> next;
  for (unsigned g = 0; g < numGradients; ++g) {
    unsigned first = numGradients + numOld + g * steps_;
    Value gradient = body.getArgument(g);
    for (int64_t i = 0; i < steps_; ++i)
      body.insertArgument(first + i, gradient.getType(), gradient.getLoc());
    gradient.replaceAllUsesWith(body.getArgument(first));
    for (int64_t i = 1; i < steps_; ++i)
      next.push_back(body.getArgument(first + i));
    next.push_back(gradient);
  }
  Value ready = body.addArgument(builder_.getI1Type(), update.getLoc());
  Operation *yield = body.getTerminator();
  OpBuilder builder(yield);
  SmallVector<Value> yielded;
  for (unsigned k = 0; k < numOld; ++k)
    yielded.push_back(arith::SelectOp::create(builder, update.getLoc(), ready, yield->getOperand(k),
                                              body.getArgument(numGradients + k)));
  llvm::append_range(yielded, next);
  yield->setOperands(yielded);
}

void GradientDelay::delay(RootUpdateOp old) {
  SmallVector<Value> states(old.getStates()), factors(old.getFactors());
  SmallVector<AddedState> added;
  for (unsigned g = 0; g < old.getGradients().size(); ++g)
    llvm::append_range(added, addQueue(old, g));
  for (const AddedState &state : added)
    states.push_back(state.argument);
  factors.push_back(ready_);
  builder_.setInsertionPoint(old);
  auto update = RootUpdateOp::create(builder_, old.getLoc(), old.getGradients(), states, factors,
                                     old.getForwardAttr(), old.getRootAttr(), old.getRouteAttr());
  fillBody(update, old);
  auto results = ValueRange(update.getResults());
  old->replaceAllUsesWith(results.take_front(old->getNumResults()));
  for (auto [state, result] : llvm::zip_equal(added, results.take_back(added.size())))
    body_.getTerminator()->setOperand(state.result, result);
  old.erase();
  llvm::append_range(late_, results);
  for (auto [number, gradient] : llvm::enumerate(update.getGradients()))
    redirect(gradient, added[number * steps_].argument);
}

/// Values that are computed from the gradient for updates are computed from an older gradient.
void GradientDelay::redirect(Value gradient, Value oldest) {
  late_.push_back(oldest);
  gradient.replaceUsesWithIf(oldest, [&](OpOperand &use) {
    Operation *user = body_.findAncestorOpInBlock(*use.getOwner());
    bool isBefore =
        llvm::any_of(user->getResults(), [&](Value result) { return before_.contains(result); });
    return !isBefore && !isa<RootUpdateOp>(user);
  });
}

Value GradientDelay::select(Location loc, Value updated, Value old) {
  Value ready = ready_;
  if (auto type = cast<RankedTensorType>(updated.getType()); type.getRank() > 0) {
    Value init = tensor::EmptyOp::create(builder_, loc, type.getShape(), builder_.getI1Type());
    AffineMap maps[] = {AffineMap::get(type.getRank(), 0, builder_.getContext()),
                        builder_.getMultiDimIdentityMap(type.getRank())};
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto repeat = [](OpBuilder &b, Location loc, ValueRange args) {
      linalg::YieldOp::create(b, loc, args[0]);
    };
    ready = linalg::GenericOp::create(builder_, loc, TypeRange{init.getType()}, ValueRange{ready_},
                                      ValueRange{init}, maps, iterators, repeat)
                .getResult(0);
  }
  return arith::SelectOp::create(builder_, loc, ready, updated, old);
}

/// State without a gradient: it waits with the updates, unless gradients need it as it is (the key
/// of random numbers) or it follows from the batch (statistics of batch norm).
LogicalResult GradientDelay::gateOthers() {
  SmallVector<Value> batch;
  for (BlockArgument argument : step_.getArguments()) {
    auto role = step_.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRoleAttr);
    if (role && role.getValue() == kRoleBatch)
      batch.push_back(argument);
  }
  DenseSet<Value> fresh = findConsequences(body_, batch), late = findConsequences(body_, late_);
  Operation *terminator = body_.getTerminator();
  builder_.setInsertionPoint(terminator);
  for (auto [number, state] : llvm::enumerate(states_)) {
    Value updated = terminator->getOperand(number);
    if (updated == state || updated.getDefiningOp<RootUpdateOp>())
      continue;
    bool isNeeded = before_.contains(state);
    if (fresh.contains(updated) && isNeeded)
      return emitError(updated.getLoc())
             << "updates state argument " << state.getArgNumber()
             << " from the batch in a way that coll-form-root-update does not find (its remark "
                "says why), so that its gradient cannot be applied late; run without staleness";
    if (fresh.contains(updated) || (isNeeded && !late.contains(updated)))
      continue;
    terminator->setOperand(number, select(updated.getLoc(), updated, state));
  }
  return success();
}

/// The pass appends its arguments to the states, and its results to the results that update them.
LogicalResult GradientDelay::checkReturns() const {
  unsigned returned = body_.getTerminator()->getNumOperands();
  if (returned < states_.size())
    return step_->emitError() << "takes " << states_.size() << " states, but returns " << returned
                              << " values; return the new value of each state first, in order";
  return success();
}

/// Each state is an argument whose place among the results the update fills.
LogicalResult GradientDelay::checkStates(RootUpdateOp update) const {
  Operation *terminator = body_.getTerminator();
  for (auto [number, state] : llvm::enumerate(update.getStates())) {
    const auto *found = llvm::find(states_, state);
    if (found == states_.end() ||
        terminator->getOperand(found - states_.begin()) != update.getResult(number))
      return update.emitOpError() << "state " << number
                                  << " is not a state argument of @step that result " << number
                                  << " updates; give the argument " << kRoleAttr << " = \""
                                  << kRoleState << "\", and return the result in its place";
  }
  return success();
}

/// A root keeps older gradients to itself.
LogicalResult GradientDelay::checkRoot(RootUpdateOp update) const {
  SmallVector<Value> own(update.getGradients());
  llvm::append_range(own, update.getStates());
  for (Value gradient : update.getGradients()) {
    Operation *other = findEscape(
        gradient, own, [&](OpOperand &use) { return use.getOwner() == update.getOperation(); });
    if (other)
      return other->emitError()
             << "needs a whole gradient that only its root keeps until it is applied; run without "
                "roots, or without staleness";
  }
  return success();
}

LogicalResult GradientDelay::run(ArrayRef<RootUpdateOp> updates) {
  if (failed(checkReturns()))
    return failure();
  for (RootUpdateOp update : updates)
    if (failed(checkStates(update)) || (update.getRoot() && failed(checkRoot(update))))
      return failure();
  SmallVector<Value> gradients;
  for (RootUpdateOp update : updates)
    llvm::append_range(gradients, update.getGradients());
  before_ = findSources(gradients);
  countGradients();
  for (RootUpdateOp update : updates)
    delay(update);
  return gateOthers();
}

class DelayGradientsPass : public impl::DelayGradientsPassBase<DelayGradientsPass> {
public:
  using DelayGradientsPassBase::DelayGradientsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<CollDialect, arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    func::FuncOp step = findStep(getOperation(), "whose gradients could be applied late");
    if (!step)
      return signalPassFailure();
    if (steps < 1 || steps > kMostSteps) {
      step.emitError("gradients are applied 1 to ")
          << kMostSteps << " steps late, not " << steps.getValue();
      return signalPassFailure();
    }
    auto updates = llvm::to_vector(step.getBody().front().getOps<RootUpdateOp>());
    if (updates.empty()) {
      step.emitError("has no parameter with an update that coll-form-root-update finds, so that no "
                     "gradient can be applied late");
      return signalPassFailure();
    }
    if (failed(GradientDelay(step, steps).run(updates)))
      signalPassFailure();
  }

private:
  static constexpr int64_t kMostSteps = 64; // each step keeps all gradients once more
};

} // namespace
} // namespace mlir::coll
