//===- spatial.cc - the height of images ------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/transform/strategy/strategies.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::coll {

namespace {

/// Values that are followed in the search for a window.
constexpr size_t kMaxFollowed = 256;

/// A value whose dimensions continue those of an argument: numbers of these, or -1.
struct Trail {
  Value value;
  SmallVector<int64_t> dims;
};

} // namespace

std::optional<int64_t> findHeight(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<Trail> open = {{argument, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))}};
  llvm::DenseSet<Value> seen = {argument};
  for (size_t next = 0; next < open.size() && next < kMaxFollowed; ++next) {
    const Trail at = open[next];
    std::optional<int64_t> height;
    for (OpOperand &use : at.value.getUses()) {
      Operation *op = use.getOwner();
      ShardingRule rule = getShardingRule(op);
      SmallVector<int64_t> dimOf(rule.factors.size(), -1);
      for (auto [walked, dim] : llvm::zip(rule.operands[use.getOperandNumber()], at.dims)) {
        if (walked.factor < 0 || dim < 0)
          continue;
        dimOf[walked.factor] = dim;
        bool slides = walked.reach && walked.reach->last > walked.reach->first;
        if (slides && isa<linalg::LinalgOp>(op) && dim > 0)
          height = std::min(height.value_or(dim), dim);
      }
      for (auto [result, walks] : llvm::zip(op->getResults(), rule.results)) {
        SmallVector<int64_t> dims = llvm::map_to_vector(walks, [&](const DimFactor &walked) {
          return walked.factor < 0 ? int64_t{-1} : dimOf[walked.factor];
        });
        if (seen.insert(result).second)
          open.push_back({result, dims});
      }
    }
    if (height)
      return height;
  }
  return std::nullopt;
}

} // namespace mlir::coll
