//===- verify_sort.cc - verifier of sort --------------------------------------===//
//
// (Cn) names the constraint in ops.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::coll;

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                       DictionaryAttr, OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  types.assign(operands.getTypes().begin(), operands.getTypes().end());
  return success();
}

LogicalResult SortOp::verify() {
  if (getInputs().empty()) // (C1)
    return emitOpError("needs an input");
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  for (Type type : getInputs().getTypes())
    if (cast<RankedTensorType>(type).getShape() != first.getShape()) // (C1)
      return emitOpError("inputs must have one shape, but are ") << first << " and " << type;
  if (getDimAttr().getInt() < 0 || getDimAttr().getInt() >= first.getRank()) // (C1)
    return emitOpError("dim is ") << getDimAttr().getInt() << ", which is not within rank "
                                  << first.getRank();
  return success();
}

LogicalResult SortOp::verifyRegions() {
  Block &body = getComparator().front();
  SmallVector<Type> wanted;
  for (Type type : getInputs().getTypes())
    wanted.append(2, getElementTypeOrSelf(type));
  if (body.getArgumentTypes() != TypeRange(wanted)) // (C2)
    return emitOpError("region must take two scalars per input, (")
           << TypeRange(wanted) << "), but takes (" << body.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getOperands().size() != 1 ||
      !yield.getOperands()[0].getType().isInteger(1)) // (C2)
    return emitOpError("region must yield one i1");
  for (Operation &nested : body.without_terminator())
    if (!isMemoryEffectFree(&nested)) { // (C2)
      InFlightDiagnostic diagnostic = emitOpError("region must be free of side effects");
      diagnostic.attachNote(nested.getLoc()) << "'" << nested.getName() << "' is here";
      return diagnostic;
    }
  return success();
}
