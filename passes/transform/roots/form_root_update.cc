//===- form_root_update.cc - an optimizer's step as one operation per parameter ---===//
//
// Updates are found by dependence, not by names. States whose new values are computed from one
// another element by element belong together: a parameter, its moments, a moving average of it. Any
// other input of their shape is the gradient:
//
//   %m1 = %m * 0.9 + %g                  states %w, %m   gradient %g   factor %rate
//   %w1 = %w - %rate * %m1        =>     %w1, %m1 = coll.root_update grad(%g) state(%w, %m) …
//
// A state that only its own update reads is stored at the root alone; the others are forwarded.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/elementwise_slice.h"
#include "passes/analysis/root_terms.h"
#include "passes/passes.h"
#include "passes/transform/erase_dead.h"
#include "passes/transform/find_step.h"
#include "passes/transform/roots/step_states.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::coll {

#define GEN_PASS_DEF_FORMROOTUPDATEPASS
#include "passes/passes.h.inc"

namespace {

/// Whether `op` repeats the only element of a tensor that has dimensions.
bool repeatsElement(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() > 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(op.getDpsInputOperand(0)->get().getType());
  Block *body = op.getBlock();
  return type && type.getRank() > 0 && type.getNumElements() == 1 &&
         body->getTerminator()->getOperand(0) == body->getArgument(0);
}

/// Norms that keep their dimensions, of size 1, become scalars where they are used for all
/// elements.
void flattenFactors(Block &block) {
  for (auto op : block.getOps<linalg::GenericOp>()) {
    if (!repeatsElement(op))
      continue;
    OpBuilder builder(op);
    OpOperand *input = op.getDpsInputOperand(0);
    auto scalar =
        RankedTensorType::get({}, cast<RankedTensorType>(input->get().getType()).getElementType());
    input->set(tensor::CollapseShapeOp::create(builder, op.getLoc(), scalar, input->get(),
                                               ArrayRef<ReassociationIndices>{}));
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[0] = AffineMap::get(op.getNumLoops(), 0, builder.getContext());
    op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  }
}

/// States whose new values are computed from one another element by element.
class Cell {
public:
  explicit Cell(SmallVector<StepState> states) : states_(std::move(states)) {
    for (const StepState &state : states_)
      ends_.push_back(state.update->get());
  }

  /// Finds the gradient; false if nothing but the states and scalars goes into the update.
  bool findGradients() {
    ElementwiseSlice whole = ElementwiseSlice::create(ends_);
    auto isOther = [&](Value leaf) { return !isOwn(leaf); };
    gradients_ = llvm::filter_to_vector(whole.getLeaves(), isOther);
    if (Value common = whole.findCommonValue(ends_, isOther))
      gradients_ = {common};
    return !gradients_.empty();
  }

  /// Finds the states that are read outside of this update. Returns false if there is none: then
  /// nothing here is a parameter.
  bool findForwarded() {
    auto isNone = [](OpOperand &) { return false; };
    auto isRead = [&](const StepState &state) {
      return escapes(state.argument, isNone) != nullptr;
    };
    // The order among the forwarded and among the others stays.
    auto held = std::stable_partition(states_.begin(), states_.end(), isRead);
    forward_ = held - states_.begin();
    ends_ = llvm::map_to_vector(states_, [](const StepState &s) { return s.update->get(); });
    return forward_ > 0;
  }

  /// Another use of a gradient that needs it whole and that `isHarmless` does not accept, or null.
  Operation *findOtherUse(llvm::function_ref<bool(OpOperand &)> isHarmless) {
    for (Value gradient : gradients_)
      if (Operation *user = escapes(gradient, isHarmless))
        return user;
    return nullptr;
  }

  bool holdsState() const { return forward_ < static_cast<int64_t>(states_.size()); }
  /// The first of the states that are read outside of this update.
  BlockArgument parameter() const { return states_.front().argument; }

  void form(RootAttr root, RouteAttr route);

private:
  bool isOwn(Value value) const {
    return llvm::any_of(states_, [&](const StepState &state) { return state.argument == value; });
  }

  SmallVector<Value> ownValues() const {
    SmallVector<Value> values(gradients_);
    for (const StepState &state : states_)
      values.push_back(state.argument);
    return values;
  }

  Operation *escapes(Value value, llvm::function_ref<bool(OpOperand &)> isHarmless) {
    SmallVector<Value> own = ownValues();
    return findEscape(value, own, [&](OpOperand &use) {
      return isHarmless(use) ||
             llvm::any_of(states_, [&](const StepState &state) { return state.update == &use; });
    });
  }

