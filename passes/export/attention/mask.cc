//===- mask.cc - masks that are computed from positions ---------------------------===//

#include "passes/export/attention/mask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/export/attention/layout.h"

using namespace mlir;
using namespace mlir::coll;

using Read = std::optional<Positions>;

// Chains of operations that make a mask are short.
static constexpr unsigned kMaxDepth = 32;

static Read read(Value value, unsigned depth);

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

static Positions makeConstant(Value value, int64_t constant, bool isMask) {
  return {isMask, SmallVector<int64_t>(rankOf(value), 0), isMask ? constant - 1 : constant};
}

/// A matrix that is true up to a diagonal, in two of the dimensions.
static Read readDiagonal(Value value, DenseIntElementsAttr elements) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      dims.push_back(dim);
  if (dims.size() != 2)
    return std::nullopt;
  int64_t columns = type.getDimSize(dims[1]), seen = 0, place = 0;
  auto bits = elements.getValues<bool>();
  for (int64_t column = 0; column < columns; ++column)
    seen += bits[column];
  for (bool bit : bits) {
    if (bit != (place % columns < place / columns + seen))
      return std::nullopt;
    ++place;
  }
  Positions mask = makeConstant(value, seen, /*isMask=*/true); // row - column + seen - 1 >= 0
  mask.factors[dims[0]] = 1, mask.factors[dims[1]] = -1;
  return mask;
}

static Read readConstant(Value value, arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return std::nullopt;
  bool isMask = elements.getElementType().isInteger(1);
  if (auto integers = dyn_cast<DenseIntElementsAttr>(elements)) {
    if (integers.isSplat())
      return makeConstant(value,
                          isMask ? integers.getSplatValue<bool>()
                                 : integers.getSplatValue<APInt>().getSExtValue(),
                          isMask);
    return isMask ? readDiagonal(value, integers) : std::nullopt;
  }
  if (!elements.isSplat())
    return std::nullopt;
  double number = elements.getSplatValue<APFloat>().convertToDouble();
  if (number != static_cast<double>(static_cast<int64_t>(number)))
    return std::nullopt;
  return makeConstant(value, static_cast<int64_t>(number), /*isMask=*/false);
}

/// The positions along a dimension: a nest that yields linalg.index.
static Read readIndex(linalg::GenericOp op) {
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  if (auto cast = yielded.getDefiningOp<arith::IndexCastOp>())
    yielded = cast.getIn();
  auto index = yielded.getDefiningOp<linalg::IndexOp>();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!index || op.getNumDpsInits() != 1 || !map.isPermutation())
    return std::nullopt;
  Positions positions = makeConstant(op.getResult(0), 0, /*isMask=*/false);
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (cast<AffineDimExpr>(expr).getPosition() == index.getDim())
      positions.factors[dim] = 1;
  return positions;
}

Positions mlir::coll::spreadPositions(const Positions &input, ArrayRef<int64_t> dims) {
  Positions spread = input;
  spread.factors.assign(dims.size(), 0);
  for (auto [dim, from] : llvm::enumerate(dims))
    if (from >= 0)
      spread.factors[dim] = input.factors[from];
  return spread;
}

static Positions negate(const Positions &mask) {
  Positions other = mask; // not (x >= 0) is -x - 1 >= 0
  for (int64_t &factor : other.factors)
    factor = -factor;
  other.constant = -mask.constant - 1;
  return other;
}

/// a + sign * b.
static Positions combine(const Positions &a, const Positions &b, int64_t sign) {
  Positions sum = a;
  for (auto [factor, other] : llvm::zip_equal(sum.factors, b.factors))
    factor += sign * other;
  sum.constant += sign * b.constant;
  return sum;
}

static bool isNumber(const Positions &positions, int64_t number) {
  return !positions.isMask && positions.isConstant() && positions.constant == number;
}

/// lhs >= rhs, lhs > rhs, …; of masks, whether they differ from 0.
static Read compare(arith::CmpIPredicate predicate, const Positions &lhs, const Positions &rhs) {
  using P = arith::CmpIPredicate;
  if (lhs.isMask && isNumber(rhs, 0) && (predicate == P::ne || predicate == P::eq))
    return predicate == P::ne ? lhs : negate(lhs);
  if (lhs.isMask || rhs.isMask)
    return std::nullopt;
  Positions mask;
  switch (predicate) {
  case P::sge:
    mask = combine(lhs, rhs, -1);
    break;
  case P::sle:
    mask = combine(rhs, lhs, -1);
    break;
  case P::sgt:
    mask = combine(lhs, rhs, -1), mask.constant -= 1;
    break;
  case P::slt:
    mask = combine(rhs, lhs, -1), mask.constant -= 1;
    break;
  default:
    return std::nullopt;
  }
  mask.isMask = true;
  return mask;
}

