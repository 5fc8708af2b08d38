//===- verify_tokens.cc - routes, dispatch and combine ------------------------===//
//
// The types of the results follow from the operands, so the operands are checked where the types
// are inferred: by the parser, and again by the verifier. (Cn) names the constraint in ops.td or
// attrs.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"

#include "mlir/IR/TypeUtilities.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;

static constexpr int64_t kMaxTopk = 32, kMaxRows = int64_t{1} << 30;

/// The value's type if it is a matrix of static shape, else null.
static RankedTensorType getMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getRank() == 2 ? type : RankedTensorType();
}

/// Whether the value is [rows, anything].
static bool isMatrixOf(Value value, int64_t rows) {
  RankedTensorType type = getMatrix(value);
  return type && type.getDimSize(0) == rows;
}

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

LogicalResult RouteType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t tokens,
                                int64_t topk, int64_t capacity, GroupAttr) {
  if (topk < 1 || topk > kMaxTopk) // (C1)
    return emitError() << "topk must be 1 to " << kMaxTopk << ", but is " << topk;
  for (int64_t rows : {tokens, capacity})
    if (rows < 0 || rows >= kMaxRows) // (C2)
      return emitError() << "tokens and capacity must be 0 to " << kMaxRows - 1 << ", but are "
                         << tokens << " and " << capacity;
  return success();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

LogicalResult DispatchOp::verifyOperands(std::optional<Location> loc, Adaptor adaptor) {
  RankedTensorType input = getMatrix(adaptor.getInput());
  if (!input) // (C1)
    return emitOptionalError(loc, "input must be [tokens, hidden], but is ",
                             adaptor.getInput().getType());
  int64_t tokens = input.getDimSize(0);
  RankedTensorType experts = getMatrix(adaptor.getExperts());
  if (!experts || experts.getDimSize(0) != tokens ||
      !(experts.getElementType().isSignlessInteger(32) ||
        experts.getElementType().isSignlessInteger(64))) // (C1)
    return emitOptionalError(loc, "experts must be [", tokens, ", topk] of i32 or i64, but are ",
                             adaptor.getExperts().getType());
  Type f32 = Float32Type::get(input.getContext());
  if (adaptor.getWeights().getType() != experts.clone(f32)) // (C1)
    return emitOptionalError(loc, "weights must be ", experts.clone(f32), ", but are ",
                             adaptor.getWeights().getType());
  if (Value scales = adaptor.getScales();
      scales &&
      (!isMatrixOf(scales, tokens) || !getElementTypeOrSelf(scales.getType()).isF32())) // (C2)
    return emitOptionalError(loc, "scales must be [", tokens,
                             ", number of scales] of f32, but are ", scales.getType());
  if (adaptor.getLocalExpertsAttr().getInt() < 1) // (C3)
    return emitOptionalError(loc, "local_experts must be at least 1, but is ",
                             adaptor.getLocalExpertsAttr().getInt());
  // (C4) is the route type's own verifier's; (C5) is checked by InferTypeOpInterface, against
  // inferReturnTypes.
  return success();
}

LogicalResult DispatchOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                           ValueRange operands, DictionaryAttr attributes,
                                           OpaqueProperties properties, RegionRange regions,
                                           SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (failed(verifyOperands(loc, adaptor)))
    return failure();
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto experts = cast<RankedTensorType>(adaptor.getExperts().getType());
  int64_t tokens = input.getDimSize(0), topk = experts.getDimSize(1);
  int64_t capacity = adaptor.getCapacityAttr().getInt();
  auto emitError = [&] { return mlir::emitError(loc.value_or(UnknownLoc::get(context))); };
  auto route =
      RouteType::getChecked(emitError, context, tokens, topk, capacity, adaptor.getGroup());
  if (!route)
    return failure();
  Type f32 = Float32Type::get(context), i32 = IntegerType::get(context, 32);
  types.push_back(input.clone({capacity, input.getDimSize(1)}));
  types.push_back(experts.clone({capacity, topk}));
  types.push_back(RankedTensorType::get({capacity, topk}, f32));
  types.push_back(RankedTensorType::get({adaptor.getLocalExpertsAttr().getInt()}, i32));
  types.push_back(route);
  if (Value scales = adaptor.getScales()) {
    auto type = cast<RankedTensorType>(scales.getType());
    types.push_back(type.clone({capacity, type.getDimSize(1)}));
  }
  return success();
}

LogicalResult DispatchOp::verifyGroupSize(int64_t n) {
  int64_t local = getLocalExpertsAttr().getInt(), all;
  if (llvm::MulOverflow(local, n, all) || all > INT32_MAX) // (C3)
    return emitOpError("has ") << local << " experts on each of " << n
                               << " ranks, which must be less than 2^31";
  return success();
}

void DispatchOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "rows");
  setName(getRowExperts(), "row_experts");
  setName(getRowWeights(), "row_weights");
  setName(getCounts(), "counts");
  setName(getRoute(), "route");
  if (getRowScales())
    setName(getRowScales(), "row_scales");
}

//===----------------------------------------------------------------------===//
// Combine
//===----------------------------------------------------------------------===//

LogicalResult CombineOp::verifyOperands(std::optional<Location> loc, Adaptor adaptor) {
  auto route = dyn_cast<RouteType>(adaptor.getRoute().getType());
  if (!route) // (C1)
    return emitOptionalError(loc, "takes the route of a coll.dispatch, not ",
                             adaptor.getRoute().getType());
  if (!isMatrixOf(adaptor.getInput(), route.getCapacity()) ||
      !isa<FloatType>(getElementTypeOrSelf(adaptor.getInput().getType()))) // (C1)
    return emitOptionalError(loc, "input must be [", route.getCapacity(),
                             ", hidden] of floats, but is ", adaptor.getInput().getType());
  // (C2) is checked by InferTypeOpInterface, against inferReturnTypes.
  return success();
}

LogicalResult CombineOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                          ValueRange operands, DictionaryAttr attributes,
                                          OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (failed(verifyOperands(loc, adaptor)))
    return failure();
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto route = cast<RouteType>(adaptor.getRoute().getType());
  types.push_back(input.clone({route.getTokens(), input.getDimSize(1)}));
  return success();
}

LogicalResult CombineOp::verifyGroupSize(int64_t) { return success(); }

void CombineOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "combined"); }
