//===- pattern.cc - attention and its gradient in a step -----------------------------===//
//
// All operations that depend on the exponentials of a softmax are followed up to matrix products.
// Each product must be one of four: P V, P^T dO, dS K, dS^T Q.
//
//===----------------------------------------------------------------------------------===//

#include "passes/export/attention/pattern.h"

#include "dialect/attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::coll;

// Factors of formulas that are rounded to f32 differ by less than this.
static constexpr double kTolerance = 1e-4;
// More users than any softmax has.
static constexpr size_t kMaxUsers = 256;

namespace {

/// The loops of a product by what they run over; -1 where there is none.
struct ProductLoops {
  SmallVector<int64_t> batch;
  int64_t group = -1, row = -1, summed = -1, element = -1;
};

class AttentionFinder {
public:
  explicit AttentionFinder(Softmax softmax) {
    pattern_.softmax = std::move(softmax);
    operations_ = pattern_.softmax.operations;
  }

  AttentionSearch run();

private:
  bool fail(const Twine &problem) {
    if (problem_.empty())
      problem_ = problem.str();
    return false;
  }
  bool followUsers();
  bool splitDims();
  bool chooseQueries(ArrayRef<int64_t> candidates);
  bool guessDims();
  bool readSinks();
  bool readSink(const ScoreProduct &product);
  bool placeSink(AttentionProduct product, const ScoreFormula &scores, bool sumsKeys);
  bool readGradient();
  bool checkUsers();
  bool checkForm();
  std::optional<ProductLoops> splitLoops(const ScoreProduct &product, unsigned scoreFactor,
                                         ArrayRef<int64_t> scoreDims) const;
  bool place(std::optional<AttentionProduct> &slot, StringRef name, AttentionProduct product);

  AttentionPattern pattern_;
  // Dimensions of the scores. Those of extent 1 are in none of these, unless there is one query.
  SmallVector<int64_t> batchDims_;
  int64_t groupDim_ = -1; // of the heads that share keys; -1: none do
  int64_t queryDim_ = -1;
  llvm::SetVector<Operation *> operations_;      // that go away
  llvm::SetVector<Operation *> scoreOperations_; // that depend on the exponentials
  llvm::SetVector<Operation *> sinks_;           // products of what they make
  std::optional<ScoreReader> reader_;
  bool isAttention_ = false;
  std::string problem_;
};

} // namespace

/// The dimensions of an operand of a product: those of the batch, the row, the element.
static SmallVector<int64_t> getDims(const ScoreProduct &product, unsigned operand,
                                    const ProductLoops &loops, int64_t row, bool isGrouped) {
  SmallVector<int64_t> dims;
  for (int64_t loop : loops.batch)
    dims.push_back(product.findDim(operand, loop));
  if (isGrouped)
    dims.push_back(product.findDim(operand, loops.group));
  dims.push_back(product.findDim(operand, row));
  dims.push_back(product.findDim(operand, loops.element));
  return dims;
}

/// `isOfQueries`: each head has its own rows, also where several share keys.
static RowSource getSource(const ScoreProduct &product, unsigned factor, const ProductLoops &loops,
                           int64_t row, bool isOfQueries) {
  const bool isGrouped = isOfQueries && loops.group >= 0;
  return RowSource(product.getFactor(factor), getDims(product, factor, loops, row, isGrouped),
                   isGrouped);
}

/// The only loop that sums and has more than one iteration; -1 if there is none or several.
static int64_t findSumLoop(linalg::GenericOp op) {
  int64_t found = -1;
  for (auto [loop, kind, extent] :
       llvm::enumerate(op.getIteratorTypesArray(), op.getStaticLoopRanges())) {
    if (kind != utils::IteratorType::reduction || extent == 1)
      continue;
    if (found >= 0)
      return -1;
    found = loop;
  }
  return found;
}

