// forms.cuh - selects the form of the kernels for a call.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_FORMS_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_FORMS_CUH

#include "runtime/kernels/attention/forward_device.cuh"
#include "runtime/kernels/attention/key_gradient_device.cuh"
#include "runtime/kernels/attention/query_gradient_device.cuh"
#include "runtime/kernels/attention/tuning.cuh"

namespace coll::kernels::attention {

template <typename Products, typename Run>
auto visitDims(const Attention &a, Run run) {
  if (a.dim <= 32)
    return run(Forms<Products, 32>());
  if (a.dim <= 64)
    return run(Forms<Products, 64>());
  return run(Forms<Products, 128>());
}

// Calls run(Forms<…>()).
template <typename Run>
auto visitForms(const Attention &a, Run run) {
  if (a.dtype == kCollBf16)
    return visitDims<Narrow<Bf16>>(a, run);
  if (a.dtype == kCollF16)
    return visitDims<Narrow<F16>>(a, run);
  return a.tf32 ? visitDims<Tf32>(a, run) : visitDims<F32>(a, run);
}

// The number of blocks of a launch for so many rows of each head.
template <typename Form>
int64_t blocksFor(const Attention &a, int64_t heads, int64_t rows) {
  return a.batch * heads * ((rows + Form::kRows - 1) / Form::kRows);
}

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_FORMS_CUH
