//===- lower_contractions.h - pieces of coll-lower-contractions --------*- C++ -*-===//
//
// A contraction is seen as a set of loops, each with one stride per operand in
// row-major element order. Reshapes change nothing in this view, transposes only
// exchange strides, and a matrix product is a grouping of the loops.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_LOWER_CONTRACTIONS_H
#define COLL_PASSES_EXPORT_LOWER_CONTRACTIONS_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

#include <array>
#include <optional>

namespace mlir::coll {

/// Operands of a contraction, as positions in Loop::strides and Contraction::base.
enum Operand { kA = 0, kB = 1, kC = 2 };

struct Loop {
  int64_t extent;
  std::array<int64_t, 3> strides; // in elements; 0: the operand does not move with the loop
};

/// `C[loops] += A[loops] * B[loops]`. base[kC] gives only the type of the result.
struct Contraction {
  SmallVector<Loop> loops;
  std::array<Value, 3> base;
};

/// Attributes of a coll.gemm. With `swapped` its first operand is B.
struct GemmForm {
  int64_t m, n, k, lda, ldb, ldc;
  bool transA = false, transB = false, swapped = false;
  SmallVector<int64_t> batchSizes, batchStridesA, batchStridesB, batchStridesC;
};

/// Estimated times, to compare forms and to compare with a plain loop nest.
struct ContractionCosts {
  bool onGpu = false;

  /// The library does the innermost batch dimension of a product in one call.
  double product(const GemmForm &form) const;
  double copy(int64_t elements) const;
  /// `elements` innermost iterations of a plain loop nest.
  double nest(int64_t elements) const;
  /// Whether a plain loop nest is estimated to be faster than a product that takes `cost`.
  bool prefersNest(const GemmForm &form, double cost, int64_t elements) const;
};

/// Whether the body is `yield(acc + a * b)` in f32 or f64, with a and b possibly widened.
bool isMultiplyAdd(linalg::GenericOp op);

/// Whether a sum starts from zeros.
bool isZeroInit(Value init);

/// The type in which a product without widening reads its factors: that of both operands if they
/// are bf16 or f16 and their sums f32, else null.
Type getNarrowFactor(linalg::GenericOp op);

/// The only user of `sums`, if it rounds them to `factor`, which may be null.
Operation *findRounding(Value sums, Type factor);

/// Erases operations without effects whose results nothing uses.
void eraseUnused(Operation *root);

/// Reads loops and strides from the operation's indexing maps. Fails if an index is not a sum of
/// non-negative multiples of loop dimensions.
FailureOr<Contraction> readContraction(linalg::GenericOp op);

/// The loops' strides within a tensor, dimension by dimension. Splits loops that
/// run over several of the dimensions, for all operands. On success entry i says
/// that loop i moves `factor` positions along `dim` (-1: it does not move).
struct Coordinate {
  int64_t dim, factor;
};
FailureOr<SmallVector<Coordinate>> alignLoops(Contraction &contraction, Operand operand,
                                              ArrayRef<int64_t> shape);

/// Replaces base[operand] by the value that it is a reshape or a transposed copy of.
void lookThroughCopies(Contraction &contraction, Operand operand);

/// The input of a generic that only permutes dimensions and adds or drops unit
/// ones; null for every other operation.
Value getTransposedInput(Operation *op);

/// Moves a conversion of floats that stands between a transposing copy and products, or between two
/// such copies, to the copy's other side: products then read and write through the copies.
void moveConversions(RewriterBase &rewriter, ArrayRef<linalg::GenericOp> conversions);
SmallVector<linalg::GenericOp> findConversions(Operation *root);

/// Strides of the input of a transposing generic, one per dimension of its result.
SmallVector<int64_t> getInputStridesByResultDim(linalg::GenericOp op);

/// Groups the loops into batch, M, N and K, by the least cost.
std::optional<GemmForm> findGemmForm(const Contraction &contraction, ContractionCosts costs);

/// Copies base[operand] into loop order, matrix by matrix, converting to `elementType`; the
/// contraction then reads the copy. Fails if the operand's positions are not linear per
/// dimension.
LogicalResult packOperand(OpBuilder &builder, Location loc, Contraction &contraction,
                          Operand operand, Type elementType, bool emit);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_LOWER_CONTRACTIONS_H