/// At most two dimensions of the scores are not those of the keys: the queries, and the heads that
/// share keys. The mask depends on the queries. Without a mask the two are interchangeable, and the
/// later one is taken as the queries.
bool AttentionFinder::chooseQueries(ArrayRef<int64_t> candidates) {
  if (candidates.empty() || candidates.size() > 2)
    return false;
  queryDim_ = candidates.back();
  if (candidates.size() == 1)
    return true;
  groupDim_ = candidates.front();
  const std::optional<Positions> &mask = pattern_.softmax.mask;
  if (mask && mask->factors[groupDim_] != 0)
    std::swap(groupDim_, queryDim_);
  return true;
}

/// Which dimensions of the scores are the queries and the batch: both factors of the product have
/// those of the batch, one has the queries, the other the keys.
bool AttentionFinder::splitDims() {
  Softmax &softmax = pattern_.softmax;
  const ScoreProduct &product = softmax.product;
  SmallVector<int64_t> loopOf(softmax.shape.size(), -1), ofQueries, units;
  for (auto [dim, place] : llvm::enumerate(softmax.productDims))
    if (place != kAnyDim)
      loopOf[place] = product.loops[2][dim];
  ProductLoops loops;
  loops.element = findSumLoop(product.op);
  int64_t keyLoop = loopOf[softmax.keyDim];
  unsigned keyFactor = product.findDim(1, keyLoop) >= 0 ? 1 : 0;
  if (loops.element < 0 || keyLoop < 0 || product.findDim(1 - keyFactor, keyLoop) >= 0 ||
      product.findDim(keyFactor, keyLoop) < 0)
    return false;
  for (auto [dim, loop] : llvm::enumerate(loopOf)) {
    if (int64_t(dim) == softmax.keyDim)
      continue;
    bool inKeys = loop >= 0 && product.findDim(keyFactor, loop) >= 0;
    bool inQueries = loop >= 0 && product.findDim(1 - keyFactor, loop) >= 0;
    if (softmax.shape[dim] == 1) {
      if (inQueries && !inKeys)
        units.push_back(dim);
    } else if (inKeys && inQueries) {
      batchDims_.push_back(dim);
      loops.batch.push_back(loop);
    } else if (inQueries) {
      ofQueries.push_back(dim);
    } else {
      return false;
    }
  }
  if (ofQueries.empty() && !units.empty())
    ofQueries.push_back(units.back());
  if (!chooseQueries(ofQueries))
    return false;
  loops.group = groupDim_ < 0 ? -1 : loopOf[groupDim_];
  pattern_.q = getSource(product, 1 - keyFactor, loops, loopOf[queryDim_], /*isOfQueries=*/true);
  pattern_.k = getSource(product, keyFactor, loops, keyLoop, /*isOfQueries=*/false);
  return true;
}

/// For scores that cannot be read: assumes that the dimension of the queries stands before that of
/// the keys. This only serves to tell attention from another softmax.
bool AttentionFinder::guessDims() {
  const int64_t rank = pattern_.softmax.shape.size();
  if (rank < 2 || pattern_.softmax.keyDim != rank - 1)
    return false;
  queryDim_ = rank - 2;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    if (pattern_.softmax.shape[dim] != 1)
      batchDims_.push_back(dim);
  return true;
}

/// Collects the products that read values which depend on the exponentials.
bool AttentionFinder::followUsers() {
  llvm::SetVector<Operation *> &seen = scoreOperations_;
  seen.insert(pattern_.softmax.exponential);
  for (size_t i = 0; i < seen.size(); ++i) {
    for (Operation *user : seen[i]->getUsers()) {
      if (readProduct(user))
        sinks_.insert(user);
      else if (isScoreOperation(user) && seen.size() < kMaxUsers)
        seen.insert(user);
      else
        fail("its probabilities are also read by " + user->getName().getStringRef());
    }
  }
  return problem_.empty();
}

