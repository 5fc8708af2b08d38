//===- fuse_kernels_extract.cc - single elements of another loop nest's result ---===//
//
// A look-up of a few elements, such as the logarithms of the labels' probabilities, is replaced by
// their computation, so that the tensor in which they were looked up is not needed.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/kernels/fuse_kernels.h"

namespace mlir::coll {
namespace {

// At most one element of this many may be looked up; more would read the producer's inputs too
// often.
constexpr int64_t kSparse = 8;
constexpr unsigned kMaxBodyOps = 24;

bool isSimple(linalg::GenericOp producer) {
  return producer.getNumResults() == 1 && !producer.hasIndexSemantics() &&
         producer.getNumParallelLoops() == producer.getNumLoops() &&
         producer.getBody()->getOperations().size() <= kMaxBodyOps &&
         producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)).isIdentity() &&
         !producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0)) &&
         llvm::all_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
           return producer.getMatchingIndexingMap(input).isProjectedPermutation();
         });
}

struct ComputeExtracted : public OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op, PatternRewriter &rewriter) const override {
    auto reader = op->getParentOfType<linalg::GenericOp>();
    auto producer = op.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!reader || !producer || producer->getBlock() != reader->getBlock() || !isSimple(producer) ||
        countIterations(reader) * kSparse > countIterations(producer))
      return rewriter.notifyMatchFailure(op, "not a few elements of an elementwise result");
    IRMapping mapping;
    for (OpOperand *input : producer.getDpsInputOperands()) {
      SmallVector<Value> indices;
      for (AffineExpr expr : producer.getMatchingIndexingMap(input).getResults())
        indices.push_back(op.getIndices()[cast<AffineDimExpr>(expr).getPosition()]);
      Value element =
          isa<RankedTensorType>(input->get().getType())
              ? tensor::ExtractOp::create(rewriter, op.getLoc(), input->get(), indices).getResult()
              : input->get();
      mapping.map(producer.getMatchingBlockArgument(input), element);
    }
    for (Operation &inner : producer.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    Value yielded = producer.getBody()->getTerminator()->getOperand(0);
    rewriter.replaceOp(op, mapping.lookupOrDefault(yielded));
    return success();
  }
};

} // namespace

void addExtractPatterns(RewritePatternSet &patterns) {
  patterns.add<ComputeExtracted>(patterns.getContext());
}

} // namespace mlir::coll
