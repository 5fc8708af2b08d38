//===- disturb_roundings.cc - the same step with other rounding errors ------------===//

#include "passes/export/disturb_roundings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/export/emit_executable_kernels.h"

namespace mlir::coll {
namespace {

// [kind, seed]. The name belongs to no dialect that is loaded, as all of coll's are verified.
constexpr StringLiteral kRoundingsAttr = "check.roundings";

/// Integer arithmetic on the bits of one f32.
class Disturbance {
public:
  Disturbance(OpBuilder &b, Location loc, Roundings roundings, uint32_t seed)
      : b(b), loc(loc), roundings_(roundings), seed_(seed) {}

  /// `x`, changed so that its conversion to `type` is rounded in another way. Zeros, subnormals,
  /// infinities and NaNs stay as they are.
  Value apply(Value x, FloatType type) {
    Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), x);
    Value moved = roundings_ == Roundings::Shaken ? shake(bits) : roundByChance(bits, type);
    Value exponent = arith::AndIOp::create(b, loc, bits, word(0x7f800000));
    Value isNormal = arith::AndIOp::create(b, loc, compare(arith::CmpIPredicate::ne, exponent, 0),
                                           compare(arith::CmpIPredicate::ne, exponent, 0x7f800000));
    Value chosen = arith::SelectOp::create(b, loc, isNormal, moved, bits);
    return arith::BitcastOp::create(b, loc, b.getF32Type(), chosen);
  }

private:
  Value word(uint32_t value) {
    return arith::ConstantIntOp::create(b, loc, static_cast<int32_t>(value), 32);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, uint32_t with) {
    return arith::CmpIOp::create(b, loc, predicate, x, word(with));
  }
  Value shiftRight(Value x, unsigned by) { return arith::ShRUIOp::create(b, loc, x, word(by)); }

  /// 32 bits that look random, from the bits of the value and the seed.
  Value hash(Value bits) {
    Value h = arith::XOrIOp::create(b, loc, bits, word(seed_));
    for (uint32_t factor : {0x85ebca6bu, 0xc2b2ae35u}) {
      h = arith::XOrIOp::create(b, loc, h, shiftRight(h, 15));
      h = arith::MulIOp::create(b, loc, h, word(factor));
    }
    return arith::XOrIOp::create(b, loc, h, shiftRight(h, 16));
  }

  Value shake(Value bits) {
    Value units = arith::SubIOp::create(b, loc, shiftRight(hash(bits), 29), word(4));
    return arith::AddIOp::create(b, loc, bits, units);
  }

  /// The type has no room for s bits: a value whose s bits are r rounds up with a chance of r in
  /// 2^s.
  Value roundByChance(Value bits, FloatType type) {
    unsigned extra = 24 - type.getFPMantissaWidth();
    Value chance = shiftRight(hash(bits), 32 - extra);
    Value sum = arith::AddIOp::create(b, loc, bits, chance);
    return arith::AndIOp::create(b, loc, sum, word(~0u << extra));
  }

  OpBuilder &b;
  Location loc;
  Roundings roundings_;
  uint32_t seed_;
};

} // namespace

void disturbRoundings(ModuleOp module, Roundings roundings, uint32_t seed) {
  Builder b(module.getContext());
  module->setAttr(kRoundingsAttr,
                  b.getDenseI32ArrayAttr({static_cast<int>(roundings), static_cast<int>(seed)}));
}

void applyDisturbance(func::FuncOp kernel) {
  DenseI32ArrayAttr asked;
  for (Operation *op = kernel; op && !asked; op = op->getParentOp())
    asked = op->getAttrOfType<DenseI32ArrayAttr>(kRoundingsAttr);
  if (!asked || asked.size() != 2)
    return;
  kernel.walk([&](arith::TruncFOp op) {
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type || !isNarrowFloat(type) || !op.getIn().getType().isF32())
      return;
    OpBuilder b(op);
    Disturbance disturbance(b, op.getLoc(), static_cast<Roundings>(asked[0]), asked[1]);
    op.getInMutable().assign(disturbance.apply(op.getIn(), type));
  });
}

} // namespace mlir::coll