/// The loops of a product of scores, whose dimensions are `scoreDims`, and rows of something else.
std::optional<ProductLoops> AttentionFinder::splitLoops(const ScoreProduct &product,
                                                        unsigned scoreFactor,
                                                        ArrayRef<int64_t> scoreDims) const {
  SmallVector<int64_t> loopOf(pattern_.softmax.shape.size(), -1);
  SmallVector<int64_t> extents = linalg::GenericOp(product.op).getStaticLoopRanges();
  for (auto [dim, place] : llvm::enumerate(scoreDims)) {
    const int64_t loop = product.loops[scoreFactor][dim];
    if (place != kAnyDim)
      loopOf[place] = loop;
    else if (extents[loop] != 1)
      return std::nullopt;
  }
  ProductLoops loops;
  auto isInRest = [&](int64_t loop) { return product.findDim(1 - scoreFactor, loop) >= 0; };
  auto isInResult = [&](int64_t loop) { return product.findDim(2, loop) >= 0; };
  for (int64_t dim : batchDims_) {
    loops.batch.push_back(loopOf[dim]);
    if (loopOf[dim] < 0 || !isInRest(loopOf[dim]) || !isInResult(loopOf[dim]))
      return std::nullopt;
  }
  for (int64_t dim : {queryDim_, pattern_.softmax.keyDim})
    if (loopOf[dim] >= 0)
      (isInResult(loopOf[dim]) ? loops.row : loops.summed) = loopOf[dim];
  int64_t others = 0;
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (extent != 1 && !llvm::is_contained(loopOf, int64_t(loop))) {
      loops.element = loop;
      ++others;
    }
  bool isComplete = loops.row >= 0 && loops.summed >= 0 && others == 1 && !isInRest(loops.row) &&
                    isInRest(loops.summed) && isInRest(loops.element) && isInResult(loops.element);
  if (isComplete && groupDim_ >= 0) {
    // Heads that share keys have rows of their own, or are summed with the queries.
    loops.group = loopOf[groupDim_];
    isComplete = loops.group >= 0 && isInResult(loops.group) == isInResult(loopOf[queryDim_]) &&
                 isInResult(loops.group) != isInRest(loops.group);
  }
  return isComplete ? std::optional(loops) : std::nullopt;
}

bool AttentionFinder::place(std::optional<AttentionProduct> &slot, StringRef name,
                            AttentionProduct product) {
  if (slot)
    return fail("there are two products that are " + name);
  slot = std::move(product);
  return true;
}

/// Which of the four products it is, by the formula of its scores.
bool AttentionFinder::placeSink(AttentionProduct product, const ScoreFormula &scores,
                                bool sumsKeys) {
  if (std::optional<double> factor = scores.getRatio(ScoreFormula::probability(), kTolerance)) {
    isAttention_ = true;
    if (std::abs(*factor - 1) > kTolerance)
      return fail("its probabilities are scaled");
    return sumsKeys ? place(pattern_.output, "P V", product)
                    : place(pattern_.valueGradient, "P^T dO", product);
  }
  const double scale = pattern_.softmax.scale;
  std::optional<double> factor = scores.getRatio(ScoreFormula::scoreGradient(), kTolerance);
  if (!factor || std::abs(*factor - scale) > kTolerance * scale)
    return fail("a product reads its scores otherwise than attention and its gradient do");
  return sumsKeys ? place(pattern_.queryGradient, "dS K", product)
                  : place(pattern_.keyGradient, "dS^T Q", product);
}

