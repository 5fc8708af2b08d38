//===- combine.h - reductions step by step -----------------------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_MICRO_COMBINE_H
#define COLL_PASSES_TRANSFORM_MICRO_COMBINE_H

#include "dialect/dialect.h"

namespace mlir::coll {

/// Two tensors combined element by element. `kind` is not `Avg`.
Value createCombination(OpBuilder &builder, Location loc, ReductionKind kind, Value a, Value b);

/// A tensor of floats with elements of the type `element`: itself where it has them already.
Value createConversion(OpBuilder &builder, Location loc, Value value, Type element);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_MICRO_COMBINE_H
