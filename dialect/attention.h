//===- attention.h - attention as an operation ------------------------*- C++ -*-===//
//
// The operations that attention.td declares, and what their verifiers and those of the exec
// dialect have in common.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_ATTENTION_H
#define COLL_DIALECT_ATTENTION_H

#include "dialect/dialect.h"

#define GET_OP_CLASSES
#include "dialect/attention_ops.h.inc"

namespace mlir::coll {

inline constexpr int64_t kMaxAttentionDim = 128, kAttentionDimUnit = 8;
/// Strides and places are multiples of as many bytes.
inline constexpr int64_t kAttentionAlignment = 16;

/// The entries of `sizes`.
struct AttentionSizes {
  int64_t batch, heads, kvHeads, queries, keys, dim;

  static AttentionSizes of(ArrayRef<int64_t> sizes) {
    return {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]};
  }
  SmallVector<int64_t> list() const { return {batch, heads, kvHeads, queries, keys, dim}; }
  /// The elements of lse, one for each row of scores.
  int64_t countRows() const { return batch * heads * queries; }
};

/// One tensor of an attention: where its elements are in memory for `elements` of them; nullopt
/// where that is not known.
struct AttentionTensor {
  StringRef name;
  std::optional<int64_t> elements;
  ArrayRef<int64_t> at;
  bool isKeys; // k, v and their gradients
};

/// The tensors of an attention `op`; `count` says how many elements a value of it has.
template <typename Op, typename Count>
SmallVector<AttentionTensor, 8> listAttentionTensors(Op op, Count count) {
  return {{"q", count(op.getQ()), op.getQAt(), false},
          {"k", count(op.getK()), op.getKAt(), true},
          {"v", count(op.getV()), op.getVAt(), true},
          {"o", count(op.getO()), op.getOAt(), false}};
}

/// The same of the gradient of an attention.
template <typename Op, typename Count>
SmallVector<AttentionTensor, 8> listGradientTensors(Op op, Count count) {
  SmallVector<AttentionTensor, 8> tensors = listAttentionTensors(op, count);
  tensors.append({{"d_o", count(op.getDO()), op.getDOAt(), false},
                  {"d_q", count(op.getDQ()), op.getDQAt(), false},
                  {"d_k", count(op.getDK()), op.getDKAt(), true},
                  {"d_v", count(op.getDV()), op.getDVAt(), true}});
  return tensors;
}

/// Why attention cannot be computed of such sizes, or empty.
std::string explainSizes(ArrayRef<int64_t> sizes, bool causal);

/// Why the tensor of such elements is not in its memory or not aligned, or empty.
std::string explainPlace(const AttentionTensor &tensor, ArrayRef<int64_t> sizes, Type element);

/// Whether attention can be computed of such elements.
inline bool isAttentionElement(Type type) { return type.isF32() || type.isBF16() || type.isF16(); }

} // namespace mlir::coll

#endif // COLL_DIALECT_ATTENTION_H