bool AttentionFinder::readSink(const ScoreProduct &product) {
  auto isScores = [&](unsigned factor) {
    return scoreOperations_.contains(product.getFactor(factor).getDefiningOp());
  };
  if (isScores(0) && isScores(1))
    return fail("its probabilities are multiplied by values that depend on them");
  unsigned factor = isScores(0) ? 0 : 1;
  std::optional<ScoreValue> value = reader_->read(product.getFactor(factor));
  if (!value) {
    Operation *other = reader_->getProblem();
    return fail("a value computed from its probabilities depends on " +
                (other ? other->getName().getStringRef() : StringRef("an argument")));
  }
  std::optional<ProductLoops> loops = splitLoops(product, factor, value->dims);
  if (!loops)
    return fail("its probabilities are in a product that is not part of attention");
  bool sumsKeys = product.findDim(factor, loops->summed) ==
                  llvm::find(value->dims, pattern_.softmax.keyDim) - value->dims.begin();
  const bool isGrouped = sumsKeys && loops->group >= 0;
  return placeSink({product.op, getSource(product, 1 - factor, *loops, loops->summed, !sumsKeys),
                    getDims(product, 2, *loops, loops->row, isGrouped), isGrouped},
                   value->formula, sumsKeys);
}

bool AttentionFinder::readSinks() {
  Softmax &softmax = pattern_.softmax;
  reader_.emplace(softmax.exponential.getResult(),
                  llvm::to_vector(llvm::seq<int64_t>(0, softmax.shape.size())), softmax.shape,
                  softmax.keyDim, softmax.mask);
  for (Operation *sink : sinks_) {
    readSink(*readProduct(sink));
  }
  operations_.insert_range(reader_->getOperations());
  return problem_.empty();
}

/// dO and V as the product dO V^T reads them; the other products must read the same.
bool AttentionFinder::readGradient() {
  const std::optional<ScoreProduct> &product = reader_->getGradientProduct();
  if (!product)
    return pattern_.queryGradient || pattern_.keyGradient || pattern_.valueGradient
               ? fail("its gradient is not complete")
               : true;
  SmallVector<int64_t> loopOf(pattern_.softmax.shape.size(), -1);
  for (auto [dim, place] : llvm::enumerate(reader_->getGradientDims()))
    if (place != kAnyDim)
      loopOf[place] = product->loops[2][dim];
  int64_t queryLoop = loopOf[queryDim_], keyLoop = loopOf[pattern_.softmax.keyDim];
  unsigned keyFactor = product->findDim(1, keyLoop) >= 0 ? 1 : 0;
  auto isIn = [&](unsigned factor, int64_t loop) { return product->findDim(factor, loop) >= 0; };
  ProductLoops loops;
  loops.element = findSumLoop(product->op);
  bool isBatched = loops.element >= 0;
  for (int64_t dim : batchDims_) {
    loops.batch.push_back(loopOf[dim]);
    isBatched &= isIn(0, loopOf[dim]) && isIn(1, loopOf[dim]);
  }
  if (groupDim_ >= 0) {
    loops.group = loopOf[groupDim_];
    isBatched &= isIn(1 - keyFactor, loops.group) && !isIn(keyFactor, loops.group);
  }
  if (!isBatched || isIn(keyFactor, queryLoop) || isIn(1 - keyFactor, keyLoop) ||
      !isIn(keyFactor, keyLoop) || !isIn(1 - keyFactor, queryLoop))
    return fail("the gradient of its probabilities is not dO V^T");
  RowSource v = getSource(*product, keyFactor, loops, keyLoop, /*isOfQueries=*/false);
  pattern_.outputGradient =
      getSource(*product, 1 - keyFactor, loops, queryLoop, /*isOfQueries=*/true);
  if (pattern_.output && pattern_.output->other != v)
    return fail("its gradient reads other values than the output");
  pattern_.v = v;
  if (pattern_.valueGradient && pattern_.valueGradient->other != *pattern_.outputGradient)
    return fail("its gradients read different gradients of the output");
  if (pattern_.queryGradient && pattern_.queryGradient->other != pattern_.k)
    return fail("its gradient reads other keys");
  if (pattern_.keyGradient && pattern_.keyGradient->other != pattern_.q)
    return fail("its gradient reads other queries");
  return true;
}

