//===- stablehlo_window.cc - sliding windows and their reduction -----------------===//

#include "passes/import/stablehlo_window.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_handlers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

int64_t Window::span(size_t dim) const {
  return size[dim] == 0 ? 0 : (size[dim] - 1) * dilation[dim] + 1;
}

int64_t Window::positions(size_t dim, int64_t padded) const {
  int64_t room = padded - span(dim);
  return padded <= 0 || room < 0 ? 0 : room / stride[dim] + 1;
}

void Window::dropRemainder(size_t dim, int64_t padded) {
  int64_t count = positions(dim, padded);
  if (count > 0)
    high[dim] -= padded - ((count - 1) * stride[dim] + span(dim));
}

SmallVector<int64_t> Window::interior() const {
  return llvm::map_to_vector(baseDilation, [](int64_t n) { return n - 1; });
}

bool Window::isTrivial(size_t dim) const {
  return size[dim] == 1 && stride[dim] == 1 && low[dim] == 0 && high[dim] == 0;
}

FailureOr<Window> readWindow(Source &src, SmallVector<int64_t> size, StringRef baseDilation,
                             StringRef dilation) {
  Window window;
  int64_t count = size.size();
  FailureOr<SmallVector<int64_t>> strides = getInts(src.op, "window_strides", count, 1);
  FailureOr<SmallVector<int64_t>> bases = getInts(src.op, baseDilation, count, 1);
  FailureOr<SmallVector<int64_t>> dilations = getInts(src.op, dilation, count, 1);
  FailureOr<SmallVector<int64_t>> padding = getInts(src.op, "padding", 2 * count, 0);
  if (failed(strides) || failed(bases) || failed(dilations) || failed(padding))
    return failure();
  for (auto *list : {&*strides, &*bases, &*dilations})
    if (llvm::any_of(*list, [](int64_t n) { return n < 1; }))
      return src.error("needs strides and dilations >= 1");
  for (int64_t dim = 0; dim < count; ++dim) {
    window.low.push_back((*padding)[2 * dim]);
    window.high.push_back((*padding)[2 * dim + 1]);
  }
  window.size = std::move(size);
  window.stride = *strides;
  window.baseDilation = *bases;
  window.dilation = *dilations;
  return window;
}

FailureOr<Window> readTensorWindow(Source &src, int64_t rank) {
  FailureOr<SmallVector<int64_t>> size = getInts(src.op, "window_dimensions", rank, 1);
  if (failed(size))
    return failure();
  if (llvm::any_of(*size, [](int64_t n) { return n < 1; }))
    return src.error("needs window_dimensions >= 1");
  return readWindow(src, *size, "base_dilations", "window_dilations");
}

LogicalResult checkWindowResult(Source &src, const Window &window, ArrayRef<int64_t> padded,
                                RankedTensorType result) {
  if (result.getRank() != static_cast<int64_t>(padded.size()))
    return src.error("needs a result of the operand's rank");
  for (auto [dim, size] : llvm::enumerate(padded))
    if (result.getDimSize(dim) != window.positions(dim, size))
      return src.error("needs " + Twine(window.positions(dim, size)) +
                       " window positions in dimension " + Twine(dim) + ", not " +
                       Twine(result.getDimSize(dim)));
  return success();
}

AffineExpr windowExpr(Builder &b, const Window &window, size_t dim, unsigned outLoop,
                      AffineExpr windowLoop) {
  AffineExpr expr = b.getAffineDimExpr(outLoop) * window.stride[dim];
  return windowLoop ? expr + windowLoop * window.dilation[dim] : expr;
}

WindowLoops WindowLoops::get(Builder &b, const Window &window) {
  WindowLoops loops;
  unsigned rank = window.size.size(), count = rank;
  SmallVector<AffineExpr> inputExprs, windowExprs;
  for (unsigned dim = 0; dim < rank; ++dim) {
    AffineExpr inner;
    loops.windowLoop.push_back(-1);
    if (window.size[dim] != 1) {
      loops.windowLoop.back() = count;
      inner = b.getAffineDimExpr(count++);
      windowExprs.push_back(inner);
      loops.windowShape.push_back(window.size[dim]);
    }
    inputExprs.push_back(windowExpr(b, window, dim, dim, inner));
  }
  MLIRContext *context = b.getContext();
  loops.input = AffineMap::get(count, 0, inputExprs, context);
  loops.output = AffineMap::getMultiDimIdentityMap(count, context).getSliceMap(0, rank);
  loops.window = AffineMap::get(count, 0, windowExprs, context);
  return loops;
}

LogicalResult importReduceWindow(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  FailureOr<Reduction> reduction = Reduction::get(src);
  if (failed(reduction))
    return failure();
  RankedTensorType input = src.operandTensor(0);
  FailureOr<Window> window = readTensorWindow(src, input.getRank());
  if (failed(window))
    return failure();
  unsigned n = reduction->numInputs();
  SmallVector<int64_t> padded =
      paddedShape(input.getShape(), window->low, window->high, window->interior());
  for (unsigned i = 0; i < n; ++i)
    if (failed(checkWindowResult(src, *window, padded, src.tensor(i))))
      return failure();
  if (reduction->hasIdentity())
    if (auto along = findRunningDimension(*window, input.getShape())) {
      FailureOr<Value> result = buildRunningReduction(src, *reduction, *along);
      return failed(result) ? failure() : src.finish(reduction->finish(src, *result));
    }
  for (auto [dim, size] : llvm::enumerate(padded))
    window->dropRemainder(dim, size);

  SmallVector<Value> inputs;
  for (unsigned i = 0; i < n; ++i)
    inputs.push_back(pad(b, src.operand(i), reduction->padding(src, i), window->low, window->high,
                         window->interior()));
  WindowLoops loops = WindowLoops::get(b, *window);
  SmallVector<AffineMap> maps(n, loops.input);
  if (!loops.windowShape.empty()) {
    inputs.push_back(tensor::EmptyOp::create(b, loops.windowShape, input.getElementType()));
    maps.push_back(loops.window);
  }
  maps.append(n, loops.output);
  auto body = [&](ValueRange args) {
    return reduction->combine(src, args.take_back(n), args.take_front(n));
  };
  FailureOr<linalg::GenericOp> generic =
      buildGeneric(b, inputs, reduction->starts(src), maps, body);
  if (failed(generic))
    return failure();
  return src.finish(reduction->finish(src, generic->getResults()));
}

} // namespace mlir::coll::stablehlo
