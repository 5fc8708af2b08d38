//===- guard_divisions.cc - integer divisions that cannot trap -------------------===//
//
// The processor traps on a divisor of 0, and on the smallest number divided by -1. Padding may hold
// any value, and so may a user's data.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/export/emit_executable_kernels.h"

using namespace mlir;
using namespace mlir::coll;

static bool isSigned(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

/// Whether the divisor is a constant that is safe to divide anything by.
static bool isSafe(Operation *op) {
  APInt divisor;
  return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && !divisor.isZero() &&
         !(isSigned(op) && divisor.isAllOnes());
}

static Value constantLike(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// A division that would trap divides by 1.
static void guard(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  auto equals = [&](Value value, Value other) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, other);
  };
  Value traps = equals(divisor, constantLike(b, loc, type, 0));
  if (isSigned(op)) {
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value smallest =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, APInt::getSignedMinValue(width)));
    Value isLargest = equals(dividend, smallest);
    Value isNegated = equals(divisor, constantLike(b, loc, type, -1));
    Value overflows = arith::AndIOp::create(b, loc, isLargest, isNegated);
    traps = arith::OrIOp::create(b, loc, traps, overflows);
  }
  Value one = constantLike(b, loc, type, 1);
  op->setOperand(1, arith::SelectOp::create(b, loc, traps, one, divisor));
}

void mlir::coll::guardDivisions(func::FuncOp function) {
  SmallVector<Operation *> divisions;
  function.walk([&](Operation *op) {
    bool divides = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                       arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
    if (divides && op->getOperand(1).getType().isIntOrIndex() && !isSafe(op))
      divisions.push_back(op);
  });
  for (Operation *op : divisions)
    guard(op);
}
