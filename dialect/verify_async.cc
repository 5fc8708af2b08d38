//===- verify_async.cc - verifiers of start and await -------------------------===//

#include "dialect/dialect.h"
#include "dialect/futures.h"

using namespace mlir;
using namespace mlir::coll;

static LogicalResult reportIn(StartOp start, Operation &op, const Twine &text, const Twine &note) {
  InFlightDiagnostic diagnostic = start.emitOpError(text);
  diagnostic.attachNote(op.getLoc()) << note;
  return diagnostic;
}

/// Checks that the block holds communication operations, and a yield of their results.
static LogicalResult verifyStartBody(StartOp start, Block &block) {
  if (block.getOperations().size() < 2) // (C1)
    return start.emitOpError("region must hold a communication operation and coll.yield");
  Operation &yield = block.back();
  SmallVector<Value> results;
  for (Operation &op : block) {
    if (&op == &yield)
      break;
    if (!isa<CollectiveOpInterface>(op) || isa<InitOp, DispatchOp, CombineOp>(op)) // (C1)
      return reportIn(start, op, "region must hold a communication operation that can be started",
                      "'" + op.getName().getStringRef() + "' is here");
    llvm::append_range(results, op.getResults());
  }
  if (!isa<YieldOp>(yield) || yield.getOperands() != ValueRange(results)) // (C1)
    return reportIn(start, yield,
                    "region must end with a coll.yield of the communication's results",
                    "the block ends here");
  return success();
}

/// (C5) for a start of several operations.
static LogicalResult verifyBucket(StartOp start, Block &block) {
  Operation &first = block.front();
  if (!coll::detail::canShareCall(&first))
    return reportIn(start, first,
                    "region may hold several operations only if they are all_reduce, reduce or "
                    "broadcast",
                    "'" + first.getName().getStringRef() + "' is here");
  for (Operation &op : start.getCommunications())
    if (!coll::detail::isSameCall(&first, &op))
      return reportIn(start, op,
                      "region's operations are one call and must be alike but for their shapes",
                      "this one differs from the first");
  SmallVector<Value> inputs;
  for (Operation &op : start.getCommunications())
    llvm::append_range(inputs, op.getOperands());
  if (ValueRange(inputs) != ValueRange(block.getArguments()))
    return start.emitOpError("block's arguments must be the inputs of its operations, in order");
  if (Value future = start.getFuture(); future.hasOneUse() && !isa<AwaitOp>(*future.user_begin()))
    return reportIn(start, **future.user_begin(),
                    "of several operations must be awaited in its own block", "it is used here");
  return success();
}

LogicalResult StartOp::verify() {
  Block &block = getBody().front();
  if (failed(verifyStartBody(*this, block))) // (C1)
    return failure();
  if (block.getArgumentTypes() != getSources().getTypes()) // (C2)
    return emitOpError("block arguments have types (")
           << block.getArgumentTypes() << "), but ins have (" << getSources().getTypes() << ")";
  if (block.back().getOperandTypes() != TypeRange(getFuture().getType().getTypes())) // (C3)
    return emitOpError("yields (") << block.back().getOperandTypes() << "), but the future is of ("
                                   << getFuture().getType().getTypes() << ")";
  if (isBucket() && failed(verifyBucket(*this, block))) // (C5)
    return failure();
  return verifyAwaitedOnce(*this, getFuture(), "future", // (C4)
                           [](Operation *user) { return isa<AwaitOp>(user); });
}

LogicalResult AwaitOp::verify() {
  SmallVector<Operation *> starts = getStarts(getFuture());
  if (starts.empty() ||
      !llvm::all_of(starts, [](Operation *op) { return isa<StartOp>(op); })) // (C1)
    return emitOpError("future must come from coll.start, directly or through the loops that "
                       "carry it");
  // (C2) is checked by InferTypeOpInterface, against inferReturnTypes.
  return success();
}

LogicalResult AwaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                        DictionaryAttr, OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &types) {
  if (operands.size() != 1 || !isa<FutureType>(operands[0].getType()))
    return failure();
  llvm::append_range(types, cast<FutureType>(operands[0].getType()).getTypes());
  return success();
}
