//===- shape.h - the extents of ranked tensors --------------------------*- C++ -*-===//

#ifndef COLL_DIALECT_SHAPE_H
#define COLL_DIALECT_SHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::coll {

/// The extents of a type, or of a value, that is a ranked tensor.
inline ArrayRef<int64_t> shapeOf(Type type) { return cast<RankedTensorType>(type).getShape(); }
inline ArrayRef<int64_t> shapeOf(Value value) { return shapeOf(value.getType()); }

} // namespace mlir::coll

#endif // COLL_DIALECT_SHAPE_H
