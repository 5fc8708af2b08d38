// attention.h - attention and its gradient without the matrix of scores in memory.
//
//   s[i][j] = scale * (q[i] . k[j])      of one batch and head; i: queries, j: keys
//   p       = softmax of each row of s, over the keys that the query sees
//   o       = p v,   lse[i] = log(sum over j of exp(s[i][j]))
//
// The gradient recomputes p from q, k and lse:
//
//   delta[i] = o[i] . dO[i]       ds = p * (dO v^T - delta)
//   dV = p^T dO                   dQ = scale * ds k             dK = scale * ds^T q
//
// Tensors are of f32, f16 or bf16, with sums and softmax in f32. p and ds are rounded to the type
// of the tensors before they are multiplied, and to TF32 if that is allowed. The order of sums is
// fixed per shape, and nothing is added by atomics: equal calls give equal bits.
//
// Formulas: Dao, FlashAttention-2 (arXiv:2307.08691).

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_ATTENTION_H
#define COLL_RUNTIME_KERNELS_ATTENTION_ATTENTION_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <string>

namespace coll::kernels {

// Strides, in elements, of a tensor [batch][head][row][dim]; along dim they are 1. Multiples of 16
// bytes.
struct AttentionRows {
  int64_t batch = 0, head = 0, row = 0;
};

inline constexpr int64_t kMaxAttentionDim = 128;

struct Attention {
  CollDtype dtype = kCollBf16; // f32, f16 or bf16
  bool tf32 = false;           // f32: products may be of operands rounded to TF32
  bool causal = false;         // query i sees keys j <= i + keys - queries; keys >= queries
  int64_t batch = 0, heads = 0;
  int64_t kvHeads = 0; // head h reads head h / (heads / kvHeads) of k and v
  int64_t queries = 0, keys = 0;
  int64_t dim = 0; // a multiple of 8, up to kMaxAttentionDim
  float scale = 1;
  AttentionRows q, k, v, o;     // q, o: heads x queries; k, v: kvHeads x keys
  AttentionRows dQ, dK, dV, dO; // of the gradient
};

// All in GPU memory, at multiples of 16 bytes. The gradient reads the members before dQ.
struct AttentionBuffers {
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void *o = nullptr;
  float *lse = nullptr; // [batch][heads][queries], dense
  const void *dO = nullptr;
  void *dQ = nullptr, *dK = nullptr, *dV = nullptr;
  void *scratch = nullptr; // attentionScratchBytes()
};

// "bf16, 8 x 12 heads, 1024 x 1024 x 64, causal"; for messages.
std::string describe(const Attention &attention);

// Ok, or why the call is invalid.
rt::Status checkAttention(const Attention &attention, const AttentionBuffers &buffers,
                          bool isBackward);

// Whether there is nothing to compute. Heads, queries and keys are at least 1.
inline bool isEmpty(const Attention &a) { return a.batch == 0; }

inline int64_t attentionScratchBytes(const Attention &a) {
  return int64_t{sizeof(float)} * a.batch * a.heads * a.queries;
}

// Both put work on `stream` and return at once. kCollInvalidCall: the arguments; kCollUnsupported:
// no CUDA in this build, or no code for this GPU; kCollDevice: CUDA failed. They may be captured in
// a graph once a call of the same type and dim has run on the GPU.
rt::Status launchAttention(const Attention &attention, const AttentionBuffers &buffers,
                           void *stream);
rt::Status launchAttentionBackward(const Attention &attention, const AttentionBuffers &buffers,
                                   void *stream);

// The same on the host, with pointers to host memory, for checked calls: in f64, rounded once.
void attentionReference(const Attention &attention, const AttentionBuffers &buffers);
void attentionBackwardReference(const Attention &attention, const AttentionBuffers &buffers);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ATTENTION_ATTENTION_H
