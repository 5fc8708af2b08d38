//===- verify_convolution.cc - verifier of convolutions on buffers ------------------===//
//
// (Cn) names the constraint in convolution.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/exec/convolution.h"
#include "dialect/exec/memory_form.h"

using namespace mlir;
using namespace mlir::coll;
using namespace mlir::coll::exec;

#define GET_OP_CLASSES
#include "dialect/exec/convolution_ops.cc.inc"

LogicalResult exec::ConvolutionOp::verify() {
  Type element = getElement();
  if (!isConvolutionElement(element)) // (C1)
    return emitOpError("elements must be f32, f64, bf16 or f16, but are ") << element;
  if (!exec::symbolizePrecision(getPrecision().value_or("highest"))) // (C1)
    return emitOpError("precision must be highest, tf32 or bf16, but is ") << getPrecisionAttr();
  const auto shape = ConvolutionShape::of(*this);
  if (std::string problem = explainConvolution(shape); !problem.empty()) // (C2), (C3)
    return emitOpError(problem);
  std::array<int64_t, 3> elements = shape.countElements();
  for (auto [i, view] : llvm::enumerate(getOperands()))
    if (std::optional<Extent> extent = getExtent(view);
        extent && extent->bytes / getElementBytes(element) != elements[i]) // (C4)
      return emitOpError("operand ")
             << i << " needs " << elements[i] << " elements, but has " << extent->bytes << " bytes";
  std::optional<Extent> written = getExtent(getResult());
  if (written && written->isReadOnly) // (C5)
    return emitOpError("writes read-only memory");
  for (Value operand : {getA(), getB()})
    if (std::optional<Extent> read = getExtent(operand);
        written && read && read->overlaps(*written)) // (C5)
      return emitOpError("the result overlaps an operand");
  return success();
}
