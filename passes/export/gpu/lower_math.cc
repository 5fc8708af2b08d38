#include "passes/export/gpu/lower_math.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::coll {
namespace {

/// Operations that the NVPTX back end turns into instructions.
bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp,
             math::RoundEvenOp, math::RsqrtOp, math::SqrtOp, math::TruncOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(op);
}

/// The name in libdevice of the f64 function, without __nv_; empty if there is none.
StringRef getFunction(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().stripDialect())
      .Case("atan2", "atan2")
      .Case("powf", "pow")
      .Case("remf", "fmod")
      .Case("fpowi", "powi")
      .Cases({"acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf"},
             op->getName().stripDialect())
      .Cases({"erfc", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "round"},
             op->getName().stripDialect())
      .Cases({"sin", "sinh", "tan", "tanh"}, op->getName().stripDialect())
      .Default("");
}

bool isCallable(Operation *op) {
  return op->getNumResults() == 1 &&
         (op->getResult(0).getType().isF32() || op->getResult(0).getType().isF64()) &&
         !getFunction(op).empty();
}

/// libdevice's `__nv_NAME` is for f64, `__nv_NAMEf` for f32.
void callLibdevice(gpu::GPUModuleOp code, Operation *op) {
  OpBuilder b(op);
  std::string name = ("__nv_" + getFunction(op)).str();
  if (op->getResult(0).getType().isF32())
    name += 'f';
  auto function = code.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    auto type = b.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    function = func::FuncOp::create(op->getLoc(), name, type);
    function.setPrivate();
    code.getBody()->push_front(function);
  }
  auto call = func::CallOp::create(b, op->getLoc(), function, op->getOperands());
  op->replaceAllUsesWith(call);
  op->erase();
}

/// Replaces what is an instruction: 2^x in f32, whose results below 2^-126 are 0, and a tanh whose
/// result is rounded to bf16, by up to 2^-9 of it; the instruction is off by up to 2^-11.
bool useInstruction(Operation *op) {
  const bool isPower = isa<math::Exp2Op>(op) && op->getResult(0).getType().isF32();
  if (!isPower && !isRoundedTanh(op))
    return false;
  OpBuilder b(op);
  auto result = LLVM::InlineAsmOp::create(
      b, op->getLoc(), b.getF32Type(), op->getOperand(0),
      isPower ? "ex2.approx.ftz.f32 $0, $1;" : "tanh.approx.f32 $0, $1;", "=f,f",
      /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  op->replaceAllUsesWith(ValueRange{result.getRes()});
  op->erase();
  return true;
}

LogicalResult approximate(gpu::GPUModuleOp code) {
  RewritePatternSet patterns(code.getContext());
  populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef) { return true; });
  math::populateExpansionPatterns(patterns, {"acosh", "asinh", "atanh", "cosh", "exp2", "fpowi",
                                             "powf", "round", "sinh", "tan"});
  return applyPatternsGreedily(code, std::move(patterns));
}

SmallVector<Operation *> collectMath(gpu::GPUModuleOp code) {
  SmallVector<Operation *> ops;
  code.walk([&](Operation *op) {
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isInstruction(op))
      ops.push_back(op);
  });
  return ops;
}

/// The back end takes the lowest 32 bits of an amount to shift by where the shift's result is only
/// used if the amount is small enough, which it then forgets. So the instruction stands here.
void lowerWideShifts(gpu::GPUModuleOp code) {
  SmallVector<Operation *> ops;
  code.walk([&](Operation *op) {
    if (isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op) &&
        op->getResult(0).getType().isInteger(64) && !matchPattern(op->getOperand(1), m_Constant()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    StringRef text = isa<arith::ShLIOp>(op)    ? "shl.b64 $0, $1, $2;"
                     : isa<arith::ShRUIOp>(op) ? "shr.u64 $0, $1, $2;"
                                               : "shr.s64 $0, $1, $2;";
    Value amount = arith::TruncIOp::create(b, op->getLoc(), b.getI32Type(), op->getOperand(1));
    auto result = LLVM::InlineAsmOp::create(
        b, op->getLoc(), op->getResult(0).getType(), ValueRange{op->getOperand(0), amount}, text,
        "=l,l,r", /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
        /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
    op->getResult(0).replaceAllUsesWith(result.getRes());
    op->erase();
  }
}

/// The back end's remainder is near for large quotients, and wrong of infinity.
void lowerRemainders(gpu::GPUModuleOp code, bool hasLibdevice) {
  SmallVector<arith::RemFOp> ops;
  code.walk([&](arith::RemFOp op) { ops.push_back(op); });
  for (arith::RemFOp op : ops) {
    if (hasLibdevice && isCallable(op)) {
      callLibdevice(code, op);
      continue;
    }
    OpBuilder b(op);
    b.setInsertionPointAfter(op);
    Value isFinite = math::IsFiniteOp::create(b, op.getLoc(), op.getLhs());
    Value none = arith::SubFOp::create(b, op.getLoc(), op.getLhs(), op.getLhs());
    auto result = arith::SelectOp::create(b, op.getLoc(), isFinite, op, none);
    op.getResult().replaceAllUsesExcept(result, result);
  }
}

} // namespace

bool isRoundedTanh(Operation *op) {
  return isa<math::TanhOp>(op) && op->getResult(0).getType().isF32() && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<arith::TruncFOp>(user) && user->getResult(0).getType().isBF16();
         });
}

LogicalResult lowerMath(gpu::GPUModuleOp code, bool hasLibdevice) {
  lowerWideShifts(code);
  lowerRemainders(code, hasLibdevice);
  SmallVector<Operation *> ops = collectMath(code);
  llvm::erase_if(ops, useInstruction);
  if (hasLibdevice) {
    llvm::erase_if(ops, [&](Operation *op) {
      bool calls = isCallable(op);
      if (calls)
        callLibdevice(code, op);
      return calls;
    });
  }
  if (ops.empty())
    return success();
  if (failed(approximate(code)))
    return failure();
  ops = collectMath(code);
  if (ops.empty())
    return success();
  Operation *op = ops.front();
  return op->emitOpError("on ") << op->getResult(0).getType()
                                << " needs the CUDA toolkit's libdevice, which is not there; name "
                                   "its file with the option libdevice";
}

} // namespace mlir::coll
