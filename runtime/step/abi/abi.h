/* abi.h - the C interface between a compiled step and the runtime.
 *
 * A compiled step (from the JIT or a loaded shared object alike) exports
 *
 *   int32_t coll_step(const CollAbi *, CollContext *, void *const *args,
 *                     void *const *results, void *arena);
 *   int32_t coll_init(…the same…);            (absent if there is no @init)
 *   const char coll_descriptor[];             (JSON, NUL-terminated; see program.h)
 *   const char coll_gpu_image[];              (device: gpu: PTX, NUL-terminated, or a cubin)
 *   const char coll_gpu_kernels[];            (device: gpu: JSON, NUL-terminated; see below)
 *   const char coll_constants[];              (the result of `constants`; absent if there is none)
 *
 * args[i] is this rank's part of argument i, dense, row-major. results[k] receives
 * result k; a result whose descriptor names an argument is written in place, and
 * results[k] is then that argument's buffer. arena is scratch memory of
 * descriptor.arenaBytes, 64-byte aligned; its content does not survive the call.
 * Booleans (i1) take one byte. All buffers are 64-byte aligned. They are GPU memory if the
 * descriptor says `device: gpu`; the functions themselves run on the host.
 *
 * coll_gpu_kernels: [{"name": "k0", "grid": [8, 1, 1], "block": [256, 1, 1], "shared": 0}, …],
 * where `launch` names a kernel by its position, `shared` is the dynamic shared memory in bytes,
 * and "block" may be a number of threads. "loc", a text, is for messages.
 */

#ifndef COLL_RUNTIME_STEP_ABI_ABI_H
#define COLL_RUNTIME_STEP_ABI_ABI_H

#include "runtime/base/codes.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kCollAbiVersion = 9 };
/* Id of the first entry of the table of computations; those of later ones are lower. */
enum { kCollFirstComputation = -2 };

typedef struct CollContext CollContext; /* one rank's state in the runtime */
typedef struct CollRequest CollRequest; /* an operation in flight */

/* Bytes of the memory in which `dispatch` stores the route of its tokens, for `combine`: of
 * `tokens` tokens with `topk` experts each, received in `capacity` rows. Only the runtime knows its
 * content (tokens/route.h), which is valid until the function that made the call returns. */
static inline int64_t collRouteBytes(int64_t tokens, int64_t topk, int64_t capacity) {
  return 4 * (8 + capacity + tokens * topk);
}

/* The type in which a contraction computes. Sums are in f32, except those of F64. Operands narrower
 * than f32 are exact in every form. */
typedef enum CollCompute {
  kCollComputeF32 = 0,  /* products of true f32 */
  kCollComputeTf32 = 1, /* f32 operands may be rounded to 11 significant bits */
  kCollComputeBf16 = 2, /* f32 operands may be rounded to bf16 */
  kCollComputeF64 = 3   /* f64 operands and result */
} CollCompute;

/* A function of a contraction's sums, applied before they are rounded to the type of `out`. */
typedef enum CollEpilogue {
  kCollEpilogueNone = 0,
  kCollEpilogueBias = 1, /* + bias[j] in column j */
  kCollEpilogueRelu = 2,
  kCollEpilogueBiasRelu = 3,
  kCollEpilogueGelu = 4, /* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) */
  kCollEpilogueBiasGelu = 5,
  kCollEpilogueGeluGradient = 6 /* times the derivative of gelu at x[i][j] */
} CollEpilogue;

/* out[p] = epilogue(op(a[p]) * op(b[p]) (+ out[p] if accumulate)) for p < batch, row-major: op(a)
 * is m x k, op(b) k x n, out m x n; op transposes where trans_* is 1. ld_* are row strides,
 * stride_* batch strides, in elements; a stride of 0 uses one operand for all of the batch. k = 0
 * sums nothing. The types of a and b are equal. */
