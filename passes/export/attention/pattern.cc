//===- pattern.cc - attention and its gradient in a step -----------------------------===//
//
// From the exponentials of a softmax all that depends on them is followed to matrix products. Each
// product must be one of four: P V, P^T dO, dS K, dS^T Q.
//
//===----------------------------------------------------------------------------------===//

#include "passes/export/attention/pattern.h"

#include "dialect/attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::coll;

// Factors of formulas differ by less, where they are rounded to f32.
static constexpr double kTolerance = 1e-4;
// More users than any softmax has.
static constexpr size_t kMaxUsers = 256;

namespace {

/// The loops of a product by what they run over.
struct ProductLoops {
  SmallVector<int64_t> batch;
  int64_t row = -1, summed = -1, element = -1;
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
  SmallVector<int64_t> batchDims_; // of the scores
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
                                    const ProductLoops &loops, int64_t row) {
  SmallVector<int64_t> dims;
  for (int64_t loop : loops.batch)
    dims.push_back(product.findDim(operand, loop));
  dims.push_back(product.findDim(operand, row));
  dims.push_back(product.findDim(operand, loops.element));
  return dims;
}

static RowSource getSource(const ScoreProduct &product, unsigned factor, const ProductLoops &loops,
                           int64_t row) {
  return RowSource(product.getFactor(factor), getDims(product, factor, loops, row));
}

/// Which dimensions of the scores are the queries and the batch: both factors of the product have
/// those of the batch, one has the queries, the other the keys.
bool AttentionFinder::splitDims() {
  Softmax &softmax = pattern_.softmax;
  const ScoreProduct &product = softmax.product;
  linalg::GenericOp op = product.op;
  if (op.getNumReductionLoops() != 1)
    return false;
  SmallVector<int64_t> loopOf(softmax.shape.size(), -1);
  for (auto [dim, place] : llvm::enumerate(softmax.productDims))
    loopOf[place] = product.loops[2][dim];
  int64_t keyLoop = loopOf[softmax.keyDim];
  unsigned keyFactor = product.findDim(1, keyLoop) >= 0 ? 1 : 0;
  if (product.findDim(1 - keyFactor, keyLoop) >= 0 || product.findDim(keyFactor, keyLoop) < 0)
    return false;
  ProductLoops loops;
  for (auto [dim, loop] : llvm::enumerate(loopOf)) {
    bool inKeys = product.findDim(keyFactor, loop) >= 0;
    bool inQueries = product.findDim(1 - keyFactor, loop) >= 0;
    if (int64_t(dim) == softmax.keyDim)
      continue;
    if (inKeys && inQueries) {
      batchDims_.push_back(dim);
      loops.batch.push_back(loop);
    } else if (inQueries && queryDim_ < 0) {
      queryDim_ = dim;
    } else {
      return false;
    }
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  loops.element = llvm::find(iterators, utils::IteratorType::reduction) - iterators.begin();
  if (queryDim_ < 0)
    return false;
  pattern_.q = getSource(product, 1 - keyFactor, loops, loopOf[queryDim_]);
  pattern_.k = getSource(product, keyFactor, loops, keyLoop);
  return true;
}

/// Where the scores are not understood: the dimension of the queries stands before that of the
/// keys. Only to tell attention from another softmax.
bool AttentionFinder::guessDims() {
  const int64_t rank = pattern_.softmax.shape.size();
  if (rank < 2 || pattern_.softmax.keyDim != rank - 1)
    return false;
  queryDim_ = rank - 2;
  batchDims_ = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return true;
}

/// Collects the products that read what depends on the exponentials.
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
  const size_t rank = pattern_.softmax.shape.size();
  SmallVector<int64_t> loopOf(rank, -1);
  if (scoreDims.size() != rank)
    return std::nullopt;
  for (auto [dim, place] : llvm::enumerate(scoreDims)) {
    if (place == kAnyDim)
      return std::nullopt;
    loopOf[place] = product.loops[scoreFactor][dim];
  }
  ProductLoops loops;
  auto isInRest = [&](int64_t loop) { return product.findDim(1 - scoreFactor, loop) >= 0; };
  auto isInResult = [&](int64_t loop) { return product.findDim(2, loop) >= 0; };
  for (int64_t dim : batchDims_) {
    loops.batch.push_back(loopOf[dim]);
    if (!isInRest(loopOf[dim]) || !isInResult(loopOf[dim]))
      return std::nullopt;
  }
  for (int64_t dim : {queryDim_, pattern_.softmax.keyDim})
    (isInResult(loopOf[dim]) ? loops.row : loops.summed) = loopOf[dim];
  linalg::GenericOp op = product.op;
  for (int64_t loop = 0; loop < int64_t(op.getNumLoops()); ++loop)
    if (!llvm::is_contained(loopOf, loop))
      loops.element = loop;
  bool isComplete = loops.row >= 0 && loops.summed >= 0 && loops.element >= 0 &&
                    op.getNumLoops() == rank + 1 && !isInRest(loops.row) &&
                    isInRest(loops.summed) && isInRest(loops.element) && isInResult(loops.element);
  return isComplete ? std::optional(loops) : std::nullopt;
}

bool AttentionFinder::place(std::optional<AttentionProduct> &slot, StringRef name,
                            AttentionProduct product) {
  if (slot)
    return fail("there are two products that are " + name);
  slot = std::move(product);
  return true;
}

/// Which of the four products it is, by what its scores are.
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
    return fail("its probabilities are multiplied by what depends on them");
  unsigned factor = isScores(0) ? 0 : 1;
  std::optional<ScoreValue> value = reader_->read(product.getFactor(factor));
  if (!value) {
    Operation *other = reader_->getProblem();
    return fail("what is made of its probabilities depends on " +
                (other ? other->getName().getStringRef() : StringRef("an argument")));
  }
  std::optional<ProductLoops> loops = splitLoops(product, factor, value->dims);
  if (!loops)
    return fail("its probabilities are in a product that is none of attention");
  bool sumsKeys = product.findDim(factor, loops->summed) ==
                  llvm::find(value->dims, pattern_.softmax.keyDim) - value->dims.begin();
  return placeSink({product.op, getSource(product, 1 - factor, *loops, loops->summed),
                    getDims(product, 2, *loops, loops->row)},
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
  linalg::GenericOp op = product->op;
  ArrayRef<int64_t> loopOf = product->loops[2];
  int64_t queryLoop = loopOf[queryDim_], keyLoop = loopOf[pattern_.softmax.keyDim];
  unsigned keyFactor = product->findDim(1, keyLoop) >= 0 ? 1 : 0;
  ProductLoops loops;
  bool isBatched = op.getNumReductionLoops() == 1;
  for (int64_t dim : batchDims_) {
    loops.batch.push_back(loopOf[dim]);
    isBatched &= product->findDim(0, loopOf[dim]) >= 0 && product->findDim(1, loopOf[dim]) >= 0;
  }
  if (!isBatched || product->findDim(keyFactor, queryLoop) >= 0 ||
      product->findDim(1 - keyFactor, keyLoop) >= 0 || product->findDim(keyFactor, keyLoop) < 0 ||
      product->findDim(1 - keyFactor, queryLoop) < 0)
    return fail("the gradient of its probabilities is not dO V^T");
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  loops.element = llvm::find(iterators, utils::IteratorType::reduction) - iterators.begin();
  RowSource v = getSource(*product, keyFactor, loops, keyLoop);
  pattern_.outputGradient = getSource(*product, 1 - keyFactor, loops, queryLoop);
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

/// What goes away is read by nothing that stays.
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

/// Whether the runtime computes attention of such sizes and types.
bool AttentionFinder::checkForm() {
  const Softmax &softmax = pattern_.softmax;
  if (batchDims_.size() > 2)
    return fail("it has more than two batch dimensions");
  if (batchDims_.size() == 2)
    pattern_.batch = softmax.shape[batchDims_[0]];
  if (!batchDims_.empty())
    pattern_.heads = softmax.shape[batchDims_.back()];
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
  std::string problem = explainSizes({pattern_.batch, pattern_.heads, pattern_.heads,
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
