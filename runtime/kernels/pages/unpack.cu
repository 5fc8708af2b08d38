#include "runtime/kernels/pages/launch.cuh"
#include "runtime/kernels/pages/unpack.h"
#include "runtime/kernels/pages/unpack_device.cuh"

#include <bitset>

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

__global__ void __launch_bounds__(kUnpackThreads)
    unpackGroups(const __grid_constant__ UnpackGroupCopy copy) {
  unpackGroupKernel(copy, unpackShared);
}

} // namespace

rt::Status launchUnpack(const PageCopy &copy, void *stream) {
  return launchPages("unpack", unpackPages, copy, stream);
}

rt::Status launchUnpackNext(const MessageCopy<rt::UnpackHandle> &message, void *stream) {
  return launchNext<rt::UnpackHandle>("unpackNext", unpackNext, unpackAdvance, message, stream);
}

rt::Status launchUnpackGroup(const UnpackGroupCopy &copy, void *stream) {
  COLL_RETURN_IF_ERROR(checkGroup(copy));
  if (copy.mask == 0)
    return rt::Status::okay();
  const rt::Result<PageKernel> block =
      PageKernel::prepare(reinterpret_cast<const void *>(unpackGroups), kUnpackGroupBytes);
  if (!block)
    return block.status();
  const int peers = static_cast<int>(std::bitset<UnpackGroupCopy::kPeers>(copy.mask).count());
  UnpackGroupCopy passed = copy;
  void *arguments[] = {&passed};
  return block->launch("unpackGroup", copy.blocks ? copy.blocks : peers, arguments, stream);
}

} // namespace coll::kernels
