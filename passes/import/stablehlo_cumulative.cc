//===- stablehlo_cumulative.cc - running sums, products and maxima ---------------===//
//
// A window as long as its dimension, at each of its positions, reads n * n / 2 elements. Here it
// is cut into blocks, which reads fewer than 2 * kBlock * n:
//
//   1  2  3 |  4  5  6      x, in blocks
//   1  3  6 |  4  9 15      the running sum of each block
//   0       |  6            the running sum of what the blocks before it sum up to, the same way
//   1  3  6 | 10 15 21      both together
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_window.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll::stablehlo {
namespace {

constexpr int64_t kBlock = 32;
// Shorter dimensions stay one window, which can be split over ranks with fewer moves.
constexpr int64_t kShortest = 512;

class RunningReduction {
public:
  RunningReduction(Source &src, const Reduction &reduction, int64_t dim, bool isReversed)
      : src(src), b(src.b), reduction(reduction), dim(dim), isReversed(isReversed) {}

  FailureOr<Value> emit(Value input) {
    int64_t length = shapeOf(input)[dim];
    if (length <= kBlock)
      return emitWindows(input, dim);
    int64_t blocks = llvm::divideCeil(length, kBlock);
    FailureOr<Value> inside = emitWindows(cut(extend(input, blocks * kBlock - length)), dim + 1);
    if (failed(inside))
      return failure();
    FailureOr<Value> before = emit(takeTotals(*inside));
    if (failed(before))
      return failure();
    FailureOr<Value> joined = join(moveToNext(*before), *inside);
    if (failed(joined))
      return failure();
    SmallVector<int64_t> shape(shapeOf(input));
    shape[dim] = blocks * kBlock;
    return extend(reshape(b, *joined, shape), length - blocks * kBlock);
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  /// Elements that change nothing along a dimension, in front of it and behind it.
  Value padAlong(Value value, int64_t along, int64_t front, int64_t behind) {
    SmallVector<int64_t> low(shapeOf(value).size()), high(low), interior(low);
    low[along] = front, high[along] = behind;
    if (isReversed)
      std::swap(low[along], high[along]);
    return pad(b, value, reduction.padding(src, 0), low, high, interior);
  }

  /// The value with `count` more elements where the reduction ends; fewer if it is negative.
  Value extend(Value value, int64_t count) { return padAlong(value, dim, 0, count); }

  Value cut(Value value) {
    SmallVector<int64_t> shape(shapeOf(value));
    shape[dim] /= kBlock;
    shape.insert(shape.begin() + dim + 1, kBlock);
    return reshape(b, value, shape);
  }

  /// The window ends at its position, along `along`.
  FailureOr<Value> emitWindows(Value input, int64_t along) {
    SmallVector<int64_t> shape(shapeOf(input)), ones(shape.size(), 1), zeros(shape.size(), 0);
    Window window{ones, ones, zeros, zeros, ones, ones};
    window.size[along] = shape[along];
    WindowLoops loops = WindowLoops::get(b, window);
    Type element = elementOf(input.getType());
    SmallVector<Value> inputs{padAlong(input, along, shape[along] - 1, 0)};
    SmallVector<AffineMap> maps{loops.input};
    if (!loops.windowShape.empty()) {
      inputs.push_back(tensor::EmptyOp::create(b, loops.windowShape, element));
      maps.push_back(loops.window);
    }
    maps.push_back(loops.output);
    Value start =
        broadcast(b, reduction.padding(src, 0), {}, cast<RankedTensorType>(input.getType()));
    return combine(inputs, start, maps);
  }

  /// What each block sums up to.
  Value takeTotals(Value inside) {
    SmallVector<int64_t> sizes(shapeOf(inside)), from(sizes.size(), 0), ones(sizes.size(), 1);
    from[dim + 1] = isReversed ? 0 : kBlock - 1;
    sizes[dim + 1] = 1;
    Value totals = tensor::ExtractSliceOp::create(b, inside, indexAttrs(b, from),
                                                  indexAttrs(b, sizes), indexAttrs(b, ones));
    sizes.erase(sizes.begin() + dim + 1);
    return reshape(b, totals, sizes);
  }

  /// Position i gets what was at the one before it.
  Value moveToNext(Value value) { return padAlong(value, dim, 1, -1); }

  FailureOr<Value> join(Value before, Value inside) {
    MLIRContext *context = b.getContext();
    AffineMap all = AffineMap::getMultiDimIdentityMap(shapeOf(inside).size(), context);
    return combine({before}, inside, {all.dropResult(dim + 1), all});
  }

  /// Combines the first of the inputs into `start`.
  FailureOr<Value> combine(ValueRange inputs, Value start, ArrayRef<AffineMap> maps) {
    auto body = [&](ValueRange args) { return reduction.combine(src, args.back(), args.front()); };
    FailureOr<linalg::GenericOp> generic = buildGeneric(b, inputs, start, maps, body);
    if (failed(generic))
      return failure();
    return generic->getResult(0);
  }

  Source &src;
  ImplicitLocOpBuilder &b;
  const Reduction &reduction;
  int64_t dim;
  bool isReversed;
};

} // namespace

std::optional<RunningDimension> findRunningDimension(const Window &window,
                                                     ArrayRef<int64_t> shape) {
  std::optional<RunningDimension> found;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (window.isTrivial(dim) && window.baseDilation[dim] == 1)
      continue;
    int64_t reach = shape[dim] - 1;
    bool isForward = window.low[dim] == reach && window.high[dim] == 0;
    bool isBackward = window.low[dim] == 0 && window.high[dim] == reach;
    bool isWhole = window.size[dim] == shape[dim] && window.stride[dim] == 1 &&
                   window.dilation[dim] == 1 && window.baseDilation[dim] == 1;
    if (found || !isWhole || !(isForward || isBackward))
      return std::nullopt;
    found = {static_cast<int64_t>(dim), isBackward};
  }
  if (found && shape[found->dim] < kShortest)
    return std::nullopt;
  return found;
}

FailureOr<Value> buildRunningReduction(Source &src, const Reduction &reduction,
                                       RunningDimension along) {
  return RunningReduction(src, reduction, along.dim, along.isReversed).emit(src.operand(0));
}

} // namespace mlir::coll::stablehlo
