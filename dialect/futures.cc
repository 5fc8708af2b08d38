//===- futures.cc - operations in flight, followed through loops -----------------===//

#include "dialect/futures.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::coll;

namespace {
/// The values of an scf.for that are carried at the same place.
struct Carried {
  Value init, argument, yielded, result;
};
} // namespace

/// The number of values that the loop carries; nullopt if `op` is not a loop that carries values,
/// or one that its own verifier will reject.
static std::optional<unsigned> getNumCarried(Operation *op) {
  constexpr unsigned kBounds = 3;
  if (!isa_and_present<scf::ForOp>(op) || op->getNumOperands() < kBounds ||
      !op->getRegion(0).hasOneBlock() || op->getRegion(0).front().empty())
    return std::nullopt;
  unsigned carried = op->getNumOperands() - kBounds;
  Block &body = op->getRegion(0).front();
  bool isWellFormed = isa<scf::YieldOp>(body.back()) && body.back().getNumOperands() == carried &&
                      body.getNumArguments() == carried + 1 && op->getNumResults() == carried;
  return isWellFormed ? std::optional<unsigned>(carried) : std::nullopt;
}

static Carried getCarried(Operation *loop, unsigned number) {
  Block &body = loop->getRegion(0).front();
  return {loop->getOperand(loop->getNumOperands() - loop->getNumResults() + number),
          body.getArgument(number + 1), body.back().getOperand(number), loop->getResult(number)};
}

SmallVector<Operation *> mlir::coll::getStarts(Value future) {
  SmallVector<Operation *> starts;
  llvm::SetVector<Value> values;
  values.insert(future);
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    Operation *op = value.getDefiningOp();
    if (op && !isa<scf::ForOp>(op)) {
      starts.push_back(op);
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *loop = op ? op : argument.getOwner()->getParentOp();
    unsigned number = op ? cast<OpResult>(value).getResultNumber() : argument.getArgNumber();
    // The first argument of a loop counts its rounds.
    if (!getNumCarried(loop) || (!op && number == 0))
      return {};
    Carried carried = getCarried(loop, op ? number : number - 1);
    values.insert(carried.init);
    values.insert(carried.yielded);
  }
  return starts;
}

/// Reports `text` at `start`, with a note at `user`.
static LogicalResult reportUse(Operation *start, Operation *user, const Twine &text) {
  InFlightDiagnostic diagnostic = start->emitOpError(text);
  diagnostic.attachNote(user->getLoc()) << "it is used here";
  return diagnostic;
}

LogicalResult mlir::coll::verifyAwaitedOnce(Operation *start, Value future, StringRef what,
                                            llvm::function_ref<bool(Operation *)> isAwait) {
  llvm::SetVector<Value> values;
  values.insert(future);
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    if (!value.hasOneUse()) {
      InFlightDiagnostic diagnostic = start->emitOpError(what) << " must be awaited exactly once";
      if (value != future)
        diagnostic.attachNote(value.getLoc())
            << "the value that this loop carries is not awaited exactly once";
      for (Operation *user : value.getUsers())
        diagnostic.attachNote(user->getLoc()) << "it is used here";
      return diagnostic;
    }
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (user->getBlock() != value.getParentBlock())
      return reportUse(start, user,
                       what + " must be awaited in its own block, or carried on by a loop there");
    if (isAwait(user))
      continue;
    bool isYield = isa<scf::YieldOp>(user);
    Operation *loop = isYield ? user->getParentOp() : user;
    if (isa_and_present<scf::ForOp>(loop) && !getNumCarried(loop))
      return success();
    // The value that one iteration yields is the argument of the next.
    unsigned bounds = isYield ? 0 : loop->getNumOperands() - loop->getNumResults();
    if (!getNumCarried(loop) || use.getOperandNumber() < bounds)
      return reportUse(start, user, what + " can only be awaited, or carried by an scf.for");
    Carried carried = getCarried(loop, use.getOperandNumber() - bounds);
    values.insert(carried.argument);
    values.insert(carried.result);
  }
  return success();
}
