#include "passes/export/gpu/prepare_buffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/export/emit_executable_kernels.h"
#include "passes/export/gpu/lower_math.h"

namespace mlir::coll {
namespace {

bool isBuffer(Value value) { return isa<MemRefType>(value.getType()); }

/// Operands that are no buffers.
SmallVector<Value> withoutBuffers(ValueRange values) {
  return llvm::filter_to_vector(values, [](Value value) { return !isBuffer(value); });
}

void replaceResults(Operation *old, Operation *replacement) {
  unsigned next = 0;
  for (Value result : old->getResults())
    if (!isBuffer(result))
      result.replaceAllUsesWith(replacement->getResult(next++));
  old->erase();
}

void yieldWithoutBuffers(Block &block) {
  Operation *yield = block.getTerminator();
  yield->setOperands(withoutBuffers(yield->getOperands()));
}

/// A carried buffer is always the initial one, which the body already uses.
LogicalResult dropBuffers(IRRewriter &rewriter, scf::ForOp loop) {
  for (auto [init, yielded, result] :
       llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues(), loop.getResults())) {
    if (!isBuffer(init))
      continue;
    if (yielded != init)
      return loop.emitOpError("exchanges buffers between iterations, which a GPU kernel cannot");
    result.replaceAllUsesWith(init);
  }
  rewriter.setInsertionPoint(loop);
  auto kept =
      scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                         loop.getStep(), withoutBuffers(loop.getInitArgs()));
  Block *body = kept.getBody();
  if (!body->empty())
    rewriter.eraseOp(&body->back());
  SmallVector<Value> args{kept.getInductionVar()};
  unsigned next = 0;
  for (Value init : loop.getInitArgs())
    args.push_back(isBuffer(init) ? init : Value(kept.getRegionIterArg(next++)));
  rewriter.mergeBlocks(loop.getBody(), body, args);
  yieldWithoutBuffers(*body);
  replaceResults(loop, kept);
  return success();
}

LogicalResult dropBuffers(IRRewriter &rewriter, scf::IfOp branch) {
  if (branch.getNumResults() == 0)
    return success();
  for (auto [yes, no, result] :
       llvm::zip_equal(branch.thenYield().getOperands(), branch.elseYield().getOperands(),
                       branch.getResults())) {
    if (!isBuffer(result))
      continue;
    if (yes != no)
      return branch.emitOpError("chooses between buffers, which a GPU kernel cannot");
    result.replaceAllUsesWith(yes);
  }
  yieldWithoutBuffers(*branch.thenBlock());
  yieldWithoutBuffers(*branch.elseBlock());
  rewriter.setInsertionPoint(branch);
  auto kept = scf::IfOp::create(rewriter, branch.getLoc(),
                                TypeRange(ValueRange(withoutBuffers(branch.getResults()))),
                                branch.getCondition());
  kept.getThenRegion().takeBody(branch.getThenRegion());
  kept.getElseRegion().takeBody(branch.getElseRegion());
  replaceResults(branch, kept);
  return success();
}

LogicalResult dropCarriedBuffers(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([](scf::ForOp loop) {
    for (auto [init, arg] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
      if (isBuffer(init))
        arg.replaceAllUsesWith(init);
  });
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  IRRewriter rewriter(kernel.getContext());
  for (Operation *op : ops) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(dropBuffers(rewriter, loop)))
        return failure();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (failed(dropBuffers(rewriter, branch)))
        return failure();
    }
  }
  return success();
}

/// A constant buffer is written by the kernel itself.
LogicalResult fillGlobal(memref::GetGlobalOp op) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, op.getNameAttr());
  auto dense = dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr());
  if (!dense || !dense.isSplat())
    return op.emitOpError("reads a constant that is not one number, which a GPU kernel cannot");
  OpBuilder b(op);
  Value scalar = arith::ConstantOp::create(b, op.getLoc(), dense.getSplatValue<TypedAttr>());
  Value buffer = memref::AllocOp::create(b, op.getLoc(), op.getType());
  linalg::FillOp::create(b, op.getLoc(), ValueRange{scalar}, ValueRange{buffer});
  op.replaceAllUsesWith(buffer);
  op.erase();
  return success();
}

