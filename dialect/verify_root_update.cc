//===- verify_root_update.cc - verifier of root_update ------------------------===//
//
// (Cn) names the constraint in ops.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"
#include "dialect/shape.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::coll;

LogicalResult RootUpdateOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                             ValueRange operands, DictionaryAttr,
                                             OpaqueProperties properties, RegionRange,
                                             SmallVectorImpl<Type> &types) {
  const auto &segments = properties.as<Properties *>()->operandSegmentSizes;
  if (segments[0] < 0 || segments[1] < 0 ||
      static_cast<int64_t>(segments[0]) + segments[1] > static_cast<int64_t>(operands.size()))
    return failure();
  ValueRange states = operands.drop_front(segments[0]).take_front(segments[1]);
  types.assign(states.getTypes().begin(), states.getTypes().end());
  return success();
}

LogicalResult RootUpdateOp::verify() {
  if (getGradients().empty() || getStates().empty()) // (C1)
    return emitOpError("needs a gradient and a state");
  ArrayRef<int64_t> shape = shapeOf(getGradients()[0].getType());
  for (ValueRange values : {ValueRange(getGradients()), ValueRange(getStates())})
    for (Type type : values.getTypes())
      if (shapeOf(type) != shape) // (C2)
        return emitOpError("gradients and states must have one shape, but are ")
               << getGradients()[0].getType() << " and " << type;
  for (Type type : getFactors().getTypes()) {
    ArrayRef<int64_t> own = shapeOf(type);
    if (own.size() > shape.size() || own != shape.take_front(own.size())) // (C3)
      return emitOpError("a factor's shape must be the beginning of the gradient's, but is ")
             << type << " beside " << getGradients()[0].getType();
  }
  int64_t forward = getForwardAttr().getInt();
  if (forward < 0 || forward > static_cast<int64_t>(getStates().size())) // (C4)
    return emitOpError("forwards ") << forward << " states, but has " << getStates().size();
  return success();
}

LogicalResult RootUpdateOp::verifyRegions() {
  Block &body = getBody().front();
  auto elementsOf = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) { return getElementTypeOrSelf(type); });
  };
  SmallVector<Type> taken = elementsOf(getOperandTypes());
  if (body.getArgumentTypes() != TypeRange(taken)) // (C5)
    return emitOpError("region must take one scalar for each operand, (")
           << TypeRange(taken) << "), but takes (" << body.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(body.back());
  SmallVector<Type> given = elementsOf(getStates().getTypes());
  if (!yield || yield.getOperandTypes() != TypeRange(given)) // (C5)
    return emitOpError("region must yield one scalar for each state, (") << TypeRange(given) << ")";
  for (Operation &nested : body.without_terminator())
    if (!isMemoryEffectFree(&nested)) { // (C5)
      InFlightDiagnostic diagnostic = emitOpError("region must be free of side effects");
      diagnostic.attachNote(nested.getLoc()) << "'" << nested.getName() << "' is here";
      return diagnostic;
    }
  return success();
}