static std::optional<arith::CmpIPredicate> toInteger(arith::CmpFPredicate predicate) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (predicate) {
  case F::OGE:
  case F::UGE:
    return I::sge;
  case F::OGT:
  case F::UGT:
    return I::sgt;
  case F::OLE:
  case F::ULE:
    return I::sle;
  case F::OLT:
  case F::ULT:
    return I::slt;
  case F::ONE:
  case F::UNE:
    return I::ne;
  case F::OEQ:
  case F::UEQ:
    return I::eq;
  default:
    return std::nullopt;
  }
}

/// A mask of two constants, or the numbers 1 and 0, is the condition or its opposite.
static Read select(const Positions &condition, const Positions &yes, const Positions &no) {
  if (!condition.isMask || !yes.isConstant() || !no.isConstant() || yes.isMask != no.isMask)
    return std::nullopt;
  auto isTrue = [](const Positions &p) { return p.isMask ? p.constant >= 0 : p.constant == 1; };
  auto isFalse = [](const Positions &p) { return p.isMask ? p.constant < 0 : p.constant == 0; };
  if (isTrue(yes) && isFalse(no))
    return condition;
  if (isFalse(yes) && isTrue(no))
    return negate(condition);
  return std::nullopt;
}

static Read conjunction(const Positions &a, const Positions &b) {
  if (!a.isMask || !b.isMask)
    return std::nullopt;
  auto isAlways = [](const Positions &p) { return p.isConstant() && p.constant >= 0; };
  if (isAlways(a))
    return b;
  if (isAlways(b) || (a.factors == b.factors && a.constant == b.constant))
    return a;
  return std::nullopt;
}

static Read readBinary(Operation *op, unsigned depth) {
  Read a = read(op->getOperand(0), depth), b = read(op->getOperand(1), depth);
  if (!a || !b)
    return std::nullopt;
  if (auto compared = dyn_cast<arith::CmpIOp>(op))
    return compare(compared.getPredicate(), *a, *b);
  if (auto compared = dyn_cast<arith::CmpFOp>(op)) {
    auto predicate = toInteger(compared.getPredicate());
    return predicate ? compare(*predicate, *a, *b) : std::nullopt;
  }
  if (isa<arith::AndIOp>(op))
    return conjunction(*a, *b);
  if (isa<arith::XOrIOp>(op) && a->isMask && b->isMask && b->isConstant())
    return b->constant >= 0 ? negate(*a) : *a;
  if (isa<arith::AddIOp, arith::SubIOp>(op) && !a->isMask && !b->isMask)
    return combine(*a, *b, isa<arith::AddIOp>(op) ? 1 : -1);
  return std::nullopt;
}

static Read read(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return readConstant(value, constant);
  if (std::optional<SmallVector<int64_t>> dims = getSpreadDims(op)) {
    Read input = read(op->getOperand(0), depth - 1);
    return input ? Read(spreadPositions(*input, *dims)) : std::nullopt;
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumDpsInputs() == 0 ? readIndex(generic) : std::nullopt;
  if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::SIToFPOp, arith::ExtSIOp>(op)) {
    // A mask as a signed number would be -1.
    Read input = read(op->getOperand(0), depth - 1);
    bool isSigned = isa<arith::SIToFPOp, arith::ExtSIOp>(op);
    return input && input->isMask && isSigned ? std::nullopt : input;
  }
  if (auto chosen = dyn_cast<arith::SelectOp>(op)) {
    if (!isa<RankedTensorType>(chosen.getCondition().getType()))
      return std::nullopt;
    Read condition = read(chosen.getCondition(), depth - 1);
    Read yes = read(chosen.getTrueValue(), depth - 1), no = read(chosen.getFalseValue(), depth - 1);
    return condition && yes && no ? select(*condition, *yes, *no) : std::nullopt;
  }
  return op->getNumOperands() == 2 && op->getNumResults() == 1 ? readBinary(op, depth - 1)
                                                               : std::nullopt;
}

Read mlir::coll::readPositions(Value value) { return read(value, kMaxDepth); }
