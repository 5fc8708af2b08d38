//===- verify_async.cc - verifiers of start and await -------------------------===//

#include "dialect/dialect.h"
#include "dialect/futures.h"

using namespace mlir;
using namespace mlir::coll;

/// Checks that the block holds one communication operation, and a yield of its results.
static LogicalResult verifyStartBody(StartOp start, Block &block) {
  if (block.getOperations().size() != 2) // (C1)
    return start.emitOpError("region must hold one communication operation and coll.yield, "
                             "but holds ")
           << block.getOperations().size() << " operations";
  Operation &communication = block.front();
  if (!isa<CollectiveOpInterface>(communication) ||
      isa<InitOp, DispatchOp, CombineOp>(communication)) { // (C1)
    InFlightDiagnostic diagnostic =
        start.emitOpError("region must hold a communication operation that can be started");
    diagnostic.attachNote(communication.getLoc()) << "'" << communication.getName() << "' is here";
    return diagnostic;
  }
  Operation &yield = block.back();
  if (!isa<YieldOp>(yield) || yield.getOperands() != communication.getResults()) { // (C1)
    InFlightDiagnostic diagnostic = start.emitOpError("region must end with a coll.yield of the "
                                                      "communication's results");
    diagnostic.attachNote(yield.getLoc()) << "the block ends here";
    return diagnostic;
  }
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
