//===- stablehlo_select.cc - select_and_scatter ----------------------------------===//
//
// The gradient of a pooling by maximum: each source element is added to the
// operand position that its window selected. Two steps: a reduction over windows
// that yields the selected coordinates, and a coll.accumulate at those.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_handlers.h"
#include "passes/import/stablehlo_indexed.h"
#include "passes/import/stablehlo_window.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

/// The dimensions in which the window moves; the others pass through.
struct Selection {
  Window window;
  WindowLoops loops;
  SmallVector<int64_t> moving, passive;
};

/// Coordinates, along the moving dimensions, of window element `w` at `o` as i32
/// scalars inside a linalg body, and whether they lie in the operand.
std::pair<SmallVector<Value>, Value> coordinates(Source &src, const Selection &selection) {
  ImplicitLocOpBuilder &b = src.b;
  Type i32 = b.getI32Type();
  const Window &window = selection.window;
  auto scaled = [&](int64_t loop, int64_t factor) -> Value {
    Value index = arith::IndexCastOp::create(b, i32, linalg::IndexOp::create(b, loop));
    return arith::MulIOp::create(b, index, splatInt(b, i32, factor));
  };
  Value isInside = splatInt(b, b.getI1Type(), 1);
  SmallVector<Value> here;
  for (int64_t dim : selection.moving) {
    Value position = scaled(dim, window.stride[dim]);
    if (int64_t loop = selection.loops.windowLoop[dim]; loop >= 0)
      position = arith::AddIOp::create(b, position, scaled(loop, window.dilation[dim]));
    position = arith::SubIOp::create(b, position, splatInt(b, i32, window.low[dim]));
    // Read as unsigned, a negative position is beyond the end too.
    Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                       splatInt(b, i32, src.operandTensor(0).getDimSize(dim)));
    isInside = arith::AndIOp::create(b, isInside, fits);
    here.push_back(position);
  }
  return {here, isInside};
}

/// The body of the reduction over windows: `best` is the selected value and its
/// coordinates so far, the first coordinate -1 while there is none.
FailureOr<SmallVector<Value>> selectBody(Source &src, const Selection &selection, Value element,
                                         ValueRange best) {
  ImplicitLocOpBuilder &b = src.b;
  auto [here, isInside] = coordinates(src, selection);
  FailureOr<SmallVector<Value>> keeps =
      src.importer.importScalarRegion(src.op, src.op->getRegion(0), {best.front(), element});
  if (failed(keeps))
    return failure();
  if (keeps->size() != 1 || !keeps->front().getType().isInteger(1))
    return src.error("needs a select region that returns one i1");
  Value zero = splatInt(b, b.getI32Type(), int64_t{0});
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, best[1], zero);
  Value isBetter = arith::XOrIOp::create(b, keeps->front(), splatInt(b, b.getI1Type(), 1));
  Value takes = arith::AndIOp::create(b, isInside, arith::OrIOp::create(b, isFirst, isBetter));
  SmallVector<Value> next{arith::SelectOp::create(b, takes, element, best.front())};
  for (auto [position, old] : llvm::zip_equal(here, best.drop_front()))
    next.push_back(arith::SelectOp::create(b, takes, position, old));
  return next;
}

/// Coordinates of the selected element of each window, one tensor per moving
/// dimension; -1 where a window has no element of the operand.
FailureOr<SmallVector<Value>> selectedCoordinates(Source &src, const Selection &selection) {
  ImplicitLocOpBuilder &b = src.b;
  Type element = src.operandTensor(0).getElementType();
  RankedTensorType shape = src.operandTensor(1);
  const auto &[window, loops, moving, passive] = selection;
  SmallVector<int64_t> none(shape.getRank(), 0);
  Value zero = splatZero(b, RankedTensorType::get({}, element));
  SmallVector<Value> inputs{pad(b, src.operand(0), zero, window.low, window.high, none)};
  SmallVector<AffineMap> maps{loops.input};
  if (!loops.windowShape.empty()) {
    inputs.push_back(tensor::EmptyOp::create(b, loops.windowShape, element));
    maps.push_back(loops.window);
  }
  SmallVector<Value> starts{splatZero(b, shape)};
  starts.append(moving.size(), splatInt(b, shape.clone(b.getI32Type()), -1));
  maps.append(starts.size(), loops.output);
  auto body = [&](ValueRange args) {
    return selectBody(src, selection, args.front(), args.take_back(starts.size()));
  };
  FailureOr<linalg::GenericOp> generic = buildGeneric(b, inputs, starts, maps, body);
  if (failed(generic))
    return failure();
  return SmallVector<Value>(generic->getResults().drop_front());
}

} // namespace

LogicalResult importSelectAndScatter(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  RankedTensorType operand = src.operandTensor(0), source = src.operandTensor(1);
  FailureOr<Window> window = readTensorWindow(src, operand.getRank());
  if (failed(window))
    return failure();
  SmallVector<int64_t> none(operand.getRank(), 0);
  SmallVector<int64_t> padded = paddedShape(operand.getShape(), window->low, window->high, none);
  if (failed(checkWindowResult(src, *window, padded, source)))
    return failure();
  if (operand.getRank() == 0 || src.tensor() != operand ||
      source.getElementType() != operand.getElementType() ||
      src.operandTensor(2) != RankedTensorType::get({}, operand.getElementType()))
    return src.error("needs a source, an initial value and a result of the operand's type, "
                     "of rank >= 1");
  for (auto [dim, size] : llvm::enumerate(padded))
    window->dropRemainder(dim, size);
  Selection selection{*window, WindowLoops::get(b, *window), {}, {}};
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    (window->isTrivial(dim) ? selection.passive : selection.moving).push_back(dim);
  if (selection.moving.empty()) {
    selection.moving.push_back(0);
    selection.passive.erase(selection.passive.begin());
  }
  Value start = broadcast(b, src.operand(2), {}, operand);
  if (operand.getNumElements() == 0 || source.getNumElements() == 0)
    return src.finish(start);

  FailureOr<SmallVector<Value>> coordinates = selectedCoordinates(src, selection);
  if (failed(coordinates))
    return failure();
  SmallVector<int64_t> columnShape(source.getShape());
  columnShape.push_back(1);
  for (Value &coordinate : *coordinates)
    coordinate = reshape(b, coordinate, columnShape);
  Value indices = coordinates->front();
  if (coordinates->size() > 1)
    indices = tensor::ConcatOp::create(b, operand.getRank(), *coordinates);
  IndexedDims dims;
  dims.inserted = selection.moving;
  dims.operandBatch = dims.indicesBatch = selection.passive;
  dims.indexMap = selection.moving;
  FailureOr<Value> result =
      buildAccumulate(src, start, indices, src.operand(1), dims,
                      /*isUnique=*/false, {src.op->getRegion(1), {operand.getElementType()}});
  if (failed(result))
    return failure();
  return src.finish(*result);
}

} // namespace mlir::coll::stablehlo
