//===- micro_batches.cc ----------------------------------------------------------===//

#include "passes/analysis/micro_batches.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::coll;

SmallVector<Value> mlir::coll::getReadValues(Operation *op) {
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

bool mlir::coll::hasAxis(GroupAttr group, StringRef axis) {
  return llvm::any_of(group.getAxes(), [&](StringAttr name) { return name == axis; });
}

/// Whether `op`, or an operation in its regions, reads the number of the micro-batch.
static bool readsTime(Operation *op) {
  return op
      ->walk([](AxisIndexOp index) {
        bool reads = llvm::any_of(index.getAxes().getAsValueRange<StringAttr>(),
                                  [](StringRef axis) { return axis == kTimeAxis; });
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<unsigned> mlir::coll::getTimeDim(func::FuncOp step, unsigned argument) {
  auto sharding = step.getArgAttrOfType<ShardingAttr>(argument, kShardingAttr);
  if (!sharding)
    return std::nullopt;
  for (auto [dim, split] : llvm::enumerate(sharding.getDims()))
    if (llvm::any_of(split.getAxes(), [](StringAttr axis) { return axis == kTimeAxis; }))
      return dim;
  return std::nullopt;
}

/// The place in the step's text that `op` comes from: its own location or, because operations on an
/// argument may have none, that of the first operation after it that has one.
static Location getPlace(Operation *op) {
  for (Operation *at = op; at;) {
    if (at->getLoc()->findInstanceOf<FileLineColLoc>())
      return at->getLoc();
    Operation *first = nullptr;
    for (Operation *user : at->getUsers())
      if (!first || (user->getBlock() == first->getBlock() && user->isBeforeInBlock(first)))
        first = user;
    at = first;
  }
  return op->getLoc();
}

/// An error at the first collective in `op` that crosses micro-batches.
static LogicalResult checkCollectives(Operation *op) {
  WalkResult result = op->walk([](CollectiveOpInterface comm) {
    if (!hasAxis(comm.getCommGroup(), kTimeAxis))
      return WalkResult::advance();
    InFlightDiagnostic diag = emitError(getPlace(comm))
                              << "needs the rows of all micro-batches at once ("
                              << comm->getName().stripDialect()
                              << " over them); compute it row by row, or run without "
                                 "micro-batches and stages";
    if (auto why = comm->getAttrOfType<StringAttr>(kWhyAttr))
      diag.attachNote() << why.getValue();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult MicroBatches::visit(Operation *op, bool isMerge) {
  if (!isMerge && failed(checkCollectives(op)))
    return failure();
  bool varies = readsTime(op);
  Operation *merge = nullptr;
  for (Value value : getReadValues(op)) {
    varies |= isVarying(value);
    if (!merge)
      merge = mergeOf_.lookup(value);
  }
  if ((varies || isMerge) && merge) {
    StringRef merged = isa<AllReduceOp>(merge) ? "a sum over all of them" : "the rows of all";
    InFlightDiagnostic diag = emitError(getPlace(op))
                              << "needs, for each micro-batch, " << merged
                              << "; make the rows independent of one another, or run without "
                                 "micro-batches and stages";
    diag.attachNote(merge->getLoc()) << "they are combined here";
    return diag;
  }
  if (isMerge) {
    varies = false;
    merge = op;
  }
  if (varies)
    varyingOps_.insert(op);
  for (Value result : op->getResults()) {
    if (varies)
      varying_.insert(result);
    if (merge)
      mergeOf_[result] = merge;
  }
  return success();
}

FailureOr<MicroBatches> MicroBatches::create(func::FuncOp step,
                                             llvm::function_ref<bool(Operation *)> isMerge) {
  MicroBatches batches;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (getTimeDim(step, i))
      batches.varying_.insert(step.getArgument(i));
  for (Operation &op : step.getBody().front().without_terminator())
    if (failed(batches.visit(&op, isMerge(&op))))
      return failure();
  return batches;
}
