#include "test/support/emulation/attention.h"

#include "runtime/kernels/attention/forms.cuh"
#include "test/support/emulation/simt_host.h"

namespace coll::kernels {
namespace {

template <template <typename> class Device, typename Form>
void emulate(const Attention &a, const AttentionBuffers &buffers, int64_t heads, int64_t rows) {
  const simt::LaunchShape shape = {
      static_cast<uint32_t>(attention::blocksFor<Form>(a, heads, rows)), Form::kThreads,
      Device<Form>::kSharedBytes};
  simt::run(shape, [&](char *shared) { Device<Form>(a, buffers, shared).run(); });
}

} // namespace

rt::Status emulateAttention(const Attention &a, const AttentionBuffers &buffers) {
  COLL_RETURN_IF_ERROR(checkAttention(a, buffers, /*isBackward=*/false));
  if (isEmpty(a))
    return rt::Status::okay();
  attention::visitForms(a, [&](auto forms) {
    using Form = typename decltype(forms)::Forward;
    emulate<attention::Forward, Form>(a, buffers, a.heads, a.queries);
  });
  return rt::Status::okay();
}

rt::Status emulateAttentionBackward(const Attention &a, const AttentionBuffers &buffers) {
  COLL_RETURN_IF_ERROR(checkAttention(a, buffers, /*isBackward=*/true));
  if (isEmpty(a))
    return rt::Status::okay();
  attention::visitForms(a, [&](auto forms) {
    using Queries = typename decltype(forms)::QueryGradient;
    using Keys = typename decltype(forms)::KeyGradient;
    emulate<attention::QueryGradient, Queries>(a, buffers, a.heads, a.queries);
    emulate<attention::KeyGradient, Keys>(a, buffers, a.kvHeads, a.keys);
  });
  return rt::Status::okay();
}

} // namespace coll::kernels
