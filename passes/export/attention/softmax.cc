//===- softmax.cc - softmax of a matrix product --------------------------------------===//

#include "passes/export/attention/softmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/export/attention/layout.h"

using namespace mlir;
using namespace mlir::coll;

// A mask replaces scores by at most this number, so that the exponential is zero.
static constexpr double kHidden = -1e4;

/// The value before it was rounded or widened.
static Value strip(Value value, llvm::SetVector<Operation *> &operations) {
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp())) {
    operations.insert(value.getDefiningOp());
    value = value.getDefiningOp()->getOperand(0);
  }
  return value;
}

/// The largest value along one dimension.
static linalg::GenericOp asMaximum(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumReductionLoops() != 1 || !llvm::hasNItems(*generic.getBody(), 2))
    return {};
  Operation *body = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  bool isPlain = llvm::all_of(generic.getIndexingMapsArray(),
                              [](AffineMap map) { return map.isProjectedPermutation(); });
  return isPlain && isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(body)
             ? generic
             : linalg::GenericOp();
}

static linalg::GenericOp findMaximum(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (linalg::GenericOp maximum = asMaximum(op))
      return maximum;
    if (!getSpreadDims(op) && !isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

/// The dimensions of `copy`, or kAnyDim, that those of `origin` are, which it is a transposed copy
/// of, rounded or reshaped by dimensions of extent 1; nullopt if it is not.
static std::optional<SmallVector<int64_t>> traceDims(Value copy, Value origin) {
  const int64_t rank = cast<RankedTensorType>(copy.getType()).getRank();
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  while (copy != origin) {
    Operation *op = copy.getDefiningOp();
    std::optional<SmallVector<int64_t>> spread = op ? getSpreadDims(op) : std::nullopt;
    if (spread) {
      auto input = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
      if (!input || input.getNumElements() !=
                        cast<RankedTensorType>(op->getResult(0).getType()).getNumElements())
        return std::nullopt;
      SmallVector<int64_t> before(input.getRank(), kAnyDim);
      for (auto [dim, from] : llvm::enumerate(*spread))
        if (from >= 0)
          before[from] = dims[dim];
      dims = before;
    } else if (!isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op)) {
      return std::nullopt;
    }
    copy = op->getOperand(0);
  }
  return dims;
}

/// Whether `shift` is, in every row of `softmax.shape`, the result of `maximum`, which has a row
/// for each and reads scores with the dimensions `scoreDims`. Sets the dimension of the keys.
static bool isShiftByRow(Value shift, linalg::GenericOp maximum, ArrayRef<int64_t> scoreDims,
                         Softmax &softmax) {
  AffineMap from = maximum.getMatchingIndexingMap(maximum.getDpsInputOperand(0));
  AffineMap to = maximum.getMatchingIndexingMap(maximum.getDpsInitOperand(0));
  SmallVector<int64_t> byLoop(maximum.getNumLoops(), kAnyDim), dims;
  softmax.keyDim = kAnyDim;
  for (auto [dim, expr] : llvm::enumerate(from.getResults())) {
    byLoop[cast<AffineDimExpr>(expr).getPosition()] = scoreDims[dim];
    if (!to.isFunctionOfDim(cast<AffineDimExpr>(expr).getPosition()))
      softmax.keyDim = scoreDims[dim];
  }
  for (AffineExpr expr : to.getResults())
    dims.push_back(byLoop[cast<AffineDimExpr>(expr).getPosition()]);
  if (softmax.keyDim == kAnyDim)
    return false;
  ScoreReader reader(maximum.getResult(0), dims, softmax.shape, softmax.keyDim, std::nullopt);
  std::optional<ScoreValue> value = reader.read(shift);
  if (!value || value->dims.size() != softmax.shape.size() ||
      value->formula.getRatio(ScoreFormula::exponential(), 0) != 1.0)
    return false;
  for (auto [dim, place] : llvm::enumerate(value->dims)) {
    bool isRow = int64_t(dim) != softmax.keyDim && softmax.shape[dim] != 1;
    if (place != (isRow ? int64_t(dim) : kAnyDim) && softmax.shape[dim] != 1)
      return false;
  }
  softmax.operations.insert_range(reader.getOperations());
  softmax.operations.insert(maximum);
  return true;
}

/// A mask that is added: select(mask, 0, a number far below 0), also broadcast.
static std::optional<Positions> readPenalty(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (std::optional<SmallVector<int64_t>> dims = getSpreadDims(op)) {
    if (!isa<RankedTensorType>(op->getOperand(0).getType()))
      return std::nullopt;
    std::optional<Positions> mask = readPenalty(op->getOperand(0));
    return mask ? std::optional(spreadPositions(*mask, *dims)) : std::nullopt;
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return readPenalty(op->getOperand(0));
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select || readNumber(select.getTrueValue()) != 0.0 ||
      readNumber(select.getFalseValue()).value_or(0) > kHidden)
    return std::nullopt;
  std::optional<Positions> mask = readPositions(select.getCondition());
  return mask && mask->isMask ? mask : std::nullopt;
}

namespace {
/// Walks from the scores that the softmax reads to the product that they are made of.
class ScoreWalk {
public:
  ScoreWalk(Softmax &softmax, Value scores)
      : softmax_(softmax), value_(scores),
        dims_(llvm::to_vector(llvm::seq<int64_t>(0, softmax.shape.size()))) {}

  /// False, with a problem, if there is something else on the way.
  bool run() {
    while (!step())
      if (!softmax_.problem.empty())
        return false;
    return true;
  }

private:
  /// Whether it has arrived.
  bool step();
  bool fail(const Twine &problem) {
    softmax_.problem = problem.str();
    return false;
  }
  bool next(Value value) {
    softmax_.operations.insert(value_.getDefiningOp());
    value_ = value;
    return false;
  }
  bool scaleBy(Operation *op);
  bool addPenalty(arith::AddFOp op);
  bool hide(arith::SelectOp op);
  bool addMask(const std::optional<Positions> &mask, Value scores);
  bool permute(Operation *op, ArrayRef<int64_t> spread);

  Softmax &softmax_;
  Value value_;
  SmallVector<int64_t> dims_; // of the current value: those of the exponentials, or kAnyDim
};
} // namespace

bool ScoreWalk::scaleBy(Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  std::optional<double> number = readNumber(right);
  if (!number && isa<arith::MulFOp>(op)) {
    std::swap(left, right);
    number = readNumber(right);
  }
  if (!number || *number <= 0)
    return fail("its scores are multiplied by something other than a positive number");
  softmax_.scale *= isa<arith::MulFOp>(op) ? *number : 1 / *number;
  return next(left);
}

bool ScoreWalk::addMask(const std::optional<Positions> &mask, Value scores) {
  if (!mask || !mask->isMask)
    return fail("its mask is not computed from positions");
  Positions placed = placeMask(*mask, dims_, softmax_.shape.size());
  const std::optional<Positions> &other = softmax_.mask;
  if (other && (other->factors != placed.factors || other->constant != placed.constant))
    return fail("it has two masks");
  softmax_.mask = placed;
  return next(scores);
}

bool ScoreWalk::addPenalty(arith::AddFOp op) {
  for (auto [scores, added] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}})
    if (std::optional<Positions> mask = readPenalty(added))
      return addMask(mask, scores);
  return fail("something is added to its scores that is not a mask computed from positions");
}

