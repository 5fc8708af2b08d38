//===- verify_convolution.cc - verifier of convolutions ---------------------------===//
//
// (Cn) names the constraint in convolution.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/convolution.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;

#define GET_OP_CLASSES
#include "dialect/convolution_ops.cc.inc"

int64_t ConvolutionShape::product(ArrayRef<int64_t> list) {
  int64_t product = 1;
  for (int64_t size : list)
    product *= size;
  return product;
}

std::array<int64_t, 3> ConvolutionShape::countElements() const {
  if (kind == kConvolutionForward)
    return {countX(), countW(), countY()};
  if (kind == kConvolutionData)
    return {countY(), countW(), countX()};
  return {countX(), countY(), countW()};
}

/// Whether the number of elements can be counted.
static bool fits(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  int64_t product = 1;
  for (int64_t size : llvm::concat<const int64_t>(first, second))
    if (llvm::MulOverflow(product, size, product))
      return false;
  return true;
}

std::string mlir::coll::explainConvolution(const ConvolutionShape &shape) {
  if (!llvm::is_contained({kConvolutionForward, kConvolutionData, kConvolutionFilter}, shape.kind))
    return ("kind must be forward, data or filter, but is \"" + shape.kind + "\"").str();
  const size_t dims = shape.input.size();
  bool isComplete = shape.sizes.size() == 4 && dims >= 1 && dims <= 3;
  ArrayRef<int64_t> lists[] = {shape.input,   shape.window,    shape.output,
                               shape.strides, shape.dilations, shape.pads};
  for (ArrayRef<int64_t> list : lists)
    isComplete = isComplete && list.size() == dims;
  if (!isComplete)
    return "sizes must be four numbers, and input, window, output, strides, dilations and pads one "
           "to "
           "three each";
  for (ArrayRef<int64_t> list : ArrayRef(lists).drop_back())
    for (int64_t size : llvm::concat<const int64_t>(list, shape.sizes))
      if (size < 1)
        return "sizes, strides and dilations must be at least 1, but one is " +
               std::to_string(size);
  for (int64_t pad : shape.pads)
    if (pad < 0)
      return "pads must not be negative, but one is " + std::to_string(pad);
  for (ArrayRef<int64_t> list : {shape.input, shape.window, shape.output})
    if (!fits(shape.sizes, list))
      return "the tensors must have less than 2^63 elements";
  return {};
}

LogicalResult ConvolutionOp::verify() {
  Type element = getElementTypeOrSelf(getA());
  for (Value value : {Value(getA()), Value(getB()), Value(getResult())})
    if (getElementTypeOrSelf(value) != element || !isConvolutionElement(element)) // (C1)
      return emitOpError("elements must all be f32, f64, bf16 or f16, but are ")
             << element << " and " << getElementTypeOrSelf(value);
  const auto shape = ConvolutionShape::of(*this);
  if (std::string problem = explainConvolution(shape); !problem.empty()) // (C2), (C3)
    return emitOpError(problem);
  for (auto [value, elements] :
       llvm::zip_equal(std::array<Value, 3>{getA(), getB(), getResult()}, shape.countElements()))
    if (cast<RankedTensorType>(value.getType()).getNumElements() != elements) // (C4)
      return emitOpError("needs ") << elements << " elements, but has " << value.getType();
  if (std::optional<StringRef> precision = getPrecision(); // (C5)
      precision && *precision != kPrecisionHighest && *precision != kPrecisionHigh)
    return emitOpError("precision must be highest or high, but is \"") << *precision << '"';
  return success();
}
