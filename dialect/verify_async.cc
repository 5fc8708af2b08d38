//===- verify_async.cc - verifiers of start and wait --------------------------===//

#include "dialect/dialect.h"

using namespace mlir;
using namespace mlir::coll;

/// The block holds one communication operation, and a yield of its results.
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
  if (block.back().getOperandTypes() != getDestinations().getTypes()) // (C3)
    return emitOpError("yields (") << block.back().getOperandTypes() << "), but outs have ("
                                   << getDestinations().getTypes() << ")";
  if (!getRequest().hasOneUse()) { // (C4)
    InFlightDiagnostic diagnostic = emitOpError("request must be waited for exactly once");
    for (Operation *user : getRequest().getUsers())
      diagnostic.attachNote(user->getLoc()) << "it is used here";
    return diagnostic;
  }
  Operation *user = *getRequest().user_begin();
  if (!isa<WaitOp>(user) || user->getBlock() != (*this)->getBlock()) { // (C4)
    InFlightDiagnostic diagnostic = emitOpError("request must be waited for in its own block");
    diagnostic.attachNote(user->getLoc()) << "it is used here";
    return diagnostic;
  }
  return success();
}

LogicalResult WaitOp::verify() {
  auto start = getRequest().getDefiningOp<StartOp>();
  if (!start) // (C1)
    return emitOpError("request must be the result of coll.start");
  auto differ = [&](StringRef clause) -> LogicalResult { // (C1)
    InFlightDiagnostic diagnostic = emitOpError() << clause << " differ from those of coll.start";
    diagnostic.attachNote(start.getLoc()) << "it was started here";
    return diagnostic;
  };
  if (getSources() != start.getSources())
    return differ("ins");
  if (getDestinations() != start.getDestinations())
    return differ("outs");
  // (C2) is checked by InferTypeOpInterface, against inferReturnTypes.
  return success();
}

LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties,
                                       RegionRange regions, SmallVectorImpl<Type> &types) {
  WaitOp::Adaptor adaptor(operands, attributes, properties, regions);
  llvm::append_range(types, adaptor.getDestinations().getTypes());
  return success();
}
