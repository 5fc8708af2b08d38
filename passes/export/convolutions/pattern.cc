//===- pattern.cc - a convolution as the loops of a sum of products ---------------===//

#include "passes/export/convolutions/pattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/export/kernels/loop_strides.h"

#include "llvm/ADT/SmallBitVector.h"

namespace mlir::coll {
namespace {

constexpr unsigned kResult = 2;

/// The loop that each result of `map` is; nullopt if one is not a single loop.
std::optional<SmallVector<int64_t>> readPlain(AffineMap map) {
  SmallVector<int64_t> loops;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || llvm::is_contained(loops, dim.getPosition()))
      return std::nullopt;
    loops.push_back(dim.getPosition());
  }
  return loops;
}

/// The loops of one dimension of the windowed operand: one, or two with their factors.
std::optional<SmallVector<std::pair<int64_t, int64_t>>> readTerms(AffineExpr expr,
                                                                  unsigned numLoops) {
  LinearIndex index{SmallVector<int64_t>(numLoops, 0)};
  if (failed(addLinear(expr, 1, index)) || index.offset != 0)
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>> terms;
  for (auto [loop, factor] : llvm::enumerate(index.byDim))
    if (factor != 0)
      terms.emplace_back(loop, factor);
  bool isPlain = terms.size() == 1 && terms[0].second == 1;
  bool isWindow = terms.size() == 2 && terms[0].second > 0 && terms[1].second > 0;
  return isPlain || isWindow ? std::optional(terms) : std::nullopt;
}

/// Assigns roles to the windowed operand's dimensions; false if one does not fit.
bool readWindowed(AffineMap map, ConvolutionLoops &loops) {
  for (AffineExpr expr : map.getResults()) {
    auto terms = readTerms(expr, map.getNumDims());
    if (!terms)
      return false;
    if (terms->size() == 1) {
      loops.windowedDims.push_back(terms->front().first);
      continue;
    }
    auto [output, window] = std::pair((*terms)[0], (*terms)[1]);
    if (!llvm::is_contained(loops.resultDims, output.first))
      std::swap(output, window);
    bool isOutput = llvm::is_contained(loops.resultDims, output.first) &&
                    !llvm::is_contained(loops.plainDims, output.first);
    bool isWindow = llvm::is_contained(loops.plainDims, window.first) &&
                    !llvm::is_contained(loops.resultDims, window.first);
    if (!isOutput || !isWindow)
      return false;
    loops.spatial.push_back({output.first, window.first, output.second, window.second});
    loops.windowedDims.push_back(output.first);
  }
  return true;
}

/// Assigns a role in the sum to each remaining loop; false if a loop fits no role, or the role is
/// taken.
bool sortLoops(ConvolutionLoops &loops) {
  llvm::SmallBitVector used(loops.extents.size());
  for (const auto &spatial : loops.spatial) {
    if (used[spatial.output] || used[spatial.window] ||
        llvm::count(loops.windowedDims, spatial.output) != 1)
      return false;
    used.set(spatial.output);
    used.set(spatial.window);
  }
  for (int64_t loop = 0; loop < static_cast<int64_t>(loops.extents.size()); ++loop) {
    if (used[loop])
      continue;
    bool inWindowed = llvm::is_contained(loops.windowedDims, loop);
    bool inPlain = llvm::is_contained(loops.plainDims, loop);
    bool inResult = llvm::is_contained(loops.resultDims, loop);
    int64_t *part = inWindowed && inPlain && inResult ? &loops.group
                    : inWindowed && inPlain           ? &loops.inner
                    : inWindowed && inResult          ? &loops.outer
                    : inPlain && inResult             ? &loops.right
                                                      : nullptr;
    if (!part || *part >= 0)
      return false;
    *part = loop;
  }
  return loops.outer >= 0 && loops.inner >= 0 && loops.right >= 0;
}

bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

/// The tensor under one insertion into zeros.
std::optional<SpreadTensor> stepUnder(const SpreadTensor &outer, ArrayRef<int64_t> spatial) {
  auto insert = outer.base.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || !isZero(insert.getDest()) ||
      insert.getSourceType().getRank() != insert.getDestType().getRank() ||
      ShapedType::isDynamicShape(insert.getStaticOffsets()) ||
      ShapedType::isDynamicShape(insert.getStaticStrides()))
    return std::nullopt;
  SpreadTensor inner{insert.getSource(), outer.offsets, outer.spreads};
  for (auto [dim, offset, stride] :
       llvm::enumerate(insert.getStaticOffsets(), insert.getStaticStrides())) {
    bool isWhole = offset == 0 && stride == 1 &&
                   insert.getSourceType().getDimSize(dim) == insert.getDestType().getDimSize(dim);
    if (!isWhole && !llvm::is_contained(spatial, dim))
      return std::nullopt;
    inner.offsets[dim] += inner.spreads[dim] * offset;
    inner.spreads[dim] *= stride;
  }
  return inner;
}

} // namespace

std::optional<ConvolutionLoops> readConvolutionLoops(linalg::GenericOp op) {
  for (unsigned windowed : {0u, 1u}) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    auto plain = readPlain(maps[1 - windowed]), result = readPlain(maps[kResult]);
    if (!plain || !result)
      continue;
    ConvolutionLoops loops;
    loops.windowed = windowed;
    loops.plainDims = *plain, loops.resultDims = *result;
    loops.extents = op.getStaticLoopRanges();
    if (ShapedType::isDynamicShape(loops.extents))
      return std::nullopt;
    if (readWindowed(maps[windowed], loops) && !loops.spatial.empty() &&
        loops.spatial.size() <= 3 && sortLoops(loops))
      return loops;
  }
  return std::nullopt;
}

SmallVector<SpreadTensor> findSpreadTensors(Value value, ArrayRef<int64_t> spatial) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<SpreadTensor> found{
      {value, SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 1)}};
  while (std::optional<SpreadTensor> inner = stepUnder(found.back(), spatial))
    found.push_back(std::move(*inner));
  return found;
}

} // namespace mlir::coll