/// Whether the two are the same part of one buffer.
bool isSameView(Value a, Value b) {
  if (a == b)
    return true;
  auto x = a.getDefiningOp<memref::SubViewOp>(), y = b.getDefiningOp<memref::SubViewOp>();
  return x && y && isSameView(x.getSource(), y.getSource()) &&
         x.getMixedOffsets() == y.getMixedOffsets() && x.getMixedSizes() == y.getMixedSizes() &&
         x.getMixedStrides() == y.getMixedStrides();
}

/// A part that is computed in place, such as that of a concatenation, needs no copy.
void replaceCopy(memref::CopyOp op) {
  OpBuilder b(op);
  if (!isSameView(op.getSource(), op.getTarget()))
    linalg::makeMemRefCopyOp(b, op.getLoc(), op.getSource(), op.getTarget());
  op.erase();
}

/// exp(x) = 2^n * 2^f with n = round(x * log2(e)) and |f| <= 1/2, for which GPUs have an
/// instruction. n comes out of the lowest bits of a large sum, and goes into the exponent of the
/// result. If that is not the exponent of a normal number, the instruction itself gives infinity,
/// zero or NaN.
struct ExpandExp : public OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type(), i32 = b.getI32Type();
    auto number = [&](float value) -> Value {
      return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
    };
    auto bits = [&](Value value) -> Value { return arith::BitcastOp::create(b, i32, value); };
    Value x = op.getOperand();
    Value log2e = number(1.44269502f), rest = number(1.92596299e-8f), large = number(12582912.0f);
    Value sum = math::FmaOp::create(b, x, log2e, large);
    Value minusN = arith::SubFOp::create(b, large, sum);
    Value fraction = math::FmaOp::create(b, x, log2e, minusN);
    fraction = math::FmaOp::create(b, x, rest, fraction);
    Value power = bits(math::Exp2Op::create(b, fraction));
    Value exponent = arith::ShLIOp::create(b, bits(sum), arith::ConstantIntOp::create(b, 23, 32));
    Value result = arith::BitcastOp::create(b, f32, arith::AddIOp::create(b, power, exponent));
    // From -87.33 to 88.72.
    Value distance = math::AbsFOp::create(b, arith::SubFOp::create(b, x, number(0.695f)));
    Value isNormal = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, distance, number(88.025f));
    Value other = math::Exp2Op::create(b, arith::MulFOp::create(b, x, log2e));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNormal, result, other);
    return success();
  }
};

/// An instruction takes the lowest 32 bits of an amount to shift by (lower_math.cc), so that a
/// larger one has to be made smaller before: the shift's result is not used then.
void limitShifts(func::FuncOp kernel) {
  kernel.walk([](Operation *op) {
    if (!isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op) ||
        !op->getResult(0).getType().isInteger(64))
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value most = arith::ConstantIntOp::create(b, 63, 64);
    op->setOperand(1, arith::MinUIOp::create(b, op->getOperand(1), most));
  });
}

/// As expandKernelArithmetic, but for what GPUs compute themselves.
LogicalResult expandArithmetic(func::FuncOp kernel) {
  guardDivisions(kernel);
  limitShifts(kernel);
  computeNarrowInF32(kernel);
  RewritePatternSet patterns(kernel.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::LogOp::getOperationName() || name == math::TanhOp::getOperationName() ||
           name == math::ErfOp::getOperationName() || name == math::Log1pOp::getOperationName() ||
           name == math::ExpM1Op::getOperationName();
  });
  patterns.add<ExpandExp>(kernel.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  SmallVector<Operation *> ops;
  kernel->walk([&](Operation *op) {
    if (op != kernel && !isRoundedTanh(op))
      ops.push_back(op);
  });
  return applyOpPatternsGreedily(
      ops, std::move(patterns),
      GreedyRewriteConfig().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
}

} // namespace

LogicalResult prepareBuffers(func::FuncOp kernel) {
  if (failed(dropCarriedBuffers(kernel)))
    return failure();
  SmallVector<memref::GetGlobalOp> globals;
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](memref::GetGlobalOp op) { globals.push_back(op); });
  kernel.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::GetGlobalOp op : globals)
    if (failed(fillGlobal(op)))
      return failure();
  for (memref::CopyOp op : copies)
    replaceCopy(op);
  return expandArithmetic(kernel);
}

} // namespace mlir::coll
