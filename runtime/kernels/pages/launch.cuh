// launch.cuh - the launches of unpack and pack, which differ only in their kernels.

#ifndef COLL_RUNTIME_KERNELS_PAGES_LAUNCH_CUH
#define COLL_RUNTIME_KERNELS_PAGES_LAUNCH_CUH

#include "runtime/kernels/launch.h"
#include "runtime/kernels/pages/page_copy.h"
#include "runtime/kernels/pages/page_copy_device.cuh"

#include <algorithm>

namespace coll::kernels {

// An additional block is worth its start for this many bytes of a message.
inline constexpr uint64_t kBytesPerBlock = 128 << 10;

using PagesKernel = void (*)(const rt::PageDescriptor *, uint32_t, PageRegions, uint64_t *);
template <class Handle>
using NextKernel = void (*)(Handle *, uint64_t, char *, uint64_t, uint64_t *);
template <class Handle>
using AdvanceKernel = void (*)(Handle *);

// A block with as many warps as shared memory allows, and its launch.
struct PageKernel {
  const void *entry;
  int threads;
  size_t sharedBytes;
  int processors;

  // `more`: shared bytes besides those of the warps.
  static rt::Result<PageKernel> prepare(const void *entry, uint64_t more = 0) {
    const auto bytesOf = [more](uint32_t threads) {
      return more + pageCopySharedBytes(threads / simt::kWarpThreads);
    };
    const rt::Result<uint32_t> threads = fittingThreads(kUnpackThreads, bytesOf);
    if (!threads)
      return threads.status();
    const rt::Result<PreparedKernel> prepared = prepareKernel(entry, bytesOf(*threads));
    if (!prepared)
      return prepared.status();
    return PageKernel{entry, static_cast<int>(*threads), bytesOf(*threads), prepared->processors};
  }
  rt::Status launch(const char *name, int blocks, void **arguments, void *stream) const {
    return launchKernel(name, entry, blocks, threads, sharedBytes, arguments, stream);
  }
};

inline rt::Status launchPages(const char *name, PagesKernel kernel, PageCopy copy, void *stream) {
  COLL_RETURN_IF_ERROR(checkCopy(copy));
  if (copy.count == 0)
    return rt::Status::okay();
  const rt::Result<PageKernel> block = PageKernel::prepare(reinterpret_cast<const void *>(kernel));
  if (!block)
    return block.status();
  PageRegions regions{static_cast<char *>(copy.bounce), copy.bounceBytes,
                      static_cast<char *>(copy.buffer), copy.bufferBytes};
  auto count = static_cast<uint32_t>(copy.count);
  void *arguments[] = {&copy.pages, &count, &regions, &copy.errorWord};
  return block->launch(name, copy.blocks ? copy.blocks : block->processors, arguments, stream);
}

template <class Handle>
rt::Status launchNext(const char *name, NextKernel<Handle> kernel, AdvanceKernel<Handle> advance,
                      MessageCopy<Handle> message, void *stream) {
  COLL_RETURN_IF_ERROR(checkVersion(message.version, kHandleVersion<Handle>));
  COLL_RETURN_IF_ERROR(checkMessage(message.handle, message.bounceBytes, message.buffer,
                                    message.bufferBytes, message.errorWord, message.blocks));
  const rt::Result<PageKernel> block = PageKernel::prepare(reinterpret_cast<const void *>(kernel));
  if (!block)
    return block.status();
  const uint64_t wanted = std::max<uint64_t>(1, message.bufferBytes / kBytesPerBlock);
  const int blocks =
      message.blocks
          ? message.blocks
          : static_cast<int>(std::min<uint64_t>(wanted, static_cast<uint64_t>(block->processors)));
  void *arguments[] = {&message.handle, &message.bounceBytes, &message.buffer, &message.bufferBytes,
                       &message.errorWord};
  COLL_RETURN_IF_ERROR(block->launch(name, blocks, arguments, stream));
  // Blocks of a grid read the head at different times, so a second kernel increments it.
  if (blocks == 1)
    return rt::Status::okay();
  return launchKernel(name, reinterpret_cast<const void *>(advance), 1, 1, 0, arguments, stream);
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_LAUNCH_CUH
