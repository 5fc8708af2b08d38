//===- score_values.h - tensors of a softmax, read as formulas --------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_ATTENTION_SCORE_VALUES_H
#define COLL_PASSES_EXPORT_ATTENTION_SCORE_VALUES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/export/attention/mask.h"
#include "passes/export/attention/score_algebra.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

/// Entry of `ScoreValue::dims`: a dimension along which the tensor does not change.
inline constexpr int64_t kAnyDim = -1;

/// The formula that a tensor holds, and the dimension of the scores that each of its dimensions is.
struct ScoreValue {
  ScoreFormula formula;
  SmallVector<int64_t> dims;
};

/// The number that all elements of a tensor are, looking through broadcasts and roundings.
std::optional<double> readNumber(Value value);

/// The factors of a matrix product and its result, each with the loop of every dimension. The
/// products are summed in f32 or f64, from zero.
struct ScoreProduct {
  linalg::GenericOp op;
  SmallVector<int64_t> loops[3]; // of the factors and the result

  Value getFactor(unsigned i) const { return linalg::GenericOp(op).getDpsInputs()[i]; }
  /// The dimension of an operand along which it moves with the loop; -1 if it does not.
  int64_t findDim(unsigned operand, int64_t loop) const;
};
std::optional<ScoreProduct> readProduct(Operation *op);

/// Whether the operation only computes with scores, element by element or by row, or changes their
/// shape.
bool isScoreOperation(Operation *op);

/// Reads tensors that are computed of `leaf`, which holds exponentials, and of one product, the
/// gradient with respect to the probabilities.
class ScoreReader {
public:
  /// `dims`: what the dimensions of `leaf` are in the scores. `mask`: over the scores' dimensions.
  ScoreReader(Value leaf, SmallVector<int64_t> dims, ArrayRef<int64_t> shape, int64_t keyDim,
              std::optional<Positions> mask)
      : shape_(shape), keyDim_(keyDim), mask_(std::move(mask)) {
    known_[leaf] = ScoreValue{ScoreFormula::exponential(), std::move(dims)};
  }

  /// nullopt if it is computed of anything else; `getProblem` is then the operation that cannot be
  /// read.
  std::optional<ScoreValue> read(Value value);

  Operation *getProblem() const { return problem_; }
  /// The values read so far that depend on the scores or on their gradient.
  const llvm::SetVector<Operation *> &getOperations() const { return operations_; }
  const std::optional<ScoreProduct> &getGradientProduct() const { return gradient_; }
  /// Which dimension of the scores each dimension of its result is.
  ArrayRef<int64_t> getGradientDims() const { return gradientDims_; }

private:
  std::optional<ScoreValue> compute(Operation *op);
  std::optional<ScoreValue> readElementwise(Operation *op);
  std::optional<ScoreValue> readSelect(Operation *op);
  std::optional<ScoreValue> readRowSum(linalg::GenericOp op);
  std::optional<ScoreValue> readGradientProduct(const ScoreProduct &product);

  SmallVector<int64_t> shape_; // of the scores
  int64_t keyDim_;
  std::optional<Positions> mask_;
  llvm::DenseMap<Value, ScoreValue> known_;
  llvm::SetVector<Operation *> operations_;
  std::optional<ScoreProduct> gradient_;
  SmallVector<int64_t> gradientDims_;
  Operation *problem_ = nullptr;
};

/// The mask with its dimensions where `dims` says they are in the scores, of `rank` dimensions.
Positions placeMask(const Positions &mask, ArrayRef<int64_t> dims, int64_t rank);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_ATTENTION_SCORE_VALUES_H
