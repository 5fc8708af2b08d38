//===- verify_attention.cc - verifiers of attention on buffers ---------------------===//
//
// (Cn) names the constraint in ops.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/attention.h"
#include "dialect/exec/exec.h"

using namespace mlir;
using namespace mlir::coll;
using namespace mlir::coll::exec;

static LogicalResult report(Operation *op, const std::string &problem) {
  return problem.empty() ? success() : LogicalResult(op->emitOpError(problem));
}

static LogicalResult verifyElement(Operation *op, Type element,
                                   std::optional<StringRef> precision) {
  if (!isAttentionElement(element))
    return op->emitOpError("elements must be f32, bf16 or f16, but are ") << element;
  if (precision && *precision != "highest" && *precision != "tf32")
    return op->emitOpError("precision must be highest or tf32, but is \"") << *precision << '"';
  return success();
}

/// The elements that fit into a view, where its extent is known.
static std::optional<int64_t> countElements(Value view, Type element) {
  std::optional<Extent> extent = getExtent(view);
  if (!extent)
    return std::nullopt;
  return extent->bytes * 8 / element.getIntOrFloatBitWidth();
}

static LogicalResult verifyPlaces(Operation *op, ArrayRef<int64_t> sizes,
                                  ArrayRef<AttentionTensor> tensors, Type element) {
  for (const AttentionTensor &tensor : tensors)
    if (failed(report(op, explainPlace(tensor, sizes, element))))
      return failure();
  return success();
}

/// A number of f32 for each row of scores.
static LogicalResult verifyRows(Operation *op, StringRef name, Value view, int64_t rows) {
  std::optional<Extent> extent = getExtent(view);
  if (extent && extent->bytes / 4 < rows)
    return op->emitOpError() << name << " must have 4 bytes for each of " << rows
                             << " rows, but has " << extent->bytes;
  return success();
}

/// The operands from `firstWritten` on are written, the others read.
static LogicalResult verifyWritten(Operation *op, unsigned firstWritten) {
  for (unsigned i = firstWritten; i < op->getNumOperands(); ++i) {
    std::optional<Extent> written = getExtent(op->getOperand(i));
    if (written && written->isReadOnly)
      return op->emitOpError("operand ") << i << " is written, but is read-only memory";
    for (unsigned j = 0; written && j < op->getNumOperands(); ++j) {
      std::optional<Extent> other = getExtent(op->getOperand(j));
      if (i != j && other && other->overlaps(*written))
        return op->emitOpError("operand ") << i << " is written, and overlaps operand " << j;
    }
  }
  return success();
}

LogicalResult exec::AttentionOp::verify() {
  Type element = getElement();
  if (failed(verifyElement(*this, element, getPrecision()))) // (C1), (C5)
    return failure();
  if (failed(report(*this, explainSizes(getSizes(), getCausal())))) // (C2)
    return failure();
  auto tensors =
      listAttentionTensors(*this, [&](Value view) { return countElements(view, element); });
  if (failed(verifyPlaces(*this, getSizes(), tensors, element))) // (C3), (C4)
    return failure();
  int64_t rows = AttentionSizes::of(getSizes()).countRows();
  if (failed(verifyRows(*this, "lse", getLse(), rows))) // (C1)
    return failure();
  return verifyWritten(*this, 3); // (C6)
}

LogicalResult exec::AttentionGradientOp::verify() {
  Type element = getElement();
  if (failed(verifyElement(*this, element, getPrecision()))) // (C1), (C5)
    return failure();
  if (failed(report(*this, explainSizes(getSizes(), getCausal())))) // (C2)
    return failure();
  auto tensors =
      listGradientTensors(*this, [&](Value view) { return countElements(view, element); });
  if (failed(verifyPlaces(*this, getSizes(), tensors, element))) // (C3), (C4)
    return failure();
  int64_t rows = AttentionSizes::of(getSizes()).countRows();
  if (failed(verifyRows(*this, "lse", getLse(), rows))) // (C1)
    return failure();
  if (failed(verifyRows(*this, "scratch", getScratch(), rows))) // (C7)
    return failure();
  return verifyWritten(*this, 6); // (C6)
}
