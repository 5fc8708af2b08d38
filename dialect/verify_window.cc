//===- verify_window.cc - verifier of window ----------------------------------===//
//
// (Cn) names the constraint in ops.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::coll;

LogicalResult WindowOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes()) // (C1)
    return emitOpError("region must take the inputs, (")
           << getInputs().getTypes() << "), but takes (" << body.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(body.back());
  Operation *core = yield ? yield->getPrevNode() : nullptr;
  if (!core || core->getResults() != yield.getOperands() ||
      core->getResultTypes() != getResultTypes()) // (C2)
    return emitOpError("region must yield the results of its last operation, of types (")
           << getResultTypes() << ")";
  for (Operation &nested : body.without_terminator())
    if (!isMemoryEffectFree(&nested)) { // (C3)
      InFlightDiagnostic diagnostic = emitOpError("region must be free of side effects");
      diagnostic.attachNote(nested.getLoc()) << "'" << nested.getName() << "' is here";
      return diagnostic;
    }
  return success();
}