/// Operations that are removed must have no user that stays.
bool AttentionFinder::checkUsers() {
  for (Operation *op : operations_)
    for (Operation *user : op->getUsers())
      if (!operations_.contains(user) && !sinks_.contains(user))
        return fail("its scores or their gradient are also read by " +
                    user->getName().getStringRef());
  return true;
}

static StringAttr stricter(StringAttr a, linalg::GenericOp op) {
  auto b = op->getAttrOfType<StringAttr>(kPrecisionAttr);
  return !a || (b && b.getValue() == kPrecisionHighest) ? b : a;
}

/// Whether the runtime supports attention of these sizes and types.
bool AttentionFinder::checkForm() {
  const Softmax &softmax = pattern_.softmax;
  if (batchDims_.size() > 2)
    return fail("it has more than two batch dimensions");
  // With one dimension beside the group, all heads share keys.
  const bool isFirstBatch = batchDims_.size() == 2 || (batchDims_.size() == 1 && groupDim_ >= 0);
  if (isFirstBatch)
    pattern_.batch = softmax.shape[batchDims_[0]];
  if (batchDims_.size() == (isFirstBatch ? 2 : 1))
    pattern_.keyHeads = softmax.shape[batchDims_.back()];
  pattern_.heads = pattern_.keyHeads * (groupDim_ < 0 ? 1 : softmax.shape[groupDim_]);
  pattern_.queries = softmax.shape[queryDim_];
  pattern_.keys = softmax.shape[softmax.keyDim];
  pattern_.dim = pattern_.q.own.extents.back();
  pattern_.element = getElementTypeOrSelf(pattern_.q.own.base);
  SmallVector<RowSource *> tensors{&pattern_.k, &pattern_.v};
  if (pattern_.hasGradient())
    tensors.push_back(&*pattern_.outputGradient);
  for (RowSource *rows : tensors)
    if (getElementTypeOrSelf(rows->own.base) != pattern_.element ||
        rows->own.extents.back() != pattern_.dim)
      return fail("its tensors have different types or sizes of a head");
  if (!isAttentionElement(pattern_.element))
    return fail("its elements are not f32, bf16 or f16");
  if (softmax.mask && !(softmax.mask->isConstant() && softmax.mask->constant >= 0)) {
    SmallVector<int64_t> causal(softmax.shape.size(), 0);
    causal[queryDim_] = 1, causal[softmax.keyDim] = -1;
    if (softmax.mask->factors != causal ||
        softmax.mask->constant != pattern_.keys - pattern_.queries)
      return fail("its mask is not causal");
    pattern_.causal = true;
  }
  std::string problem = explainSizes({pattern_.batch, pattern_.heads, pattern_.keyHeads,
                                      pattern_.queries, pattern_.keys, pattern_.dim},
                                     pattern_.causal);
  return problem.empty() ? true : fail(problem);
}

AttentionSearch AttentionFinder::run() {
  const Softmax &softmax = pattern_.softmax;
  const bool hasScores = softmax.problem.empty();
  if (hasScores ? !splitDims() : !guessDims())
    return {};
  followUsers();
  readSinks();
  if (!isAttention_)
    return {};
  if (!hasScores)
    return {std::nullopt, softmax.problem};
  if (pattern_.output)
    pattern_.v = pattern_.output->other;
  if (!problem_.empty() || !readGradient())
    return {std::nullopt, problem_};
  if (!pattern_.output && !pattern_.hasGradient())
    return {};
  if (!checkUsers() || !checkForm())
    return {std::nullopt, problem_};
  pattern_.precision = softmax.product.op->getAttrOfType<StringAttr>(kPrecisionAttr);
  for (Operation *sink : sinks_)
    pattern_.precision = stricter(pattern_.precision, cast<linalg::GenericOp>(sink));
  return {std::move(pattern_), ""};
}

AttentionSearch mlir::coll::findAttention(math::ExpOp exponential) {
  std::optional<Softmax> softmax = findSoftmax(exponential);
  return softmax ? AttentionFinder(std::move(*softmax)).run() : AttentionSearch();
}
