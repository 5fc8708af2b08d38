#include "passes/export/gpu/emit_ptx.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/export/gpu/launch.h"

namespace mlir::coll {
namespace {

// The alignment of every buffer, in bytes.
constexpr int64_t kAlignment = 64;

LogicalResult expandAddresses(gpu::GPUModuleOp code) {
  // Accesses through views first: what is left of a view has no form in a kernel.
  RewritePatternSet fold(code.getContext());
  memref::populateFoldMemRefAliasOpPatterns(fold);
  if (failed(applyPatternsGreedily(code, std::move(fold))))
    return failure();
  RewritePatternSet patterns(code.getContext());
  memref::populateExpandStridedMetadataPatterns(patterns);
  affine::populateAffineExpandIndexOpsPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  populateAffineToStdConversionPatterns(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  return applyPatternsGreedily(code, std::move(patterns));
}

LogicalResult lowerLoops(gpu::GPUModuleOp code) {
  RewritePatternSet patterns(code.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*code.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(code, target, std::move(patterns));
}

LogicalResult lowerOperations(gpu::GPUModuleOp code) {
  MLIRContext *ctx = code.getContext();
  LowerToLLVMOptions options(ctx);
  options.useBarePtrCallConv = true;
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(ctx, options);
  configureGpuToNVVMTypeConverter(converter);
  RewritePatternSet patterns(ctx);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  // Before the calls of libdevice that the patterns above prefer.
  populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false,
                                       /*benefit=*/20);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*ctx);
  target.addLegalDialect<NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  return applyPartialConversion(code, target, std::move(patterns));
}

/// Attributes of the parameters for the optimizer.
void annotate(LLVM::LLVMFuncOp kernel) {
  Builder b(kernel.getContext());
  auto unaliased = kernel->removeAttr(kUnaliasedAttr);
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (isa<LLVM::LLVMPointerType>(kernel.getArgument(i).getType()))
      kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(kAlignment));
  if (auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(unaliased))
    for (int64_t i : numbers.asArrayRef())
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
}

/// Parameters of 4 bits become bytes, as which the host passes them: PTX has no type for them.
void widenParameters(LLVM::LLVMFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<IntegerType>(argument.getType());
    if (!type || type.getWidth() == 1 || type.getWidth() >= 8)
      continue;
    argument.setType(b.getI8Type());
    auto narrow = LLVM::TruncOp::create(b, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(narrow, narrow);
  }
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(kernel.getFunctionType().getReturnType(),
                                                     llvm::to_vector(entry.getArgumentTypes())));
}

} // namespace

LogicalResult lowerToNvvm(gpu::GPUModuleOp code) {
  if (failed(expandAddresses(code)) || failed(lowerLoops(code)) || failed(lowerOperations(code)))
    return code.emitError("has operations that cannot be lowered for a GPU");
  for (auto kernel : code.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal()) {
      widenParameters(kernel);
      annotate(kernel);
    }
  return success();
}

} // namespace mlir::coll
