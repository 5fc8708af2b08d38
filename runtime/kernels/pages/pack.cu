#include "runtime/kernels/pages/launch.cuh"
#include "runtime/kernels/pages/pack.h"
#include "runtime/kernels/pages/pack_device.cuh"

namespace coll::kernels {
namespace {

extern __shared__ __align__(128) char packShared[];

__global__ void __launch_bounds__(kUnpackThreads)
    packPages(const rt::PageDescriptor *pages, uint32_t count, PageRegions regions,
              uint64_t *errorWord) {
  packPagesKernel(pages, count, regions, errorWord, packShared);
}

__global__ void __launch_bounds__(kUnpackThreads)
    packNext(rt::PackHandle *handle, uint64_t bounceBytes, char *buffer, uint64_t bufferBytes,
             uint64_t *errorWord) {
  packNextKernel(handle, bounceBytes, buffer, bufferBytes, errorWord, packShared);
}

__global__ void packAdvance(rt::PackHandle *handle) { packAdvanceKernel(handle); }

} // namespace

rt::Status launchPack(const PageCopy &copy, void *stream) {
  return launchPages("pack", packPages, copy, stream);
}

rt::Status launchPackNext(const MessageCopy<rt::PackHandle> &message, void *stream) {
  return launchNext<rt::PackHandle>("packNext", packNext, packAdvance, message, stream);
}

} // namespace coll::kernels
