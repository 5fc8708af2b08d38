//===- stablehlo_build.h - building blocks of imported IR -------------*- C++ -*-===//
//
// Helpers that do not depend on StableHLO: constants, generics, reshapes, padding.
// "like" types may be tensors or scalars.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_BUILD_H
#define COLL_PASSES_IMPORT_STABLEHLO_BUILD_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace mlir::coll::stablehlo {

/// `attr` (an element) as a constant of type `like`.
Value splat(ImplicitLocOpBuilder &b, Type like, TypedAttr element);
Value splatFloat(ImplicitLocOpBuilder &b, Type like, double value);
Value splatInt(ImplicitLocOpBuilder &b, Type like, const APInt &value);
/// `value` wraps to the element's width.
Value splatInt(ImplicitLocOpBuilder &b, Type like, int64_t value);
/// Zero of any element type.
Value splatZero(ImplicitLocOpBuilder &b, Type like);
/// The element of a splat constant, scalar or tensor; null if `value` is not one.
TypedAttr splatElement(Value value);
/// The integer of such a constant.
std::optional<APInt> splatInteger(Value value);

/// `like` with another element type.
Type withElement(Type like, Type element);
Type elementOf(Type like);

using Body = llvm::function_ref<FailureOr<SmallVector<Value>>(ValueRange)>;
/// linalg.generic whose results are the types of `outs`; the loops that the last map
/// does not use are reductions. On failure of `body` the
/// operation stays incomplete: the caller must give up.
FailureOr<linalg::GenericOp> buildGeneric(ImplicitLocOpBuilder &b, ValueRange ins, ValueRange outs,
                                          ArrayRef<AffineMap> maps, Body body);
/// A copy through `map`: result[i…] = input[map(i…)].
Value buildCopy(ImplicitLocOpBuilder &b, Value input, AffineMap map, RankedTensorType result);

/// Broadcasts `input`, whose dimension i becomes dimension dims[i]; a splat
/// constant stays one. Sizes must agree or be 1.
Value broadcast(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> dims,
                RankedTensorType result);
/// `input` with the order of its elements along `dims` reversed.
Value reverse(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> dims);
/// The elements of `input` in row-major order under another shape.
Value reshape(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> shape);
/// StableHLO's pad: `interior` elements between neighbours, then `low` and `high`
/// at the edges, where a negative number cuts off. `value` has rank 0. The
/// result's sizes must not be negative.
Value pad(ImplicitLocOpBuilder &b, Value input, Value value, ArrayRef<int64_t> low,
          ArrayRef<int64_t> high, ArrayRef<int64_t> interior);
/// Sizes of pad's result.
SmallVector<int64_t> paddedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> low,
                                 ArrayRef<int64_t> high, ArrayRef<int64_t> interior);
/// The scalar in a rank-0 tensor; a constant stays one.
Value extractScalar(ImplicitLocOpBuilder &b, Value tensor);

SmallVector<OpFoldResult> indexAttrs(Builder &b, ArrayRef<int64_t> values);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_BUILD_H
