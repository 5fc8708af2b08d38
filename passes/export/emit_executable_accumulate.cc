// Kernels: sums of narrow values are formed in f32 and rounded once, at the end.

#include "passes/export/emit_executable_kernels.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::coll;

bool mlir::coll::isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

/// The sum or product that result `j` of a reduction accumulates, or null.
static Operation *getAccumulation(linalg::GenericOp op, unsigned j) {
  BlockArgument out = op.getRegionOutputArgs()[j];
  Value yielded = op.getBody()->getTerminator()->getOperand(j);
  Operation *def = yielded.getDefiningOp();
  bool accumulates = isa_and_nonnull<arith::AddFOp, arith::MulFOp>(def) && def->hasOneUse() &&
                     out.hasOneUse() && *out.getUsers().begin() == def;
  return accumulates && isNarrowFloat(out.getType()) ? def : nullptr;
}

/// `source` in the element type of `into`, written there.
static Value convert(OpBuilder &b, Location loc, Value source, Value into) {
  auto type = cast<RankedTensorType>(into.getType());
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value value = isNarrowFloat(type.getElementType())
                      ? Value(arith::TruncFOp::create(b, loc, type.getElementType(), args[0]))
                      : Value(arith::ExtFOp::create(b, loc, type.getElementType(), args[0]));
    linalg::YieldOp::create(b, loc, value);
  };
  return linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange{source}, ValueRange{into},
                                   maps, loops, body)
      .getResult(0);
}

static void accumulateInF32(OpBuilder &b, linalg::GenericOp op, unsigned j, Operation *sum) {
  Location loc = op.getLoc();
  OpOperand &init = op.getDpsInitsMutable()[j];
  auto type = cast<RankedTensorType>(init.get().getType());
  b.setInsertionPoint(op);
  Value wide = tensor::EmptyOp::create(b, loc, type.getShape(), b.getF32Type());
  Value rounded; // destination of the rounded result
  if (auto fill = init.get().getDefiningOp<linalg::FillOp>()) {
    rounded = fill.getOutputs()[0];
    Value value = arith::ExtFOp::create(b, loc, b.getF32Type(), fill.getInputs()[0]);
    wide = linalg::FillOp::create(b, loc, ValueRange{value}, ValueRange{wide}).getResult(0);
  } else {
    rounded = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    wide = convert(b, loc, init.get(), wide);
  }
  init.set(wide);
  BlockArgument out = op.getRegionOutputArgs()[j];
  out.setType(b.getF32Type());
  b.setInsertionPoint(sum);
  for (OpOperand &operand : sum->getOpOperands())
    if (operand.get() != out)
      operand.set(arith::ExtFOp::create(b, loc, b.getF32Type(), operand.get()));
  sum->getResult(0).setType(b.getF32Type());
  Value result = op->getResult(j);
  result.setType(wide.getType());
  b.setInsertionPointAfter(op);
  Value final = convert(b, loc, result, rounded);
  result.replaceAllUsesExcept(final, final.getDefiningOp());
}

void mlir::coll::accumulateInF32(func::FuncOp kernel) {
  SmallVector<linalg::GenericOp> reductions;
  kernel.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() && op.hasPureTensorSemantics())
      reductions.push_back(op);
  });
  OpBuilder builder(kernel.getContext());
  for (linalg::GenericOp op : reductions)
    for (unsigned j = 0; j < op.getNumResults(); ++j)
      if (Operation *sum = getAccumulation(op, j))
        ::accumulateInF32(builder, op, j, sum);
}
