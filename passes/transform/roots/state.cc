//===- state.cc -------------------------------------------------------------===//

#include "passes/transform/roots/state.h"

#include "passes/transform/erase_dead.h"
#include "passes/transform/init_function.h"
#include "passes/transform/roots/step_states.h"

namespace mlir::coll {

RootedState::RootedState(func::FuncOp step)
    : step_(step), states_(getStateArguments(step)), removed_(states_.size()) {}

int64_t RootedState::indexOf(Value argument) {
  auto *found = llvm::find(states_, argument);
  return found == states_.end() ? -1 : found - states_.begin();
}

LogicalResult RootedState::check(RootUpdateOp update) {
  Operation *terminator = step_.getBody().front().getTerminator();
  SmallVector<Value> own(update.getGradients());
  llvm::append_range(own, update.getStates());
  for (auto [number, state] : llvm::enumerate(update.getStates())) {
    int64_t index = indexOf(state);
    bool isUpdated = index >= 0 && index < terminator->getNumOperands() &&
                     terminator->getOperand(index) == update.getResult(number);
    if (!isUpdated)
      return update.emitOpError() << "state " << number << " is not a state argument of @step that "
                                  << "result " << number << " updates";
    if (number < update.getForward())
      continue;
    Operation *other = findEscape(
        state, own, [&](OpOperand &use) { return use.getOwner() == update.getOperation(); });
    bool isReturnedOnce = update.getResult(number).hasOneUse();
    if (!other && isReturnedOnce)
      continue;
    InFlightDiagnostic error = update.emitOpError()
                               << "state " << number
                               << " is stored only at the root, but is used elsewhere; forward it";
    if (other)
      error.attachNote(other->getLoc()) << "it is used here";
    return error;
  }
  return success();
}

RootLayout::Item RootedState::describe(RootUpdateOp update) {
  auto parameter = cast<BlockArgument>(update.getStates().front());
  auto name = step_.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), kNameAttr);
  return {name ? name.str() : "", cast<RankedTensorType>(parameter.getType()).getNumElements(),
          parameter.getArgNumber()};
}

/// The rows of state `position` of a bucket's updates.
Value RootedState::addArgument(RootBucket &bucket, unsigned position, const std::string &name) {
  Builder builder(step_.getContext());
  RootUpdateOp first = bucket.getUpdates().front();
  RankedTensorType type =
      bucket.getRowsType(getElementTypeOrSelf(first.getStates()[position].getType()));
  SmallVector<Attribute> parts;
  const RootLayout &layout = bucket.getLayout();
  for (int64_t item : layout.getOrder()) {
    RootUpdateOp update = bucket.getUpdates()[item];
    auto state = cast<BlockArgument>(update.getStates()[position]);
    int64_t index = indexOf(state);
    removed_.set(index);
    if (step_.getArgAttr(state.getArgNumber(), kPartsAttr))
      continue; // it is none of the user's
    auto stateName = step_.getArgAttrOfType<StringAttr>(state.getArgNumber(), kNameAttr);
    int64_t offset = layout.getFirstRow(item) * layout.getRowElements();
    parts.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", stateName ? stateName : builder.getStringAttr("")),
         builder.getNamedAttr("offset", builder.getI64IntegerAttr(offset)),
         builder.getNamedAttr("state", builder.getI64IntegerAttr(index)),
         builder.getNamedAttr("type", TypeAttr::get(state.getType()))}));
  }
  DictionaryAttr attributes =
      builder.getDictionaryAttr({builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
                                 builder.getNamedAttr(kPartsAttr, builder.getArrayAttr(parts)),
                                 builder.getNamedAttr(kRoleAttr, builder.getStringAttr(kRoleState)),
                                 builder.getNamedAttr(kShardingAttr, bucket.getSplitSharding(2))});
  unsigned place = states_.back().getArgNumber() + 1 + numAdded_;
  (void)step_.insertArgument(place, type, attributes, first.getLoc());
  return step_.getArgument(place);
}

void RootedState::addResult(Value value) {
  unsigned place = states_.size() + numAdded_++;
  Operation *terminator = step_.getBody().front().getTerminator();
  terminator->insertOperands(place, value);
  (void)step_.insertResult(place, value.getType(), {});
}

void RootedState::pack(RootBucket &bucket, int64_t number) {
  RootUpdateOp first = bucket.getUpdates().front();
  SmallVector<Value> held;
  int64_t before = numAdded_;
  for (int64_t k = first.getForward(), end = first.getStates().size(); k < end; ++k) {
    std::string name = "roots" + std::to_string(number) + "." + std::to_string(k);
    held.push_back(addArgument(bucket, k, name));
    ++numAdded_;
  }
  SmallVector<Value> updated = bucket.build(held);
  numAdded_ = before;
  for (Value value : updated)
    addResult(value);
  llvm::append_range(updates_, bucket.getUpdates());
}

/// @init as the compiler makes it: it creates the communicator and broadcasts.
static bool isGeneratedInit(func::FuncOp init) {
  return llvm::all_of(init.getBody().front(), llvm::IsaPred<InitOp, BroadcastOp, func::ReturnOp>);
}

LogicalResult RootedState::finish(MeshOp mesh) {
  Block &body = step_.getBody().front();
  llvm::BitVector arguments(step_.getNumArguments()), results(step_.getNumResults());
  for (int64_t index : removed_.set_bits()) {
    arguments.set(states_[index].getArgNumber());
    results.set(index);
  }
  body.getTerminator()->eraseOperands(results);
  for (RootUpdateOp update : updates_)
    update.erase();
  eraseDead(body); // what only terms needed
  if (failed(step_.eraseResults(results)) || failed(step_.eraseArguments(arguments)))
    return failure();
  auto init = step_->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(kInitFunction);
  if (!init)
    return success();
  if (!isGeneratedInit(init))
    return init.emitError() << "is not the function that the compiler makes, so that state cannot "
                               "be moved to roots; remove it";
  init.erase();
  createInitFunction(step_, mesh);
  return success();
}

} // namespace mlir::coll
