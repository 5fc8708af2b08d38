//===- stablehlo_reduction.h - shared parts of reductions -------------*- C++ -*-===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_REDUCTION_H
#define COLL_PASSES_IMPORT_STABLEHLO_REDUCTION_H

#include "passes/import/stablehlo_elementwise.h"

namespace mlir::coll::stablehlo {

/// The region of a reduction. If it is one operation that has an identity (a sum,
/// a maximum, …), the reduction starts at the identity and its initial value is
/// combined once, afterwards, so that parts of the reduction may be computed
/// apart. Otherwise it starts at the initial values.
class Reduction {
public:
  /// Checks initial values (operands numInputs … 2 * numInputs - 1) and results'
  /// element types against the inputs' (operands 0 … numInputs - 1).
  static FailureOr<Reduction> get(Source &src);

  unsigned numInputs() const { return numInputs_; }
  /// Whether it is one operation on one input, whose parts may be computed apart.
  bool hasIdentity() const { return rule_; }
  /// Initial contents of the accumulators.
  SmallVector<Value> starts(Source &src) const;
  /// The value, of rank 0, to pad input `i` with so that it does not change the result.
  Value padding(Source &src, unsigned i) const;
  /// Builds the body: accumulators first, as StableHLO has it.
  FailureOr<SmallVector<Value>> combine(Source &src, ValueRange accumulators,
                                        ValueRange elements) const;
  /// Combines the initial values into the reduced ones if that is still to be done.
  SmallVector<Value> finish(Source &src, ValueRange reduced) const;

private:
  unsigned numInputs_ = 0;
  const ElementwiseRule *rule_ = nullptr;
  TypedAttr identity_;
};

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_REDUCTION_H
