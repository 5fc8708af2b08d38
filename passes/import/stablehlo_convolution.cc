//===- stablehlo_convolution.cc - convolution as one contraction -----------------===//

#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_contract.h"
#include "passes/import/stablehlo_handlers.h"
#include "passes/import/stablehlo_window.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

/// One of a convolution's three tensors with its group dimension split off: `layout` as in
/// ConvLayout, and the dimension of the groups, or -1.
struct ConvTensor {
  Value value;
  ConvLayout layout;
  int64_t group = -1;

  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
};

/// Splits dimension `dim` of a shape into groups times the rest; returns the new positions of the
/// dimensions of `layout`.
ConvLayout splitLayout(ConvLayout layout, int64_t dim) {
  // `dim` itself becomes the group; later dimensions move up.
  auto move = [&](int64_t &position) { position += position >= dim; };
  move(layout.first);
  move(layout.second);
  for (int64_t &position : layout.spatial)
    move(position);
  return layout;
}

SmallVector<int64_t> splitShape(ArrayRef<int64_t> shape, int64_t dim, int64_t groups) {
  SmallVector<int64_t> split(shape);
  split[dim] /= groups;
  split.insert(split.begin() + dim, groups);
  return split;
}

void splitGroups(ImplicitLocOpBuilder &b, ConvTensor &tensor, int64_t dim, int64_t groups) {
  tensor.value = reshape(b, tensor.value, splitShape(tensor.type().getShape(), dim, groups));
  tensor.layout = splitLayout(tensor.layout, dim);
  tensor.group = dim;
}

struct Convolution {
  ConvLayouts layouts;
  Window window;
  /// Kernel dimensions in which the window is reversed.
  SmallVector<int64_t> reversed;
  int64_t featureGroups = 1;
  int64_t batchGroups = 1;
  int64_t groups() const { return featureGroups * batchGroups; }
};

FailureOr<Convolution> readConvolution(Source &src) {
  Convolution conv;
  FailureOr<ConvLayouts> layouts = getConvLayouts(src.op, "dimension_numbers");
  FailureOr<int64_t> featureGroups = getInt(src.op, "feature_group_count");
  FailureOr<int64_t> batchGroups = getInt(src.op, "batch_group_count");
  if (failed(layouts) || failed(featureGroups) || failed(batchGroups))
    return failure();
  int64_t rank = layouts->input.spatial.size() + 2;
  RankedTensorType input = src.operandTensor(0), kernel = src.operandTensor(1);
  if (input.getRank() != rank || kernel.getRank() != rank || src.tensor().getRank() != rank)
    return src.error("needs operands and a result of rank " + Twine(rank));
  SmallVector<int64_t> size = llvm::map_to_vector(
      layouts->kernel.spatial, [&](int64_t dim) { return kernel.getDimSize(dim); });
  FailureOr<Window> window = readWindow(src, size, "lhs_dilation", "rhs_dilation");
  FailureOr<SmallVector<int64_t>> reversal = getInts(src.op, "window_reversal", rank - 2, 0);
  if (failed(window) || failed(reversal))
    return failure();
  if (*featureGroups < 1 || *batchGroups < 1 || (*featureGroups > 1 && *batchGroups > 1))
    return src.error("needs group counts >= 1, at most one of them above 1");
  SmallVector<int64_t> reversed;
  for (auto [dim, isReversed] : llvm::zip_equal(layouts->kernel.spatial, *reversal))
    if (isReversed)
      reversed.push_back(dim);
  return Convolution{*layouts, *window, reversed, *featureGroups, *batchGroups};
}

LogicalResult checkConvolution(Source &src, const Convolution &conv,
                               ArrayRef<int64_t> paddedInput) {
  RankedTensorType input = src.operandTensor(0), kernel = src.operandTensor(1);
  const auto &[in, ker, out] = conv.layouts;
  int64_t batch = input.getDimSize(in.first), features = input.getDimSize(in.second);
  int64_t outFeatures = kernel.getDimSize(ker.second);
  if (batch % conv.batchGroups != 0 || features % conv.featureGroups != 0 ||
      outFeatures % conv.groups() != 0)
    return src.error("needs group counts that divide batch and features");
  if (kernel.getDimSize(ker.first) != features / conv.featureGroups)
    return src.error("needs a kernel for " + Twine(features / conv.featureGroups) +
                     " input features");
  RankedTensorType result = src.tensor();
  if (result.getDimSize(out.first) != batch / conv.batchGroups ||
      result.getDimSize(out.second) != outFeatures)
    return src.error("needs " + Twine(batch / conv.batchGroups) + " batch entries and " +
                     Twine(outFeatures) + " features in its result");
  for (auto [dim, position] : llvm::enumerate(in.spatial)) {
    int64_t wanted = conv.window.positions(dim, paddedInput[position]);
    if (result.getDimSize(out.spatial[dim]) != wanted)
      return src.error("needs " + Twine(wanted) + " window positions in spatial dimension " +
                       Twine(dim));
  }
  return success();
}

