// bench_attention.cc - the attention launchers for bench_attention.py, which compares them with
// PyTorch.

#include "runtime/kernels/attention/attention.h"

#include <cstdio>

// sizes: batch, heads, kvHeads, queries, keys, dim. strides: batch, head and row of q, k, v, o, dQ,
// dK, dV and dO. buffers: the same eight tensors, lse, scratch. Returns a CollCode; 0 is success.
extern "C" int coll_bench_attention(int isBackward, int dtype, int isTf32, int isCausal,
                                    const int64_t *sizes, float scale, const int64_t *strides,
                                    void *const *buffers, void *stream) {
  coll::kernels::Attention a;
  a.dtype = static_cast<CollDtype>(dtype);
  a.tf32 = isTf32 != 0;
  a.causal = isCausal != 0;
  a.batch = sizes[0];
  a.heads = sizes[1];
  a.kvHeads = sizes[2];
  a.queries = sizes[3];
  a.keys = sizes[4];
  a.dim = sizes[5];
  a.scale = scale;
  for (coll::kernels::AttentionRows *rows : {&a.q, &a.k, &a.v, &a.o, &a.dQ, &a.dK, &a.dV, &a.dO}) {
    *rows = {strides[0], strides[1], strides[2]};
    strides += 3;
  }
  coll::kernels::AttentionBuffers b;
  b.q = buffers[0];
  b.k = buffers[1];
  b.v = buffers[2];
  b.o = buffers[3];
  b.dQ = buffers[4];
  b.dK = buffers[5];
  b.dV = buffers[6];
  b.dO = buffers[7];
  b.lse = static_cast<float *>(buffers[8]);
  b.scratch = buffers[9];
  const coll::rt::Status status =
      isBackward != 0 ? launchAttentionBackward(a, b, stream) : launchAttention(a, b, stream);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.toString().c_str());
  return status.code();
}
