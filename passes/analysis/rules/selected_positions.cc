//===- selected_positions.cc -----------------------------------------------------===//

#include "passes/analysis/rules/selected_positions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/window.h"

namespace mlir::coll {

namespace {

/// The sum of loop counters times factors, and a constant as the last term.
using Terms = SmallVector<int64_t>;

std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getSignificantBits() > 32)
    return std::nullopt;
  return constant.getSExtValue();
}

/// `value` inside the body of `op`; nullopt if it is something else, or might wrap.
std::optional<Terms> getTerms(Value value, linalg::LinalgOp op) {
  Terms terms(op.getNumLoops() + 1, 0);
  if (std::optional<int64_t> constant = getConstant(value)) {
    terms.back() = *constant;
    return terms;
  }
  Operation *definition = value.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(definition)) {
    terms[index.getDim()] = 1;
    return terms;
  }
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(definition))
    return getTerms(cast.getIn(), op);
  if (!definition || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(definition))
    return std::nullopt;
  std::optional<Terms> left = getTerms(definition->getOperand(0), op),
                       right = getTerms(definition->getOperand(1), op);
  if (!left || !right)
    return std::nullopt;
  if (isa<arith::MulIOp>(definition)) {
    std::optional<int64_t> factor = getConstant(definition->getOperand(1));
    if (!factor || llvm::any_of(*left, [&](int64_t term) { return std::abs(term) > INT32_MAX; }))
      return std::nullopt;
    for (int64_t &term : *left)
      term *= *factor;
    return left;
  }
  int64_t sign = isa<arith::SubIOp>(definition) ? -1 : 1;
  for (auto [term, other] : llvm::zip_equal(*left, *right))
    term += sign * other;
  return left;
}

/// The linalg operation and the number of its result that `column` [..., 1] is a reshape of.
std::pair<linalg::LinalgOp, unsigned> findSelection(Value column) {
  if (auto reshape = stripReshards(column).getDefiningOp<tensor::ExpandShapeOp>()) {
    SmallVector<int64_t> shape(reshape.getSrcType().getShape());
    shape.push_back(1);
    if (ArrayRef<int64_t>(shape) == reshape.getType().getShape())
      column = reshape.getSrc();
  }
  auto result = dyn_cast<OpResult>(stripReshards(column));
  if (!result)
    return {};
  return {dyn_cast<linalg::LinalgOp>(getCore(result.getOwner())), result.getResultNumber()};
}

/// Whether the reduction starts from a negative number.
bool startsNegative(linalg::LinalgOp op, unsigned result) {
  Value init = op.getDpsInits()[result];
  if (auto argument = dyn_cast<BlockArgument>(init))
    if (auto window = dyn_cast<WindowOp>(argument.getOwner()->getParentOp()))
      init = window.getInputs()[argument.getArgNumber()];
  auto start = dyn_cast_or_null<IntegerAttr>(getSplat(init));
  return start && start.getValue().isNegative();
}

} // namespace

std::optional<SelectedPositions> findSelectedPositions(AccumulateOp op, int64_t component) {
  Value column = stripReshards(op.getIndices());
  if (auto concat = column.getDefiningOp<tensor::ConcatOp>()) {
    bool isByComponent =
        concat.getInputs().size() == op.getIndexMap().size() &&
        static_cast<int64_t>(concat.getDim()) + 1 == concat.getResultType().getRank();
    if (!isByComponent)
      return std::nullopt;
    column = concat.getInputs()[component];
  }
  auto [selection, number] = findSelection(column);
  if (!selection || !startsNegative(selection, number))
    return std::nullopt;
  Block *body = selection.getBlock();
  auto choice = body->getTerminator()->getOperand(number).getDefiningOp<arith::SelectOp>();
  BlockArgument old = body->getArgument(selection.getNumDpsInputs() + number);
  std::optional<Terms> terms = choice ? getTerms(choice.getTrueValue(), selection) : std::nullopt;
  if (!terms || choice.getFalseValue() != old)
    return std::nullopt;
  AffineMap map = selection.getIndexingMapMatchingResult(selection->getResult(number));
  SelectedPositions found{-1, 0, terms->back(), terms->back()};
  SmallVector<int64_t> ranges = selection.getStaticLoopRanges();
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    int64_t term = (*terms)[loop];
    std::optional<unsigned> dim = map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
    if (term < 0 || (term > 0 && dim && found.updatesDim >= 0))
      return std::nullopt;
    if (term > 0 && dim) {
      found.updatesDim = op.getBatchDims()[*dim];
      found.step = term;
    } else if (term > 0) {
      found.last += term * (ranges[loop] - 1);
    }
  }
  return found.updatesDim < 0 ? std::nullopt : std::optional(found);
}

} // namespace mlir::coll