/// Maps of input, kernel and result. Loops: the result's dimensions, the window,
/// the input features.
SmallVector<AffineMap> convolutionMaps(ImplicitLocOpBuilder &b, const Convolution &conv,
                                       const ConvTensor &in, const ConvTensor &ker,
                                       const ConvLayout &out, int64_t outGroup) {
  unsigned outRank = conv.layouts.output.spatial.size() + 2 + (outGroup >= 0);
  unsigned spatial = conv.window.size.size();
  unsigned featureLoop = outRank + spatial, numLoops = featureLoop + 1;
  SmallVector<AffineExpr> inExprs(in.type().getRank()), kerExprs(ker.type().getRank());
  inExprs[in.layout.first] = b.getAffineDimExpr(out.first);
  inExprs[in.layout.second] = b.getAffineDimExpr(featureLoop);
  kerExprs[ker.layout.first] = b.getAffineDimExpr(featureLoop);
  kerExprs[ker.layout.second] = b.getAffineDimExpr(out.second);
  for (unsigned dim = 0; dim < spatial; ++dim) {
    AffineExpr inner = b.getAffineDimExpr(outRank + dim);
    inExprs[in.layout.spatial[dim]] = windowExpr(b, conv.window, dim, out.spatial[dim], inner);
    kerExprs[ker.layout.spatial[dim]] = inner;
  }
  if (outGroup >= 0)
    inExprs[in.group] = kerExprs[ker.group] = b.getAffineDimExpr(outGroup);
  MLIRContext *context = b.getContext();
  return {AffineMap::get(numLoops, 0, inExprs, context),
          AffineMap::get(numLoops, 0, kerExprs, context),
          AffineMap::getMultiDimIdentityMap(numLoops, context).getSliceMap(0, outRank)};
}

/// Applies `list` to the spatial dimensions of `layout`, 0 to the others of `rank`.
SmallVector<int64_t> overSpatial(const ConvLayout &layout, int64_t rank, ArrayRef<int64_t> list) {
  SmallVector<int64_t> all(rank, 0);
  for (auto [position, value] : llvm::zip_equal(layout.spatial, list))
    all[position] = value;
  return all;
}

} // namespace

LogicalResult importConvolution(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  FailureOr<Convolution> conv = readConvolution(src);
  if (failed(conv) || failed(checkContraction(src)))
    return failure();
  RankedTensorType input = src.operandTensor(0), result = src.tensor();
  const ConvLayout &layout = conv->layouts.input;
  const int64_t rank = input.getRank();
  SmallVector<int64_t> padded =
      paddedShape(input.getShape(), overSpatial(layout, rank, conv->window.low),
                  overSpatial(layout, rank, conv->window.high),
                  overSpatial(layout, rank, conv->window.interior()));
  if (failed(checkConvolution(src, *conv, padded)))
    return failure();
  // An empty sum.
  for (RankedTensorType type : {input, src.operandTensor(1), result})
    if (type.getNumElements() == 0)
      return src.finish(splatZero(b, result));
  for (auto [dim, position] : llvm::enumerate(layout.spatial))
    conv->window.dropRemainder(dim, padded[position]);

  // Groups are split off before the padding: it then stands beside the windows that slide over it.
  ConvTensor in{src.operand(0), layout};
  // A reversed loop would hide the window's size from linalg: reverse the kernel.
  ConvTensor kernel{reverse(b, src.operand(1), conv->reversed), conv->layouts.kernel};
  ConvLayout out = conv->layouts.output;
  SmallVector<int64_t> shape(result.getShape());
  int64_t outGroup = -1;
  if (conv->groups() > 1) {
    bool byFeature = conv->featureGroups > 1;
    splitGroups(b, in, byFeature ? layout.second : layout.first, conv->groups());
    splitGroups(b, kernel, kernel.layout.second, conv->groups());
    outGroup = out.second;
    shape = splitShape(shape, outGroup, conv->groups());
    out = splitLayout(out, outGroup);
  }
  Value zero = splatZero(b, RankedTensorType::get({}, input.getElementType()));
  auto overInput = [&](ArrayRef<int64_t> list) {
    return overSpatial(in.layout, in.type().getRank(), list);
  };
  in.value = pad(b, in.value, zero, overInput(conv->window.low), overInput(conv->window.high),
                 overInput(conv->window.interior()));
  FailureOr<Value> sum = buildContraction(src, in.value, kernel.value, shape,
                                          convolutionMaps(b, *conv, in, kernel, out, outGroup));
  if (failed(sum))
    return failure();
  return src.finish(reshape(b, *sum, result.getShape()));
}

} // namespace mlir::coll::stablehlo
