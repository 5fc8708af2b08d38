#include "runtime/step/device/host_device.h"

#include "runtime/step/device/contraction.h"
#include "runtime/step/tokens/exchange.h"

#include <cstring>

namespace coll::rt {

Result<std::vector<char *>> HostDevice::allocate(const std::vector<BufferNeed> &needs,
                                                 Communicator *) {
  std::vector<char *> buffers;
  for (const BufferNeed &need : needs) {
    Result<AlignedBuffer> buffer = AlignedBuffer::create(need.bytes);
    if (!buffer)
      return buffer.status();
    // Written by the rank's thread, so that the memory is on its NUMA node.
    if (need.isZeroed)
      std::memset(buffer->data(), 0, static_cast<size_t>(need.bytes));
    buffers.push_back(buffer->data());
    buffers_.push_back(buffer.take());
  }
  return buffers;
}

Status HostDevice::upload(void *dst, int64_t bytes, const InputWriter &write) {
  write(0, bytes, static_cast<char *>(dst));
  return {};
}

Status HostDevice::download(char *hostDst, const void *src, int64_t bytes) {
  return copy({}, hostDst, src, bytes);
}

Status HostDevice::launch(const CallSite &, int32_t kernel, const void *const *, int32_t) {
  return {kCollUnsupported, "GPU kernel " + std::to_string(kernel) +
                                " is launched, but the program's descriptor does not say "
                                "\"device\": \"gpu\": it runs on host memory"};
}

Status HostDevice::copy(const CallSite &, void *dst, const void *src, int64_t bytes) {
  if (bytes > 0)
    std::memmove(dst, src, static_cast<size_t>(bytes));
  return {};
}

Status HostDevice::fill(const CallSite &, void *dst, const void *pattern, int32_t patternBytes,
                        int64_t count) {
  char *to = static_cast<char *>(dst);
  for (int64_t i = 0; i < count; ++i, to += patternBytes)
    std::memcpy(to, pattern, static_cast<size_t>(patternBytes));
  return {};
}

Status HostDevice::fetch(const CallSite &site, void *hostDst, const void *src, int64_t bytes) {
  return copy(site, hostDst, src, bytes);
}

Status HostDevice::store(const CallSite &site, void *dst, const void *hostSrc, int64_t bytes) {
  return copy(site, dst, hostSrc, bytes);
}

Status HostDevice::contract(const CallSite &, const CollContraction &contraction, const void *a,
                            const void *b, void *out) {
  return contractOnHost(contraction, a, b, out);
}

Status HostDevice::attend(const CallSite &, const kernels::Attention &attention,
                          const kernels::AttentionBuffers &buffers, bool isBackward) {
  if (isBackward)
    kernels::attentionBackwardReference(attention, buffers);
  else
    kernels::attentionReference(attention, buffers);
  return {};
}

Status HostDevice::convolve(const CallSite &, const kernels::Convolution &convolution,
                            const kernels::ConvolutionBuffers &buffers) {
  kernels::convolutionReference(convolution, buffers);
  return {};
}

Status HostDevice::dispatch(const TokenDispatch &dispatch, int32_t serial,
                            const TokenPlace &place) {
  return runDispatch(dispatch, serial, place);
}

Status HostDevice::combine(const TokenCombine &combine, const TokenPlace &place) {
  return runCombine(combine, place);
}

} // namespace coll::rt
