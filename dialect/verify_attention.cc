//===- verify_attention.cc - verifiers of attention -------------------------------===//
//
// (Cn) names the constraint in attention.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/attention.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coll;

#define GET_OP_CLASSES
#include "dialect/attention_ops.cc.inc"

static LogicalResult report(Operation *op, const std::string &problem) {
  return problem.empty() ? success() : LogicalResult(op->emitOpError(problem));
}

static std::optional<int64_t> countElements(TypedValue<RankedTensorType> value) {
  return value.getType().getNumElements();
}

/// All tensors but lse have one type of element.
static LogicalResult verifyElements(Operation *op, Value lse, int64_t rows) {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  for (Value value :
       llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
    if (value != lse && (getElementTypeOrSelf(value) != element || !isAttentionElement(element)))
      return op->emitOpError("elements must all be f32, bf16 or f16, but are ")
             << element << " and " << getElementTypeOrSelf(value);
  auto type = cast<RankedTensorType>(lse.getType());
  if (!type.getElementType().isF32() || type.getNumElements() != rows)
    return op->emitOpError("lse must be f32 with an element for each of ")
           << rows << " rows, but is " << type;
  return success();
}

static LogicalResult verifyPlaces(Operation *op, ArrayRef<int64_t> sizes,
                                  ArrayRef<AttentionTensor> tensors) {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  for (const AttentionTensor &tensor : tensors)
    if (failed(report(op, explainPlace(tensor, sizes, element))))
      return failure();
  return success();
}

static LogicalResult verifyPrecision(Operation *op, std::optional<StringRef> precision) {
  if (precision && *precision != kPrecisionHighest && *precision != kPrecisionHigh)
    return op->emitOpError("precision must be highest or high, but is \"") << *precision << '"';
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(report(*this, explainSizes(getSizes(), getCausal())))) // (C2)
    return failure();
  if (failed(verifyElements(*this, getLse(),
                            AttentionSizes::of(getSizes()).countRows()))) // (C1)
    return failure();
  if (failed(verifyPlaces(*this, getSizes(),
                          listAttentionTensors(*this, countElements)))) // (C3), (C4)
    return failure();
  return verifyPrecision(*this, getPrecision()); // (C5)
}

LogicalResult AttentionGradientOp::verify() {
  if (failed(report(*this, explainSizes(getSizes(), getCausal())))) // (C2)
    return failure();
  if (failed(verifyElements(*this, getLse(),
                            AttentionSizes::of(getSizes()).countRows()))) // (C1)
    return failure();
  if (failed(
          verifyPlaces(*this, getSizes(), listGradientTensors(*this, countElements)))) // (C3), (C4)
    return failure();
  return verifyPrecision(*this, getPrecision()); // (C5)
}
