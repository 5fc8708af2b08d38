// launch.cuh - the attention kernels, and the launch of one form of them; included by .cu files.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_LAUNCH_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_LAUNCH_CUH

#include "runtime/kernels/attention/forms.cuh"
#include "runtime/kernels/launch.h"

namespace coll::kernels::attention {

extern __shared__ __align__(1024) char attentionShared[];

// Code for the matrix units of sm_90a is in a separate file, and empty for other GPUs.
#if !defined(COLL_ATTENTION_SM90A) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool kHasCode = true;
#else
inline constexpr bool kHasCode = false;
#endif

template <template <typename> class Device, typename Form>
__global__ void __launch_bounds__(Form::kThreads, Form::kResident)
    attentionKernel(const __grid_constant__ Attention a,
                    const __grid_constant__ AttentionBuffers buffers) {
  if constexpr (kHasCode)
    Device<Form>(a, buffers, attentionShared).run();
}

// A block for each tile of `heads` heads with `rows` rows.
template <template <typename> class Device, typename Form>
rt::Status launchForm(const char *name, const Attention &a, const AttentionBuffers &buffers,
                      int64_t heads, int64_t rows, void *stream) {
  const int64_t blocks = blocksFor<Form>(a, heads, rows);
  if (blocks > INT32_MAX)
    return rt::Status::invalid("attention in " + std::to_string(blocks) + " blocks");
  const auto kernel = reinterpret_cast<const void *>(attentionKernel<Device, Form>);
  constexpr size_t kShared = Device<Form>::kSharedBytes;
  const rt::Result<PreparedKernel> prepared = prepareKernel(kernel, kShared);
  if (!prepared)
    return prepared.status();
  Attention call = a;
  AttentionBuffers data = buffers;
  void *arguments[] = {&call, &data};
  return launchKernel(name, kernel, static_cast<int>(blocks), Form::kThreads, kShared, arguments,
                      stream);
}

template <typename Forms>
rt::Status launchForward(const Attention &a, const AttentionBuffers &buffers, void *stream) {
  return launchForm<Forward, typename Forms::Forward>("attention", a, buffers, a.heads, a.queries,
                                                      stream);
}

// The kernel of the queries' gradient computes delta, which the keys' gradient reads.
template <typename Forms>
rt::Status launchBackward(const Attention &a, const AttentionBuffers &buffers, void *stream) {
  COLL_RETURN_IF_ERROR((launchForm<QueryGradient, typename Forms::QueryGradient>(
      "the queries' gradient of attention", a, buffers, a.heads, a.queries, stream)));
  return launchForm<KeyGradient, typename Forms::KeyGradient>("the keys' gradient of attention", a,
                                                              buffers, a.kvHeads, a.keys, stream);
}

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_LAUNCH_CUH
