//===- stablehlo_contract.h - sums of products ------------------------*- C++ -*-===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_CONTRACT_H
#define COLL_PASSES_IMPORT_STABLEHLO_CONTRACT_H

#include "passes/import/stablehlo_importer.h"

namespace mlir::coll::stablehlo {

/// The type in which a sum of products is accumulated: f32 for 16-bit floats.
Type accumulatorType(Type element);

/// Checks that the result's elements can hold both operands' elements.
LogicalResult checkContraction(Source &src);

/// One linalg.generic: the sum of lhs * rhs over the loops that the result's map
/// does not use, of the given shape and the result's element type. `maps` are those
/// of lhs, rhs and the result.
FailureOr<Value> buildContraction(Source &src, Value lhs, Value rhs, ArrayRef<int64_t> shape,
                                  ArrayRef<AffineMap> maps);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_CONTRACT_H
