//===- fuse_kernels.cc - merges loop nests that share data -----------------------===//
//
// 1. Unit dimensions become reshapes at the boundaries, and cancel.
// 2. Producers are computed inside of their consumers; reshapes move out of the way.
// 3. Nests over the same loops become one nest with several results.
//
//===----------------------------------------------------------------------------===//

#include "passes/export/kernels/fuse_kernels.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "passes/passes.h.inc"

namespace {

/// Cancels and merges reshapes, also with the operations that they reshape.
void addReshapeCleanup(RewritePatternSet &patterns) {
  MLIRContext *ctx = patterns.getContext();
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  linalg::FillOp::getCanonicalizationPatterns(patterns, ctx);
}

/// A generic that writes constants only is a constant.
struct FoldConstantGeneric : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumParallelLoops() != op.getNumLoops())
      return rewriter.notifyMatchFailure(op, "not elementwise on tensors");
    SmallVector<DenseElementsAttr> values;
    for (auto [yielded, type] :
         llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), op->getResultTypes())) {
      Attribute scalar;
      if (!matchPattern(yielded, m_Constant(&scalar)))
        return rewriter.notifyMatchFailure(op, "computes something");
      values.push_back(DenseElementsAttr::get(cast<ShapedType>(type), scalar));
    }
    SmallVector<Value> constants;
    for (DenseElementsAttr value : values)
      constants.push_back(arith::ConstantOp::create(rewriter, op.getLoc(), value));
    rewriter.replaceOp(op, constants);
    return success();
  }
};

struct FuseKernelsPass : public impl::FuseKernelsPassBase<FuseKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect, linalg::LinalgDialect,
                    math::MathDialect, tensor::TensorDialect>();
  }

  using FuseKernelsPassBase::FuseKernelsPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      if (!function.isExternal())
        functions.push_back(function);
    });
    for (func::FuncOp function : functions)
      if (failed(fuse(function)))
        return signalPassFailure();
  }

private:
  LogicalResult fuse(func::FuncOp function) {
    dropUnitDims(function);
    if (failed(cleanUp(function)) || failed(fuseProducers(function)))
      return failure();
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    SmallVector<Block *> blocks;
    function.walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      mergeSiblings(rewriter, *block);
    if (failed(cleanUp(function)))
      return failure();
    DominanceInfo mergedDominance(function);
    eliminateCommonSubExpressions(rewriter, mergedDominance, function);
    return success();
  }

  void dropUnitDims(func::FuncOp function) {
    IRRewriter rewriter(&getContext());
    function.walk([&](linalg::GenericOp op) {
      if (llvm::is_contained(op.getStaticLoopRanges(), 1))
        trimWindows(rewriter, op);
    });
    RewritePatternSet patterns(&getContext());
    linalg::ControlDropUnitDims options;
    linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
    walkAndApplyPatterns(function, std::move(patterns));
  }

  LogicalResult cleanUp(func::FuncOp function) {
    RewritePatternSet patterns(&getContext());
    linalg::ControlDropUnitDims options;
    linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns, options);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    addReshapeCleanup(patterns);
    return applyGreedily(function, std::move(patterns));
  }

  LogicalResult fuseProducers(func::FuncOp function) {
    RewritePatternSet patterns(&getContext());
    bool recomputes = recompute;
    linalg::populateElementwiseOpsFusionPatterns(patterns, [recomputes](OpOperand *operand) {
      return shouldFuseProducer(operand, recomputes);
    });
    if (recompute)
      addExtractPatterns(patterns);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldMoveReshape);
    patterns.add<FoldConstantGeneric>(&getContext());
    linalg::populateMoveInitOperandsToInputPattern(patterns);
    addReshapeCleanup(patterns);
    return applyGreedily(function, std::move(patterns));
  }

  LogicalResult applyGreedily(func::FuncOp function, RewritePatternSet &&patterns) {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (succeeded(applyPatternsGreedily(function, std::move(patterns), config)))
      return success();
    return function.emitError("kernel fusion did not converge");
  }
};

} // namespace
} // namespace mlir::coll
