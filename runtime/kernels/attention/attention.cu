#include "runtime/kernels/attention/launch.cuh"
#include "runtime/kernels/attention/sm90.h"

namespace coll::kernels {
namespace {

// Whether the current device has the matrix units of sm_90a.
rt::Result<bool> usesSm90(const Attention &a) {
  if (!attention::fitsSm90(a))
    return false;
  const rt::Result<int> capability = computeCapability();
  if (!capability)
    return capability.status();
  return *capability == 90;
}

} // namespace

rt::Status launchAttention(const Attention &a, const AttentionBuffers &buffers, void *stream) {
  COLL_RETURN_IF_ERROR(checkAttention(a, buffers, /*isBackward=*/false));
  if (isEmpty(a))
    return rt::Status::okay();
  const rt::Result<bool> sm90 = usesSm90(a);
  if (!sm90)
    return sm90.status();
  if (*sm90)
    return attention::launchForwardSm90(a, buffers, stream);
  return attention::visitForms(
      a, [&](auto forms) { return attention::launchForward<decltype(forms)>(a, buffers, stream); });
}

rt::Status launchAttentionBackward(const Attention &a, const AttentionBuffers &buffers,
                                   void *stream) {
  COLL_RETURN_IF_ERROR(checkAttention(a, buffers, /*isBackward=*/true));
  if (isEmpty(a))
    return rt::Status::okay();
  const rt::Result<bool> sm90 = usesSm90(a);
  if (!sm90)
    return sm90.status();
  if (*sm90)
    return attention::launchBackwardSm90(a, buffers, stream);
  return attention::visitForms(a, [&](auto forms) {
    return attention::launchBackward<decltype(forms)>(a, buffers, stream);
  });
}

} // namespace coll::kernels
