// Compiled for sm_90a: code for its matrix units runs on no other GPU.
#define COLL_ATTENTION_SM90A
#include "runtime/kernels/attention/launch.cuh"
#include "runtime/kernels/attention/sm90.h"
#include "runtime/kernels/attention/warpgroup.cuh"

namespace coll::kernels::attention {

// As in tuning.h, on the same GPU: forward 51 us (of 48 to 78), queries' gradient 72 (to 100),
// keys' gradient 73 (to 94). Small blocks, several a multiprocessor: one computes exponentials
// while another's products run.
template <typename Type, uint32_t kDim>
struct Forms<Warpgroup<Type>, kDim> {
  static constexpr bool kIsLong = kDim > 64;
  using Products = Warpgroup<Type>;
  using Forward = Form<Products, kDim, 8, 1, 64, kIsLong ? 1 : 2>;
  using QueryGradient = Form<Products, kDim, kIsLong ? 8 : 4, 1, 64, kIsLong ? 1 : 3>;
  using KeyGradient = QueryGradient;
};

namespace {

template <typename Run>
rt::Status visitGroupForms(const Attention &a, Run run) {
  if (a.dtype == kCollBf16)
    return a.dim <= 64 ? run(Forms<Warpgroup<GroupBf16>, 64>())
                       : run(Forms<Warpgroup<GroupBf16>, 128>());
  return a.dim <= 64 ? run(Forms<Warpgroup<GroupF16>, 64>())
                     : run(Forms<Warpgroup<GroupF16>, 128>());
}

} // namespace

rt::Status launchForwardSm90(const Attention &a, const AttentionBuffers &buffers, void *stream) {
  return visitGroupForms(
      a, [&](auto forms) { return launchForward<decltype(forms)>(a, buffers, stream); });
}

rt::Status launchBackwardSm90(const Attention &a, const AttentionBuffers &buffers, void *stream) {
  return visitGroupForms(
      a, [&](auto forms) { return launchBackward<decltype(forms)>(a, buffers, stream); });
}

} // namespace coll::kernels::attention
