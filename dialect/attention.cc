//===- attention.cc - sizes and places of attention ------------------------------===//

#include "dialect/attention.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coll;

std::string mlir::coll::explainSizes(ArrayRef<int64_t> list, bool causal) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (list.size() != 6 || llvm::any_of(list, [](int64_t size) { return size < 1; })) {
    os << "sizes must be six numbers, none below 1";
    return text;
  }
  AttentionSizes sizes = AttentionSizes::of(list);
  int64_t rows;
  if (llvm::MulOverflow(sizes.batch, sizes.heads, rows) ||
      llvm::MulOverflow(rows, sizes.queries, rows))
    os << "more rows than can be counted";
  else if (sizes.heads % sizes.kvHeads != 0)
    os << "heads must be a multiple of kv_heads, but are " << sizes.heads << " and "
       << sizes.kvHeads;
  else if (sizes.dim % kAttentionDimUnit != 0 || sizes.dim > kMaxAttentionDim)
    os << "dim must be a multiple of " << kAttentionDimUnit << " up to " << kMaxAttentionDim
       << ", but is " << sizes.dim;
  else if (causal && sizes.keys < sizes.queries)
    os << "a causal mask needs keys >= queries, but there are " << sizes.keys << " and "
       << sizes.queries;
  return text;
}

/// total += (count - 1) * stride; false if that does not fit into 64 bits.
static bool advance(int64_t &total, int64_t count, int64_t stride) {
  int64_t distance;
  return !llvm::MulOverflow(count - 1, stride, distance) &&
         !llvm::AddOverflow(total, distance, total);
}

std::string mlir::coll::explainPlace(const AttentionTensor &tensor, ArrayRef<int64_t> list,
                                     Type element) {
  std::string text;
  llvm::raw_string_ostream os(text);
  int64_t unit = kAttentionAlignment * 8 / element.getIntOrFloatBitWidth();
  if (tensor.at.size() != 4 ||
      llvm::any_of(tensor.at, [&](int64_t entry) { return entry < 0 || entry % unit != 0; })) {
    os << "the place of " << tensor.name << " must be four numbers that are multiples of " << unit
       << " elements";
    return text;
  }
  AttentionSizes sizes = AttentionSizes::of(list);
  int64_t last = tensor.at[0];
  bool fits = advance(last, sizes.batch, tensor.at[1]) &&
              advance(last, tensor.isKeys ? sizes.kvHeads : sizes.heads, tensor.at[2]) &&
              advance(last, tensor.isKeys ? sizes.keys : sizes.queries, tensor.at[3]) &&
              advance(last, sizes.dim, 1);
  if (!fits || (tensor.elements && last >= *tensor.elements))
    os << tensor.name << " reaches outside its memory";
  return text;
}
