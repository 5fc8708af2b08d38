// Kernels: arithmetic that LLVM vectorises, and the way down to the LLVM dialect.

#include "passes/export/emit_executable_kernels.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::coll;

/// f16 and bf16 are storage types: what computes on them computes in f32.
static void computeInF32(func::FuncOp kernel) {
  Builder builder(kernel.getContext());
  Type f32 = builder.getF32Type();
  SmallVector<Operation *> ops;
  auto isNarrow = [](Type type) { return type.isF16() || type.isBF16(); };
  kernel.walk([&](Operation *op) {
    bool computes =
        isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
        !isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp>(
            op);
    if (computes && (llvm::any_of(op->getOperandTypes(), isNarrow) ||
                     llvm::any_of(op->getResultTypes(), isNarrow)))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder at(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isNarrow(operand.get().getType()))
        operand.set(arith::ExtFOp::create(at, op->getLoc(), f32, operand.get()));
    at.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type narrow = result.getType();
      if (!isNarrow(narrow))
        continue;
      result.setType(f32);
      auto rounded = arith::TruncFOp::create(at, op->getLoc(), narrow, result);
      result.replaceAllUsesExcept(rounded, rounded);
    }
  }
}

/// Functions that neither LLVM nor an approximation covers are called by name.
static LogicalResult callLibm(ModuleOp module) {
  ConversionTarget target(*module.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *op) {
    return !isa<math::Log1pOp, math::ExpM1Op, math::ErfOp, math::ErfcOp, math::TanOp, math::TanhOp,
                math::AtanOp, math::Atan2Op, math::SinhOp, math::CoshOp, math::AsinOp, math::AcosOp,
                math::AsinhOp, math::AcoshOp, math::AtanhOp, math::CbrtOp>(op);
  });
  RewritePatternSet patterns(module.getContext());
  populateMathToLibmConversionPatterns(patterns);
  return applyPartialConversion(module, target, std::move(patterns));
}

LogicalResult mlir::coll::expandKernelArithmetic(func::FuncOp kernel) {
  computeInF32(kernel);
  RewritePatternSet patterns(kernel.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::ExpOp::getOperationName() || name == math::LogOp::getOperationName() ||
           name == math::TanhOp::getOperationName() || name == math::ErfOp::getOperationName() ||
           name == math::Log1pOp::getOperationName() || name == math::ExpM1Op::getOperationName();
  });
  math::populateExpansionPatterns(patterns, {math::RsqrtOp::getOperationName()});
  arith::populateExpandBFloat16Patterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  return applyPatternsGreedily(kernel, std::move(patterns));
}

namespace {
struct CallLibmPass : PassWrapper<CallLibmPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallLibmPass)
  StringRef getName() const override { return "coll-call-libm"; }
  void runOnOperation() override {
    if (failed(callLibm(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void mlir::coll::buildLowerToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(std::make_unique<CallLibmPass>());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions options;
  options.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(options));
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::coll::annotateKernel(LLVM::LLVMFuncOp kernel) {
  Builder builder(kernel.getContext());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (!isa<LLVM::LLVMPointerType>(kernel.getArgument(i).getType()))
      continue;
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNonNullAttrName(), builder.getUnitAttr());
    kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
  }
}
