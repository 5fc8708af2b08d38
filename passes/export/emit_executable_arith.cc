// Kernels: arithmetic that LLVM vectorises, and the way down to the LLVM dialect.

#include "passes/export/disturb_roundings.h"
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

/// Narrow floats are storage types: operations on them compute in f32.
static void computeInF32(func::FuncOp kernel) {
  Builder builder(kernel.getContext());
  Type f32 = builder.getF32Type();
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    bool computes =
        isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
        !isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp>(
            op);
    if (computes && (llvm::any_of(op->getOperandTypes(), isNarrowFloat) ||
                     llvm::any_of(op->getResultTypes(), isNarrowFloat)))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder at(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isNarrowFloat(operand.get().getType()))
        operand.set(arith::ExtFOp::create(at, op->getLoc(), f32, operand.get()));
    at.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type narrow = result.getType();
      if (!isNarrowFloat(narrow))
        continue;
      result.setType(f32);
      auto rounded = arith::TruncFOp::create(at, op->getLoc(), narrow, result);
      result.replaceAllUsesExcept(rounded, rounded);
    }
  }
}

namespace {

/// The eight-bit formats: a sign, and a magnitude that counts through the finite values.
struct ByteFormat {
  explicit ByteFormat(Type type)
      : isE4M3(isa<Float8E4M3FNType>(type)), mantissa(isE4M3 ? 3 : 2), bias(isE4M3 ? 7 : 15),
        end(isE4M3 ? 0x7f : 0x7c), nan(isE4M3 ? 0x7f : 0x7e) {}
  bool isE4M3;
  int mantissa, bias;
  /// `end`: the code of an overflow; larger codes are NaN.
  int end, nan;
  int shift() const { return 23 - mantissa; }
};

bool isByteFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// Scalar arithmetic on the bits of one f32; see runtime/base/dtype.cc for the same in C++.
class ByteFloatExpansion {
public:
  ByteFloatExpansion(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value widen(Value x) {
    ByteFormat format(x.getType());
    Value bits = arith::ExtUIOp::create(b, loc, b.getI32Type(),
                                        arith::BitcastOp::create(b, loc, b.getI8Type(), x));
    Value magnitude = arith::AndIOp::create(b, loc, bits, word(0x7f));
    Value shifted = toFloat(arith::ShLIOp::create(b, loc, magnitude, word(format.shift())));
    // Shifted into f32's fields the value has the wrong bias; an exact multiplication corrects
    // that.
    Value scale = toFloat(word((254 - format.bias) << 23));
    Value value = toBits(arith::MulFOp::create(b, loc, shifted, scale));
    Value infinity = select(atLeast(magnitude, format.end), word(0x7f800000), value);
    int nan = format.isE4M3 ? format.end : format.end + 1;
    value = select(atLeast(magnitude, nan), word(0x7fc00000), infinity);
    Value sign =
        arith::ShLIOp::create(b, loc, arith::AndIOp::create(b, loc, bits, word(0x80)), word(24));
    return toFloat(arith::OrIOp::create(b, loc, value, sign));
  }

  Value narrow(Value x, Type type) {
    ByteFormat format(type);
    Value bits = toBits(x);
    Value magnitude = arith::AndIOp::create(b, loc, bits, word(0x7fffffff));
    // Subnormals: the last place of this addend is the format's, so the sum is rounded there.
    Value addend = word((128 - format.bias + format.shift()) << 23);
    Value sum = arith::AddFOp::create(b, loc, toFloat(magnitude), toFloat(addend));
    Value small = arith::SubIOp::create(b, loc, toBits(sum), addend);
    Value last = arith::AndIOp::create(
        b, loc, arith::ShRUIOp::create(b, loc, magnitude, word(format.shift())), word(1));
    Value half = arith::AddIOp::create(b, loc, last, word((1 << (format.shift() - 1)) - 1));
    Value rounded = arith::AddIOp::create(b, loc, magnitude, half);
    Value rebased = arith::SubIOp::create(b, loc, rounded, word((127 - format.bias) << 23));
    Value normal = arith::ShRUIOp::create(b, loc, rebased, word(format.shift()));
    Value code = select(atLeast(magnitude, (128 - format.bias) << 23), normal, small);
    code = arith::MinUIOp::create(b, loc, code, word(format.end));
    code = select(atLeast(magnitude, 0x7f800001), word(format.nan), code);
    Value sign =
        arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, word(24)), word(0x80));
    Value byte =
        arith::TruncIOp::create(b, loc, b.getI8Type(), arith::OrIOp::create(b, loc, code, sign));
    return arith::BitcastOp::create(b, loc, type, byte);
  }

private:
  Value word(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); }
  Value toBits(Value x) { return arith::BitcastOp::create(b, loc, b.getI32Type(), x); }
  Value toFloat(Value x) { return arith::BitcastOp::create(b, loc, b.getF32Type(), x); }
  Value atLeast(Value x, int64_t limit) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, x, word(limit));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }

  OpBuilder &b;
  Location loc;
};

} // namespace

/// LLVM has no eight-bit floats: conversions to and from them become integer arithmetic, through
/// f32.
static void expandByteFloats(func::FuncOp kernel) {
  SmallVector<Operation *> conversions;
  kernel.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        (isByteFloat(op->getOperand(0).getType()) || isByteFloat(op->getResult(0).getType())))
      conversions.push_back(op);
  });
  for (Operation *op : conversions) {
    OpBuilder b(op);
    ByteFloatExpansion expansion(b, op->getLoc());
    Value x = op->getOperand(0);
    Type type = op->getResult(0).getType(), f32 = b.getF32Type();
    if (isByteFloat(x.getType()))
      x = expansion.widen(x);
    else if (x.getType() != f32)
      x = isa<arith::ExtFOp>(op) || isNarrowFloat(x.getType())
              ? Value(arith::ExtFOp::create(b, op->getLoc(), f32, x))
              : Value(arith::TruncFOp::create(b, op->getLoc(), f32, x));
    if (isByteFloat(type))
      x = expansion.narrow(x, type);
    else if (isNarrowFloat(type))
      x = arith::TruncFOp::create(b, op->getLoc(), type, x);
    else if (type != f32)
      x = arith::ExtFOp::create(b, op->getLoc(), type, x);
    op->getResult(0).replaceAllUsesWith(x);
    op->erase();
  }
}

/// libgcc 12 cannot round f64 to bf16, so the conversion goes through f32.
static void narrowDoubles(func::FuncOp kernel) {
  kernel.walk([](arith::TruncFOp op) {
    OpBuilder b(op);
    if (op.getIn().getType().isF64() && op.getType().isBF16())
      op.setOperand(arith::TruncFOp::create(b, op.getLoc(), b.getF32Type(), op.getIn()));
  });
}

/// Calls functions by name that neither LLVM nor an approximation covers.
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

void mlir::coll::computeNarrowInF32(func::FuncOp kernel) {
  computeInF32(kernel);
  applyDisturbance(kernel);
  expandByteFloats(kernel);
  narrowDoubles(kernel);
}

LogicalResult mlir::coll::expandKernelArithmetic(func::FuncOp kernel) {
  computeNarrowInF32(kernel);
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