  SmallVector<StepState> states_;
  SmallVector<Value> ends_, gradients_;
  int64_t forward_ = 0;
};

/// The position right after the last of `values`.
void setInsertionPointBehind(OpBuilder &builder, ArrayRef<Value> values, Block *block) {
  Operation *last = nullptr;
  for (Value value : values)
    if (Operation *op = value.getDefiningOp(); op && (!last || last->isBeforeInBlock(op)))
      last = op;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(block);
}

void Cell::form(RootAttr root, RouteAttr route) {
  ElementwiseSlice slice = ElementwiseSlice::create(ends_, gradients_);
  SmallVector<Value> arguments =
      llvm::map_to_vector(states_, [](const StepState &s) -> Value { return s.argument; });
  SmallVector<Value> operands(gradients_);
  llvm::append_range(operands, arguments);
  llvm::append_range(operands, slice.getFactors());

  OpBuilder builder(parameter().getContext());
  Block *block = parameter().getOwner();
  setInsertionPointBehind(builder, operands, block);
  auto update =
      RootUpdateOp::create(builder, ends_[0].getLoc(), gradients_, arguments, slice.getFactors(),
                           builder.getI64IntegerAttr(forward_), root, route);
  Block *body = builder.createBlock(&update.getBody());
  IRMapping elements;
  for (Value operand : operands)
    elements.map(operand,
                 body->addArgument(getElementTypeOrSelf(operand.getType()), operand.getLoc()));
  YieldOp::create(builder, update.getLoc(), slice.cloneForElement(builder, ends_, elements));
  for (auto [state, result] : llvm::zip_equal(states_, update.getResults()))
    state.update->set(result);
}

class FormRootUpdatePass : public impl::FormRootUpdatePassBase<FormRootUpdatePass> {
public:
  using FormRootUpdatePassBase::FormRootUpdatePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<CollDialect, arith::ArithDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    func::FuncOp step = findStep(getOperation(), "whose optimizer could be found");
    if (!step)
      return signalPassFailure();
    if (failed(readOptions(step)))
      return signalPassFailure();
    flattenFactors(step.getBody().front());
    findUpdating(step);
    for (Cell &cell : findCells(step))
      visit(cell);
    eraseDead(step.getBody().front());
  }

private:
  LogicalResult readOptions(func::FuncOp step) {
    std::optional<Root> chosen = root.empty() ? std::nullopt : symbolizeRoot(root);
    if (!root.empty() && !chosen)
      return step.emitError() << "root '" << root << "' is unknown; use hash, balanced or shard";
    std::optional<Route> way = symbolizeRoute(route);
    if (!way)
      return step.emitError() << "route '" << route << "' is unknown; use direct or ring";
    if (chosen) {
      root_ = RootAttr::get(&getContext(), *chosen);
      route_ = RouteAttr::get(&getContext(), *way);
    }
    return success();
  }

  /// Emits one remark for each operation that updates state in another way.
  static void remarkOthers(ArrayRef<StepState> others) {
    llvm::SetVector<Operation *> said;
    for (const StepState &state : others) {
      Operation *op = state.update->get().getDefiningOp();
      if (op && isa<FloatType>(getElementTypeOrSelf(state.argument.getType())) && said.insert(op))
        op->emitRemark() << "updates state argument " << state.argument.getArgNumber()
                         << " not element by element from itself and a gradient, so that it is "
                            "updated on every rank";
    }
  }

  static SmallVector<Cell> findCells(func::FuncOp step) {
    SmallVector<StepState> states = getStates(step);
    llvm::EquivalenceClasses<unsigned> related;
    llvm::DenseMap<Value, unsigned> numberOf;
    SmallVector<StepState> others;
    for (auto [number, state] : llvm::enumerate(states))
      numberOf[state.argument] = number;
    for (auto [number, state] : llvm::enumerate(states)) {
      auto type = dyn_cast<RankedTensorType>(state.argument.getType());
      Value update = state.update->get();
      if (!type || type.getRank() == 0 || type.getNumElements() == 0 || update.getType() != type ||
          update == state.argument)
        continue;
      bool isRelated = false;
      ElementwiseSlice slice = ElementwiseSlice::create(update);
      for (Value leaf : slice.getLeaves()) {
        auto found = numberOf.find(leaf);
        if (found == numberOf.end())
          continue;
        related.unionSets(number, found->second);
        isRelated = true;
      }
      if (!isRelated)
        others.push_back(state);
    }
    remarkOthers(others);
    SmallVector<Cell> cells;
    for (const auto *leader : related) {
      if (!leader->isLeader())
        continue;
      SmallVector<unsigned> numbers(related.member_begin(*leader), related.member_end());
      llvm::sort(numbers);
      cells.emplace_back(llvm::map_to_vector(numbers, [&](unsigned n) { return states[n]; }));
    }
    llvm::sort(cells, [](const Cell &a, const Cell &b) {
      return a.parameter().getArgNumber() < b.parameter().getArgNumber();
    });
    return cells;
  }

  /// Finds the operations that some new state follows from; others only report.
  void findUpdating(func::FuncOp step) {
    Block &block = step.getBody().front();
    numStates_ = getStateArguments(step).size();
    for (Operation &op : llvm::reverse(block.without_terminator())) {
      bool isUpdating = llvm::any_of(op.getUses(), [&](OpOperand &use) { return feedsState(use); });
      if (isUpdating)
        updating_.insert(&op);
    }
  }

  bool feedsState(OpOperand &use) const {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user))
      return use.getOperandNumber() < numStates_;
    for (; user; user = user->getParentOp())
      if (updating_.contains(user))
        return true;
    return false;
  }

  void visit(Cell &cell) {
    if (!cell.findGradients() || !cell.findForwarded())
      return;
    // Without roots every rank has the whole gradient, for the update and for results that report
    // on it.
    Operation *other =
        cell.findOtherUse([&](OpOperand &use) { return !root_ && !feedsState(use); });
    if (other && !cell.holdsState()) {
      other->emitRemark() << "needs the whole gradient of state argument "
                          << cell.parameter().getArgNumber()
                          << " on every rank, so that this parameter is updated there and not at "
                             "a root";
      return;
    }
    cell.form(root_, route_);
  }

  RootAttr root_;
  RouteAttr route_;
  unsigned numStates_ = 0;
  DenseSet<Operation *> updating_;
};

} // namespace
} // namespace mlir::coll
