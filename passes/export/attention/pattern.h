//===- pattern.h - attention and its gradient in a step -----------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_ATTENTION_PATTERN_H
#define COLL_PASSES_EXPORT_ATTENTION_PATTERN_H

#include "passes/export/attention/layout.h"
#include "passes/export/attention/softmax.h"

namespace mlir::coll {

/// A product with the probabilities, or with the gradient of the scores.
struct AttentionProduct {
  linalg::GenericOp op;
  RowSource other; // its other factor: by batch, then the row that is summed over, then the element
  SmallVector<int64_t> resultDims; // of its result, by batch, row and element
  bool isGrouped = false;          // whether the heads of its result share keys

  Rows getResult() const {
    return getRows(linalg::GenericOp(op).getResult(0), resultDims, isGrouped);
  }
};

/// softmax(scale * Q K^T) V of one place in a step, with those of its products that are there.
struct AttentionPattern {
  Softmax softmax;
  int64_t batch = 1, heads = 1, keyHeads = 1, queries = 0, keys = 0, dim = 0;
  bool causal = false;
  Type element;
  StringAttr precision; // the strictest that one of its products asks for; may be null
  RowSource q, k, v;    // by batch, row and element
  std::optional<AttentionProduct> output;                     // P V
  std::optional<AttentionProduct> valueGradient;              // P^T dO
  std::optional<AttentionProduct> queryGradient, keyGradient; // dS K, dS^T Q
  std::optional<RowSource> outputGradient;                    // dO, where there is a gradient

  bool hasGradient() const { return outputGradient.has_value(); }
};

struct AttentionSearch {
  std::optional<AttentionPattern> found;
  /// Why attention cannot be fused. Empty if the operations are not attention at all.
  std::string problem;
};

AttentionSearch findAttention(math::ExpOp exponential);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_ATTENTION_PATTERN_H
