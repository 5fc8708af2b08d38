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
/// Strides and offsets are multiples of this many bytes.
inline constexpr int64_t kAttentionAlignment = 16;

/// The entries of `sizes`.
struct AttentionSizes {
  int64_t batch, heads, kvHeads, queries, keys, dim;

  static AttentionSizes of(ArrayRef<int64_t> sizes) {
    return {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]};
  }
  SmallVector<int64_t> list() const { return {batch, heads, kvHeads, queries, keys, dim}; }
  /// The number of elements of lse, one for each row of scores.
  int64_t countRows() const { return batch * heads * queries; }
};

/// One tensor of an attention. `elements` is the number of elements that its memory holds, nullopt
/// if it is not known; `at` says where in that memory the tensor is.
struct AttentionTensor {
  StringRef name;
  std::optional<int64_t> elements;
  ArrayRef<int64_t> at;
  bool isKeys; // k, v and their gradients
};

/// The tensors of the attention `op`; `count` returns the number of elements of a value.
template <typename Op, typename Count>
SmallVector<AttentionTensor, 8> listAttentionTensors(Op op, Count count) {
  return {{"q", count(op.getQ()), op.getQAt(), false},
          {"k", count(op.getK()), op.getKAt(), true},
          {"v", count(op.getV()), op.getVAt(), true},
          {"o", count(op.getO()), op.getOAt(), false}};
}

/// The tensors of the gradient `op` of an attention.
template <typename Op, typename Count>
SmallVector<AttentionTensor, 8> listGradientTensors(Op op, Count count) {
  SmallVector<AttentionTensor, 8> tensors = listAttentionTensors(op, count);
  tensors.append({{"d_o", count(op.getDO()), op.getDOAt(), false},
                  {"d_q", count(op.getDQ()), op.getDQAt(), false},
                  {"d_k", count(op.getDK()), op.getDKAt(), true},
                  {"d_v", count(op.getDV()), op.getDVAt(), true}});
  return tensors;
}

/// Why attention of these sizes cannot be computed; empty if it can.
std::string explainSizes(ArrayRef<int64_t> sizes, bool causal);

/// Why the tensor, whose elements have this type, is outside its memory or not aligned; empty if it
/// is neither.
std::string explainPlace(const AttentionTensor &tensor, ArrayRef<int64_t> sizes, Type element);

/// Whether attention can be computed on elements of this type.
inline bool isAttentionElement(Type type) { return type.isF32() || type.isBF16() || type.isF16(); }

} // namespace mlir::coll

#endif // COLL_DIALECT_ATTENTION_H
