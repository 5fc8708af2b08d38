#include "runtime/kernels/attention/attention.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr int64_t kVec = 16;

// A tensor of the call.
struct Operand {
  const char *name;
  const void *data;
  const AttentionRows &rows;
  int64_t heads, count; // rows of a head
  bool isWritten;
};

bool isAligned(const void *address) { return reinterpret_cast<uintptr_t>(address) % kVec == 0; }

Status checkSizes(const Attention &a) {
  constexpr int64_t kMax = INT32_MAX / 2;
  for (int64_t size : {a.batch, a.heads, a.kvHeads, a.queries, a.keys})
    if (size < 0 || size > kMax)
      return Status::invalid("a size is " + std::to_string(size));
  if (a.dim <= 0 || a.dim % 8 || a.dim > kMaxAttentionDim)
    return {kCollUnsupported, "a head has " + std::to_string(a.dim) +
                                  " elements; it has to be a multiple of 8, up to " +
                                  std::to_string(kMaxAttentionDim)};
  if (a.heads == 0 || a.queries == 0 || a.keys == 0)
    return Status::invalid("there are no heads, queries or keys");
  if (a.kvHeads == 0 || a.heads % a.kvHeads)
    return Status::invalid(std::to_string(a.heads) + " heads cannot share " +
                           std::to_string(a.kvHeads) + " heads of keys");
  if (a.causal && a.keys < a.queries)
    return Status::invalid("a causal mask leaves no key to the first of " +
                           std::to_string(a.queries) + " queries, with " + std::to_string(a.keys) +
                           " keys");
  if (a.batch > kMax / a.heads)
    return Status::invalid("batch and heads are too many");
  return {};
}

// Whether no two rows share memory: each stride is larger than the span of the smaller ones.
bool isApart(const Attention &a, const Operand &operand) {
  std::array<std::pair<int64_t, int64_t>, 3> steps = {{{operand.rows.batch, a.batch},
                                                       {operand.rows.head, operand.heads},
                                                       {operand.rows.row, operand.count}}};
  std::sort(steps.begin(), steps.end());
  int64_t covered = a.dim;
  for (const auto &[stride, count] : steps) {
    if (count <= 1)
      continue;
    if (stride < covered)
      return false;
    covered += stride * (count - 1);
  }
  return true;
}

Status checkOperand(const Attention &a, const Operand &operand) {
  constexpr int64_t kMaxStride = int64_t{1} << 40;
  const std::string name = std::string("\"") + operand.name + "\"";
  if (!operand.data || !isAligned(operand.data))
    return Status::invalid(name + " is null or not aligned to 16 bytes");
  const int64_t elemBytes = rt::dtypeSize(a.dtype);
  for (int64_t stride : {operand.rows.batch, operand.rows.head, operand.rows.row})
    if (stride < 0 || stride > kMaxStride || stride * elemBytes % kVec)
      return Status::invalid(name + " has a stride of " + std::to_string(stride) +
                             " elements; strides must be multiples of 16 bytes");
  if (operand.isWritten && !isApart(a, operand))
    return Status::invalid("the strides of " + name + " make its rows overlap");
  return {};
}

Status checkOperands(const Attention &a, const AttentionBuffers &b, bool isBackward) {
  const bool isForward = !isBackward;
  for (const Operand &operand : {Operand{"q", b.q, a.q, a.heads, a.queries, false},
                                 Operand{"k", b.k, a.k, a.kvHeads, a.keys, false},
                                 Operand{"v", b.v, a.v, a.kvHeads, a.keys, false},
                                 Operand{"o", b.o, a.o, a.heads, a.queries, isForward}})
    COLL_RETURN_IF_ERROR(checkOperand(a, operand));
  if (!b.lse || !isAligned(b.lse))
    return Status::invalid("\"lse\" is null or not aligned to 16 bytes");
  if (isForward)
    return {};
  for (const Operand &operand : {Operand{"d_o", b.dO, a.dO, a.heads, a.queries, false},
                                 Operand{"d_q", b.dQ, a.dQ, a.heads, a.queries, true},
                                 Operand{"d_k", b.dK, a.dK, a.kvHeads, a.keys, true},
                                 Operand{"d_v", b.dV, a.dV, a.kvHeads, a.keys, true}})
    COLL_RETURN_IF_ERROR(checkOperand(a, operand));
  if (!b.scratch || !isAligned(b.scratch))
    return Status::invalid("the scratch memory is null or not aligned to 16 bytes");
  return {};
}

} // namespace

std::string describe(const Attention &a) {
  const std::string shared = a.kvHeads == a.heads ? "" : " on " + std::to_string(a.kvHeads);
  return std::string(rt::dtypeName(a.dtype)) + (a.tf32 ? " in tf32" : "") + ", " +
         std::to_string(a.batch) + " x " + std::to_string(a.heads) + " heads" + shared + ", " +
         std::to_string(a.queries) + " x " + std::to_string(a.keys) + " x " +
         std::to_string(a.dim) + (a.causal ? ", causal" : "");
}

Status checkAttention(const Attention &a, const AttentionBuffers &buffers, bool isBackward) {
  if (a.dtype != kCollF32 && a.dtype != kCollF16 && a.dtype != kCollBf16)
    return {kCollUnsupported,
            std::string("element type ") + rt::dtypeName(a.dtype) + " is not f32, f16 or bf16"};
  if (!std::isfinite(a.scale))
    return Status::invalid("the scale is not finite");
  COLL_RETURN_IF_ERROR(checkSizes(a));
  return isEmpty(a) ? Status::okay() : checkOperands(a, buffers, isBackward);
}

} // namespace coll::kernels
