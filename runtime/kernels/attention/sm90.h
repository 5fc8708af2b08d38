// sm90.h - attention of bf16 and f16 on GPUs of compute capability 9.0; for attention.cu.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_SM90_H
#define COLL_RUNTIME_KERNELS_ATTENTION_SM90_H

#include "runtime/kernels/attention/attention.h"

namespace coll::kernels::attention {

// Whether there are kernels for calls of this kind.
inline bool fitsSm90(const Attention &a) { return a.dtype != kCollF32 && a.dim > 32; }

// Like launchAttention and launchAttentionBackward, for checked calls for which fitsSm90() is true.
rt::Status launchForwardSm90(const Attention &a, const AttentionBuffers &buffers, void *stream);
rt::Status launchBackwardSm90(const Attention &a, const AttentionBuffers &buffers, void *stream);

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_SM90_H
