//===- score_values.cc - tensors of a softmax, read as formulas --------------------===//

#include "passes/export/attention/score_values.h"

#include "dialect/shape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/export/attention/layout.h"
#include "passes/export/lower_contractions.h"

using namespace mlir;
using namespace mlir::coll;

std::optional<double> mlir::coll::readNumber(Value value) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
      if (!elements || !elements.isSplat())
        return std::nullopt;
      APFloat number = elements.getSplatValue<APFloat>();
      bool losesInfo;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      return number.convertToDouble();
    }
    std::optional<SmallVector<int64_t>> spread = getSpreadDims(op);
    if (!spread && !isa<arith::ExtFOp, arith::TruncFOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
    if (!isa<RankedTensorType>(value.getType()))
      return std::nullopt;
  }
}

static bool isZero(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return readNumber(init) == 0.0;
}

int64_t ScoreProduct::findDim(unsigned operand, int64_t loop) const {
  auto it = llvm::find(loops[operand], loop);
  return it == loops[operand].end() ? -1 : it - loops[operand].begin();
}

std::optional<ScoreProduct> mlir::coll::readProduct(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics() || !isMultiplyAdd(generic) ||
      !isZero(generic.getDpsInits()[0]))
    return std::nullopt;
  ScoreProduct product;
  product.op = generic;
  for (auto [operand, map] : llvm::enumerate(generic.getIndexingMapsArray())) {
    if (!map.isProjectedPermutation())
      return std::nullopt;
    for (AffineExpr expr : map.getResults())
      product.loops[operand].push_back(cast<AffineDimExpr>(expr).getPosition());
  }
  return product;
}

/// The sum of a row: a nest that adds its input, starting from zero.
static linalg::GenericOp asSum(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumReductionLoops() == 0 || !isZero(generic.getDpsInits()[0]))
    return {};
  Block *body = generic.getBody();
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || !llvm::hasNItems(*body, 2))
    return {};
  Value in = body->getArgument(0), out = body->getArgument(1);
  bool isSum =
      (add.getLhs() == in && add.getRhs() == out) || (add.getLhs() == out && add.getRhs() == in);
  bool isPlain = llvm::all_of(generic.getIndexingMapsArray(),
                              [](AffineMap map) { return map.isProjectedPermutation(); });
  return isSum && isPlain ? generic : linalg::GenericOp();
}

bool mlir::coll::isScoreOperation(Operation *op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
             arith::SelectOp, arith::ExtFOp, arith::TruncFOp>(op) ||
         getSpreadDims(op) || asSum(op);
}

/// The dimensions of an elementwise result; nullopt if the operands' are different ones.
static std::optional<SmallVector<int64_t>> unify(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> dims(a);
  for (auto [dim, other] : llvm::zip_equal(dims, b)) {
    if (dim != kAnyDim && other != kAnyDim && dim != other)
      return std::nullopt;
    dim = std::max(dim, other);
  }
  return dims;
}

Positions mlir::coll::placeMask(const Positions &mask, ArrayRef<int64_t> dims, int64_t rank) {
  Positions placed = mask;
  placed.factors.assign(rank, 0);
  for (auto [factor, dim] : llvm::zip_equal(mask.factors, dims))
    if (dim != kAnyDim)
      placed.factors[dim] += factor;
  return placed;
}

std::optional<ScoreValue> ScoreReader::readElementwise(Operation *op) {
  std::optional<ScoreValue> a = read(op->getOperand(0));
  if (!a || op->getNumOperands() == 1) {
    if (a && isa<arith::NegFOp>(op))
      a->formula = a->formula * -1;
    return a;
  }
  std::optional<ScoreValue> b = read(op->getOperand(1));
  std::optional<SmallVector<int64_t>> dims = b ? unify(a->dims, b->dims) : std::nullopt;
  if (!dims)
    return std::nullopt;
  if (isa<arith::AddFOp>(op))
    return ScoreValue{a->formula + b->formula, *dims};
  if (isa<arith::SubFOp>(op))
    return ScoreValue{a->formula + b->formula * -1, *dims};
  if (isa<arith::MulFOp>(op))
    return ScoreValue{a->formula * b->formula, *dims};
  std::optional<ScoreFormula> quotient = a->formula.dividedBy(b->formula);
  if (!quotient)
    return std::nullopt;
  return ScoreValue{*quotient, *dims};
}

