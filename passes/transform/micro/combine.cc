//===- combine.cc ----------------------------------------------------------------===//

#include "passes/transform/micro/combine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::coll;

template <typename FloatOp, typename IntOp>
static Value createFor(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(getElementTypeOrSelf(a.getType())))
    return FloatOp::create(builder, loc, a, b);
  return IntOp::create(builder, loc, a, b);
}

Value mlir::coll::createCombination(OpBuilder &builder, Location loc, ReductionKind kind, Value a,
                                    Value b) {
  switch (kind) {
  case ReductionKind::Sum:
    return createFor<arith::AddFOp, arith::AddIOp>(builder, loc, a, b);
  case ReductionKind::Prod:
    return createFor<arith::MulFOp, arith::MulIOp>(builder, loc, a, b);
  case ReductionKind::Min:
    return createFor<arith::MinimumFOp, arith::MinSIOp>(builder, loc, a, b);
  case ReductionKind::Max:
    return createFor<arith::MaximumFOp, arith::MaxSIOp>(builder, loc, a, b);
  case ReductionKind::UMin:
    return arith::MinUIOp::create(builder, loc, a, b);
  case ReductionKind::UMax:
    return arith::MaxUIOp::create(builder, loc, a, b);
  case ReductionKind::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case ReductionKind::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  case ReductionKind::Xor:
    return arith::XOrIOp::create(builder, loc, a, b);
  case ReductionKind::Avg:
    break;
  }
  llvm_unreachable("averages are not combined two by two");
}

Value mlir::coll::createConversion(OpBuilder &builder, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  if (element.getIntOrFloatBitWidth() > type.getElementTypeBitWidth())
    return arith::ExtFOp::create(builder, loc, type.clone(element), value);
  return arith::TruncFOp::create(builder, loc, type.clone(element), value);
}
