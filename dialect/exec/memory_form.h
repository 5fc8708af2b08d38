//===- memory_form.h - how elements lie in memory ---------------------*- C++ -*-===//

#ifndef COLL_DIALECT_EXEC_MEMORY_FORM_H
#define COLL_DIALECT_EXEC_MEMORY_FORM_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace mlir::coll {

/// The form of an element in memory: i1 and i4 are a byte, whose high bits extend a boolean by
/// zeros and an i4 by its sign. Readers only look at the low bits.
Type getStoredElement(Type element);
/// Constant elements in their memory form.
DenseElementsAttr getStoredElements(DenseElementsAttr elements);

/// The bits of a scalar in its memory form.
llvm::APInt getStoredBits(TypedAttr scalar);

/// Bytes of one element; `element` is an integer, an index or a float.
int64_t getElementBytes(Type element);
/// Bytes of a tensor of static shape, or nullopt if they do not fit into 64 bits.
std::optional<int64_t> getTensorBytes(RankedTensorType type);

} // namespace mlir::coll

#endif // COLL_DIALECT_EXEC_MEMORY_FORM_H