typedef struct CollContraction {
  int32_t dtype_a, dtype_b, dtype_out; /* CollDtype: f32, f64, f16 or bf16 */
  int32_t compute;                     /* CollCompute */
  int32_t trans_a, trans_b;
  int32_t accumulate;
  int32_t epilogue; /* CollEpilogue */
  int64_t batch, m, n, k;
  int64_t ld_a, ld_b, ld_out;
  int64_t stride_a, stride_b, stride_out;
  const void *bias; /* [n] of dtype_out, the same for all of the batch; null without a bias */
  const void *x;    /* of GeluGradient, whose batch is 1: laid out as `out`; else null */
  /* Another result of gelu and its gradient, whose batch then is 1; or null. Gelu, BiasGelu: what
   * gelu is applied to, laid out as `out`. GeluGradient: [n] of dtype_out, the sum of each column
   * of the result. */
  void *kept;
} CollContraction;

/* The one of its three tensors that a convolution computes from the two others. */
typedef enum CollConvolutionKind {
  kCollConvolutionForward = 0, /* y from x and w */
  kCollConvolutionData = 1,    /* x from y and w: the gradient of x, from that of y */
  kCollConvolutionFilter = 2   /* w from x and y: the gradient of w, from that of y */
} CollConvolutionKind;

/* y[n][o][g][f] = sum over p and c of x[n][o * stride + p * dilation - pad][g][c] * w[g][f][p][c],
 * where x is zero outside; and its two gradients. All are dense: x is
 * [batch][in][groups][channels], w [groups][features][window][channels], y
 * [batch][out][groups][features], with three spatial dimensions each; those that are not needed
 * come first and have size 1. All are of one type, and sums are in f32 (f64 of f64). */
typedef struct CollConvolution {
  int32_t dtype;                             /* CollDtype: f32, f64, f16 or bf16 */
  int32_t compute;                           /* CollCompute */
  int32_t kind;                              /* CollConvolutionKind */
  int32_t reserved;                          /* 0 */
  int64_t batch, groups, channels, features; /* channels and features of a group */
  int64_t in[3], window[3], out[3];
  int64_t stride[3], dilation[3], pad[3];
} CollConvolution;

/* The layout of a tensor [batch][heads][rows][dim]: strides in elements; elements along dim are one
 * after another. */
typedef struct CollRows {
  int64_t batch, head, row;
} CollRows;

/* Attention: o = softmax(s) v, where s[i][j] = scale * (q[i] . k[j]), without the matrix s in
 * memory. q, o and their gradients are [batch][heads][queries][dim]; k, v and theirs
 * [batch][kv_heads][keys][dim]: head h reads head h / (heads / kv_heads) of k and v. causal: query
 * i sees the keys j <= i + keys - queries, and keys >= queries. All are of one type; sums and
 * softmax are in f32. dim is a multiple of 8, 8 to 128; addresses and strides are multiples of 16
 * bytes. The strides of gradients are read by attention_backward only. */
typedef struct CollAttention {
  int32_t dtype;   /* CollDtype: f32, f16 or bf16 */
  int32_t compute; /* CollCompute: f32; of f32 tensors also tf32 */
  int32_t causal;
  int32_t reserved; /* 0 */
  int64_t batch, heads, kv_heads, queries, keys, dim;
  double scale;
  CollRows q, k, v, o;
  CollRows d_q, d_k, d_v, d_o;
} CollAttention;

/* Bytes of the scratch memory of attention_backward. */
static inline int64_t collAttentionScratchBytes(const CollAttention *attention) {
  return 4 * attention->batch * attention->heads * attention->queries;
}

typedef struct CollAbi {
  int32_t version; /* kCollAbiVersion; a step checks it before its first call */
  int32_t reserved;
#define COLL_ABI_FUNCTION(name, parameters) int32_t(*name) parameters;
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION
} CollAbi;

typedef int32_t (*CollEntry)(const CollAbi *abi, CollContext *ctx, void *const *args,
                             void *const *results, void *arena);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* COLL_RUNTIME_STEP_ABI_ABI_H */
