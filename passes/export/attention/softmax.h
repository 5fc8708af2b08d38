//===- softmax.h - softmax of a matrix product --------------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_ATTENTION_SOFTMAX_H
#define COLL_PASSES_EXPORT_ATTENTION_SOFTMAX_H

#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/export/attention/score_values.h"

#include <string>

namespace mlir::coll {

/// exp(s - max over keys of s), where s = mask(scale * product). Dimensions are those of the
/// exponentials.
struct Softmax {
  math::ExpOp exponential;
  SmallVector<int64_t> shape;
  int64_t keyDim = 0;
  ScoreProduct product;
  SmallVector<int64_t> productDims; // of each dimension of the product: that of the exponentials,
                                    // or kAnyDim for one of extent 1
  double scale = 1;
  std::optional<Positions> mask;
  llvm::SetVector<Operation *> operations; // all of the above
  std::string problem;                     // why the scores are not of this form; empty if they are
};

/// nullopt if it is not the exponential of a difference to the rows' largest value.
std::optional<Softmax> findSoftmax(math::ExpOp exponential);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_ATTENTION_SOFTMAX_H