/// select(mask, x, 0).
std::optional<ScoreValue> ScoreReader::readSelect(Operation *op) {
  auto select = cast<arith::SelectOp>(op);
  if (!mask_ || !isa<RankedTensorType>(select.getCondition().getType()) ||
      readNumber(select.getFalseValue()) != 0.0)
    return std::nullopt;
  std::optional<Positions> condition = readPositions(select.getCondition());
  std::optional<ScoreValue> chosen = read(select.getTrueValue());
  if (!chosen || !condition || !condition->isMask)
    return std::nullopt;
  // The tensor may be a broadcast of rows: the mask then says which dimensions are the scores'.
  for (auto [dim, place] : llvm::enumerate(chosen->dims))
    if (place == kAnyDim && chosen->dims.size() == shape_.size())
      place = dim;
  Positions placed = placeMask(*condition, chosen->dims, shape_.size());
  if (placed.factors != mask_->factors || placed.constant != mask_->constant)
    return std::nullopt;
  return ScoreValue{chosen->formula.masked(), chosen->dims};
}

std::optional<ScoreValue> ScoreReader::readRowSum(linalg::GenericOp op) {
  std::optional<ScoreValue> input = read(op.getDpsInputs()[0]);
  if (!input)
    return std::nullopt;
  AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> byLoop(op.getNumLoops(), kAnyDim), dims;
  bool sumsKeys = false;
  for (auto [dim, expr] : llvm::enumerate(from.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    byLoop[loop] = input->dims[dim];
    if (to.isFunctionOfDim(loop) || shapeOf(op.getDpsInputs()[0])[dim] == 1)
      continue;
    if (input->dims[dim] != keyDim_)
      return std::nullopt;
    sumsKeys = true;
  }
  for (AffineExpr expr : to.getResults())
    dims.push_back(byLoop[cast<AffineDimExpr>(expr).getPosition()]);
  if (!sumsKeys)
    return ScoreValue{input->formula, dims};
  std::optional<ScoreFormula> sum = input->formula.summedOverRow();
  if (!sum)
    return std::nullopt;
  return ScoreValue{*sum, dims};
}

/// The dimensions of the tensor that it is first combined with are assumed to be those of the
/// scores in their order. The caller checks that against the factors.
std::optional<ScoreValue> ScoreReader::readGradientProduct(const ScoreProduct &product) {
  linalg::GenericOp op = product.op;
  Value value = op.getResult(0);
  const int64_t rank = shapeOf(value).size();
  SmallVector<int64_t> from = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    std::optional<SmallVector<int64_t>> spread = getSpreadDims(user);
    if (spread) {
      for (int64_t &dim : *spread)
        dim = dim < 0 ? kAnyDim : from[dim];
      from = *spread;
    } else if (!isa<arith::ExtFOp, arith::TruncFOp>(user)) {
      break;
    }
    value = user->getResult(0);
  }
  if (gradient_ || shapeOf(value) != ArrayRef<int64_t>(shape_))
    return std::nullopt;
  gradient_ = product;
  gradientDims_.assign(rank, kAnyDim);
  for (auto [place, dim] : llvm::enumerate(from))
    if (dim != kAnyDim)
      gradientDims_[dim] = place;
  return ScoreValue{ScoreFormula::gradient(), gradientDims_};
}

std::optional<ScoreValue> ScoreReader::compute(Operation *op) {
  if (std::optional<ScoreProduct> product = readProduct(op))
    return readGradientProduct(*product);
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::ExtFOp,
          arith::TruncFOp>(op))
    return readElementwise(op);
  if (isa<arith::SelectOp>(op))
    return readSelect(op);
  if (linalg::GenericOp sum = asSum(op))
    return readRowSum(sum);
  std::optional<SmallVector<int64_t>> spread = getSpreadDims(op);
  std::optional<ScoreValue> input = spread ? read(op->getOperand(0)) : std::nullopt;
  if (!input)
    return std::nullopt;
  for (int64_t &dim : *spread)
    dim = dim < 0 ? kAnyDim : input->dims[dim];
  return ScoreValue{input->formula, *spread};
}

std::optional<ScoreValue> ScoreReader::read(Value value) {
  if (auto it = known_.find(value); it != known_.end())
    return it->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  if (std::optional<double> number = readNumber(value))
    return ScoreValue{ScoreFormula::number(*number), SmallVector<int64_t>(type.getRank(), kAnyDim)};
  Operation *op = value.getDefiningOp();
  std::optional<ScoreValue> result = op ? compute(op) : std::nullopt;
  if (!result) {
    if (!problem_)
      problem_ = op;
    return std::nullopt;
  }
  known_[value] = *result;
  operations_.insert(op);
  return result;
}
