//===- loop_count.cc --------------------------------------------------------------===//

#include "passes/analysis/loop_count.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll {

std::optional<int64_t> getConstantNumber(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.getNumElements() != 1)
    return std::nullopt;
  APInt number = *elements.begin();
  return number.getSignificantBits() <= 32 ? std::optional(number.getSExtValue()) : std::nullopt;
}

/// Carried values reach the body unchanged.
static bool forwardsAll(scf::WhileOp loop) {
  return loop.getConditionOp().getArgs() == ValueRange(loop.getBeforeArguments());
}

std::optional<LoopCount> findLoopCount(scf::WhileOp loop) {
  auto extract = loop.getConditionOp().getCondition().getDefiningOp<tensor::ExtractOp>();
  auto compare = extract ? extract.getTensor().getDefiningOp<arith::CmpIOp>() : nullptr;
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt || !forwardsAll(loop))
    return std::nullopt;
  auto arg = dyn_cast<BlockArgument>(compare.getLhs());
  std::optional<int64_t> end = getConstantNumber(compare.getRhs());
  if (!arg || arg.getOwner() != loop.getBeforeBody() || !end ||
      cast<RankedTensorType>(arg.getType()).getRank() != 0)
    return std::nullopt;
  unsigned index = arg.getArgNumber();
  auto next = loop.getYieldOp().getOperand(index).getDefiningOp<arith::AddIOp>();
  std::optional<int64_t> start = getConstantNumber(loop.getInits()[index]);
  BlockArgument counted = loop.getAfterArguments()[index];
  if (!next || !start || (next.getLhs() != counted && next.getRhs() != counted))
    return std::nullopt;
  std::optional<int64_t> step =
      getConstantNumber(next.getLhs() == counted ? next.getRhs() : next.getLhs());
  if (!step || *step <= 0)
    return std::nullopt;
  int64_t trips = *end > *start ? llvm::divideCeilSigned(*end - *start, *step) : 0;
  // The counter must not wrap round.
  unsigned width = cast<RankedTensorType>(arg.getType()).getElementTypeBitWidth();
  if (!llvm::isIntN(width, *start + trips * *step))
    return std::nullopt;
  return LoopCount{index, *start, *step, trips};
}

} // namespace mlir::coll
