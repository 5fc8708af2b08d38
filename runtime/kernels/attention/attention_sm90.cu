// Compiled for sm_90a: code for its matrix units runs on no other kind of GPU.
#define COLL_ATTENTION_SM90A
#include "runtime/kernels/attention/launch.cuh"
#include "runtime/kernels/attention/sm90.h"
#include "runtime/kernels/attention/warpgroup.cuh"

namespace coll::kernels::attention {

// Times as in tuning.cuh: forward 48 us (78), queries' gradient 62 (100), keys' gradient 72 (94).
// Several small blocks share a multiprocessor: one computes exponentials while another's products
// run.
template <typename Type, uint32_t kDim>
struct Forms<Warpgroup<Type>, kDim> {
  using Products = Warpgroup<Type>;
  using Forward = Form<Products, kDim, 4, 1, 64, 3>;
  using QueryGradient = Form<Products, kDim, 4, 1, 64, 4>;
  using KeyGradient = Form<Products, kDim, 4, 1, 64, 3>;
};

// With 64 heads of 2048 queries: 207 us (312), 255 (290), 302 (316).
template <typename Type>
struct Forms<Warpgroup<Type>, 128> {
  using Products = Warpgroup<Type>;
  using Forward = Form<Products, 128, 8, 1, 128, 1>;
  using QueryGradient = Form<Products, 128, 8, 1, 64, 1>;
  using KeyGradient = Form<Products, 128, 4, 1, 64, 2>;
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
