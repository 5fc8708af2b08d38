//===- memory_form.cc - how elements lie in memory ------------------------------===//

#include "dialect/exec/memory_form.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;

Type mlir::coll::getStoredElement(Type element) {
  bool isPart = element.isInteger() && element.getIntOrFloatBitWidth() < 8;
  return isPart ? IntegerType::get(element.getContext(), 8) : element;
}

DenseElementsAttr mlir::coll::getStoredElements(DenseElementsAttr elements) {
  Type element = elements.getElementType(), stored = getStoredElement(element);
  if (stored == element)
    return elements;
  return elements.mapValues(stored, [&](const llvm::APInt &value) {
    return element.isInteger(1) ? value.zext(8) : value.sext(8);
  });
}

llvm::APInt mlir::coll::getStoredBits(TypedAttr scalar) {
  if (auto number = dyn_cast<FloatAttr>(scalar))
    return number.getValue().bitcastToAPInt();
  llvm::APInt bits = cast<IntegerAttr>(scalar).getValue();
  unsigned width = 8 * getElementBytes(scalar.getType());
  return scalar.getType().isInteger(1) ? bits.zextOrTrunc(width) : bits.sextOrTrunc(width);
}

int64_t mlir::coll::getElementBytes(Type element) {
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return (bits + 7) / 8;
}

std::optional<int64_t> mlir::coll::getTensorBytes(RankedTensorType type) {
  int64_t bytes = getElementBytes(type.getElementType());
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return bytes;
}
