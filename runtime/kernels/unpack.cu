#include "runtime/kernels/page_launch.cuh"
#include "runtime/kernels/unpack.h"
#include "runtime/kernels/unpack_device.cuh"

namespace coll::kernels {
namespace {

extern __shared__ __align__(128) char unpackShared[];

__global__ void __launch_bounds__(kUnpackThreads)
    unpackPages(const rt::PageDescriptor *pages, uint32_t count, PageRegions regions,
                uint64_t *errorWord) {
  unpackPagesKernel(pages, count, regions, errorWord, unpackShared);
}

__global__ void __launch_bounds__(kUnpackThreads)
    unpackNext(rt::UnpackHandle *handle, uint64_t bounceBytes, char *buffer, uint64_t bufferBytes,
               uint64_t *errorWord) {
  unpackNextKernel(handle, bounceBytes, buffer, bufferBytes, errorWord, unpackShared);
}

__global__ void unpackAdvance(rt::UnpackHandle *handle) { unpackAdvanceKernel(handle); }

} // namespace

rt::Status launchUnpack(const PageCopy &copy, void *stream) {
  return launchPages("unpack", unpackPages, copy, stream);
}

rt::Status launchUnpackNext(const MessageCopy<rt::UnpackHandle> &message, void *stream) {
  return launchNext<rt::UnpackHandle>("unpackNext", unpackNext, unpackAdvance, message, stream);
}

} // namespace coll::kernels
