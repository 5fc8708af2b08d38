//===- outline_kernels_loops.cc - loop order inside of kernels -------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "passes/export/kernels/loop_strides.h"
#include "passes/export/kernels/outline_kernels.h"

#include <numeric>

namespace mlir::coll {
namespace {

struct OperandStrides {
  SmallVector<int64_t> byLoop;
  double weight;
};

FailureOr<SmallVector<OperandStrides>> readStrides(linalg::GenericOp op) {
  SmallVector<OperandStrides> all;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || !type.hasStaticShape())
      continue;
    FailureOr<LinearIndex> index = linearize(op.getMatchingIndexingMap(&operand).getResults(),
                                             type.getShape(), op.getNumLoops());
    if (failed(index))
      return failure();
    all.push_back({std::move(index->byDim), op.isDpsInit(&operand) ? 2.0 : 1.0});
  }
  return all;
}

/// Estimated cost of one iteration with `loop` innermost.
double innermostCost(ArrayRef<OperandStrides> operands, unsigned loop, int64_t extent) {
  double cost = 8.0 / extent; // entering and leaving the loop
  for (const OperandStrides &operand : operands) {
    int64_t stride = operand.byLoop[loop];
    if (stride != 0)
      cost += operand.weight * (stride == 1 ? 1.0 : stride == -1 ? 1.5 : 6.0);
    else if (operand.weight > 1)
      cost += 0.5; // a reduction into one element
  }
  return cost;
}

linalg::GenericOp orderLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  FailureOr<SmallVector<OperandStrides>> operands = readStrides(op);
  unsigned numLoops = op.getNumLoops();
  if (failed(operands) || numLoops < 2)
    return op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  unsigned innermost = numLoops - 1;
  for (unsigned loop = numLoops - 1; loop-- > 0;)
    if (innermostCost(*operands, loop, extents[loop]) <
        innermostCost(*operands, innermost, extents[innermost]))
      innermost = loop;
  auto span = [&](unsigned loop) {
    double sum = 0;
    for (const OperandStrides &operand : *operands)
      sum += operand.weight * std::abs(operand.byLoop[loop]);
    return sum;
  };
  SmallVector<unsigned> order(numLoops);
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](unsigned x, unsigned y) {
    if ((x == innermost) != (y == innermost))
      return y == innermost;
    return span(x) > span(y);
  });
  if (llvm::is_sorted(order))
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> interchanged = linalg::interchangeGenericOp(rewriter, op, order);
  return succeeded(interchanged) ? *interchanged : op;
}

/// Sums and products along the innermost loop may be split into partial ones, so
/// that they vectorise. The order stays fixed for a given kernel.
void relaxInnermostReduction(linalg::GenericOp op) {
  auto iterators = op.getIteratorTypesArray();
  if (iterators.empty() || iterators.back() != utils::IteratorType::reduction)
    return;
  auto flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  for (auto [yielded, accumulator] :
       llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), op.getRegionOutputArgs())) {
    Operation *combiner = yielded.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::MulFOp>(combiner) ||
        !llvm::is_contained(combiner->getOperands(), accumulator))
      continue;
    auto relaxed = [&](Operation *scalar) {
      auto math = cast<arith::ArithFastMathInterface>(scalar);
      arith::FastMathFlags old = math.getFastMathFlagsAttr().getValue();
      scalar->setAttr(math.getFastMathAttrName(),
                      arith::FastMathFlagsAttr::get(scalar->getContext(), old | flags));
    };
    relaxed(combiner);
    for (Value operand : combiner->getOperands())
      if (auto product = operand.getDefiningOp<arith::MulFOp>())
        relaxed(product);
  }
}

/// Slices are read and written in place; a reshape would force a copy.
bool touchesSlices(linalg::GenericOp op) {
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp<tensor::ExtractSliceOp>())
      return true;
  for (Operation *user : op->getUsers())
    if (isa<tensor::InsertSliceOp>(user))
      return true;
  return false;
}

/// Runs of adjacent loops that move together through every operand.
SmallVector<ReassociationIndices> findJoinableLoops(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto iterators = op.getIteratorTypesArray();
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0; loop < op.getNumLoops(); ++loop) {
    bool joins = !groups.empty() && iterators[loop] == iterators[loop - 1];
    if (joins) {
      ReassociationIndices longer(groups.back());
      longer.push_back(loop);
      joins = linalg::areDimSequencesPreserved(maps, {longer});
    }
    if (!joins)
      groups.emplace_back();
    groups.back().push_back(loop);
  }
  return groups;
}

void joinLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  if (op.getNumLoops() < 2 || op.hasIndexSemantics() || touchesSlices(op) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  SmallVector<ReassociationIndices> groups = findJoinableLoops(op);
  if (groups.size() == op.getNumLoops())
    return;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> joined = linalg::collapseOpIterationDims(op, groups, rewriter);
  if (succeeded(joined))
    rewriter.replaceOp(op, joined->results);
}

} // namespace

void prepareLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  op = orderLoops(rewriter, op);
  relaxInnermostReduction(op);
  joinLoops(rewriter, op);
}

} // namespace mlir::coll
