//===- outline_kernels.cc - loop nests to kernel functions -----------------------===//

#include "passes/export/kernels/outline_kernels.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/export/indexed/lower_indexed.h"
#include "passes/export/kernels/kernel_set.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "passes/passes.h.inc"

namespace {

bool isScalarOp(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

/// Whether the operation may stand between the calls to kernels.
bool isDriverOp(Operation *op) {
  if (isa_and_nonnull<CollDialect>(op->getDialect()))
    return !isa<TakeOp, AccumulateOp, SortOp, ReshardOp>(op);
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return isa<arith::ConstantOp>(op) || isScalarOp(op);
  return isa<func::CallOp, func::ReturnOp, tensor::EmptyOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::ExtractOp, scf::WhileOp, scf::ForOp, scf::IfOp,
             scf::YieldOp, scf::ConditionOp>(op) &&
         !op->hasAttr(kKernelAttr);
}

struct OutlineKernelsPass : public impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<affine::AffineDialect, arith::ArithDialect, func::FuncDialect,
                linalg::LinalgDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    WalkResult calls = getOperation().walk([](func::CallOp call) {
      call.emitError() << "@" << call.getCallee()
                       << " cannot be put in place of the call: it calls "
                       << "itself, or has no body here";
      return WalkResult::interrupt();
    });
    if (calls.wasInterrupted())
      return signalPassFailure();
    LogicalResult result = success();
    visitFunctions(getOperation(), "kernel_", [&](func::FuncOp driver, KernelSet &kernels) {
      if (succeeded(result))
        result = outlineAll(driver, kernels);
    });
    if (failed(result))
      signalPassFailure();
  }

private:
  LogicalResult outlineAll(func::FuncOp driver, KernelSet &kernels) {
    if (failed(prepare(driver)))
      return failure();
    outline(driver, kernels);
    return verifyDriver(driver);
  }

  LogicalResult prepare(func::FuncOp driver) {
    SmallVector<linalg::GenericOp> generics;
    driver.walk([&](linalg::GenericOp op) { generics.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : generics)
      prepareLoops(rewriter, op);
    RewritePatternSet patterns(&getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    linalg::FillOp::getCanonicalizationPatterns(patterns, &getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(driver, std::move(patterns), config)))
      return driver.emitError("reshapes between kernels did not converge");
    DominanceInfo dominance(driver);
    eliminateCommonSubExpressions(rewriter, dominance, driver);
    unshareFills(driver);
    return success();
  }

  /// One fill for each use, so that each can be part of a kernel.
  void unshareFills(func::FuncOp driver) {
    SmallVector<linalg::FillOp> fills;
    driver.walk([&](linalg::FillOp op) { fills.push_back(op); });
    OpBuilder builder(&getContext());
    for (linalg::FillOp op : fills) {
      builder.setInsertionPoint(op);
      while (!op->use_empty() && !op->hasOneUse())
        op->use_begin()->set(builder.clone(*op)->getResult(0));
    }
  }

  /// Goes from the last operation backwards, so that a kernel includes its producers.
  void outline(func::FuncOp driver, KernelSet &kernels) {
    SmallVector<Operation *> ops;
    driver.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == driver)
        return WalkResult::advance();
      ops.push_back(op);
      return isComputeOp(op) ? WalkResult::skip() : WalkResult::advance();
    });
    DenseSet<Operation *> done;
    OpBuilder builder(&getContext());
    for (Operation *op : llvm::reverse(ops)) {
      if (done.contains(op))
        continue;
      if (isOpTriviallyDead(op)) {
        op->erase();
        continue;
      }
      if (isComputeOp(op))
        outlineUnit(builder, collectUnit(op), kernels, done);
    }
  }

  void outlineUnit(OpBuilder &builder, const KernelUnit &unit, KernelSet &kernels,
                   DenseSet<Operation *> &done) {
    builder.setInsertionPoint(unit.root());
    SmallVector<Location> locations;
    for (Operation *op : unit.ops)
      locations.push_back(op->getLoc());
    Kernel kernel = buildKernel(builder, unit);
    func::FuncOp function = kernels.add(kernel.function);
    auto call =
        func::CallOp::create(builder, builder.getFusedLoc(locations), function, kernel.operands);
    unit.root()->replaceAllUsesWith(call);
    // Other kernels may use a fill or a slice, too.
    for (Operation *op : llvm::reverse(unit.ops)) {
      if (!op->use_empty())
        continue;
      done.insert(op);
      op->erase();
    }
  }

  LogicalResult verifyDriver(func::FuncOp driver) {
    LogicalResult result = success();
    driver->walk([&](Operation *op) {
      if (op == driver || isDriverOp(op))
        return;
      result = op->emitError() << "'" << op->getName() << "' cannot be part of a kernel and is "
                               << "not allowed between kernels";
    });
    return result;
  }
};

} // namespace
} // namespace mlir::coll