bool ScoreWalk::hide(arith::SelectOp op) {
  std::optional<double> hidden = readNumber(op.getFalseValue());
  if (!hidden || *hidden * softmax_.scale > kHidden ||
      !isa<RankedTensorType>(op.getCondition().getType()))
    return fail("its scores are selected otherwise than by a mask");
  return addMask(readPositions(op.getCondition()), op.getTrueValue());
}

bool ScoreWalk::permute(Operation *op, ArrayRef<int64_t> spread) {
  auto input = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (!input || input.getNumElements() != result.getNumElements())
    return fail("its scores are broadcast");
  SmallVector<int64_t> dims(input.getRank(), kAnyDim);
  for (auto [dim, from] : llvm::enumerate(spread))
    if (from >= 0)
      dims[from] = dims_[dim];
  dims_ = dims;
  return next(op->getOperand(0));
}

bool ScoreWalk::step() {
  Operation *op = value_.getDefiningOp();
  if (std::optional<ScoreProduct> product = readProduct(op)) {
    softmax_.operations.insert(op);
    softmax_.product = *product;
    softmax_.productDims = dims_;
    return true;
  }
  if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op))
    return next(op->getOperand(0));
  if (isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
    return scaleBy(op);
  if (auto add = dyn_cast_or_null<arith::AddFOp>(op))
    return addPenalty(add);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return hide(select);
  if (std::optional<SmallVector<int64_t>> spread = op ? getSpreadDims(op) : std::nullopt)
    return permute(op, *spread);
  return fail("its scores are not a matrix product");
}

std::optional<Softmax> mlir::coll::findSoftmax(math::ExpOp exponential) {
  auto type = dyn_cast<RankedTensorType>(exponential.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  Softmax softmax;
  softmax.exponential = exponential;
  softmax.shape.assign(type.getShape().begin(), type.getShape().end());
  auto difference =
      strip(exponential.getOperand(), softmax.operations).getDefiningOp<arith::SubFOp>();
  linalg::GenericOp maximum = difference ? findMaximum(difference.getRhs()) : linalg::GenericOp();
  if (!maximum)
    return std::nullopt;
  softmax.operations.insert(difference);
  softmax.operations.insert(exponential);
  Value scores = strip(difference.getLhs(), softmax.operations);
  std::optional<SmallVector<int64_t>> dims =
      traceDims(scores, strip(maximum.getDpsInputs()[0], softmax.operations));
  if (!dims || !isShiftByRow(difference.getRhs(), maximum, *dims, softmax))
    return std::nullopt;
  ScoreWalk(softmax, scores).run();
  return softmax;
}
