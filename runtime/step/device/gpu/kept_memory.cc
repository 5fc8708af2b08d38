#include "runtime/step/device/gpu/kept_memory.h"

#include <algorithm>

namespace coll::rt {

Result<char *> KeptMemory::reserve(gpu::Gpu &gpu, int64_t bytes) {
  const int64_t largest = kept_.empty() ? 0 : kept_.back().bytes();
  if (bytes <= largest)
    return kept_.empty() ? nullptr : kept_.back().device();
  // Twice as much if there is room, so that the memory kept is little more than the memory in use.
  for (int64_t size : {std::max(bytes, 2 * largest), bytes}) {
    Result<dl::GpuMemory> made =
        dl::GpuMemory::create(gpu.context(), dl::GpuMemory::Kind::Device, size);
    if (!made && size == bytes)
      return made.status();
    if (!made)
      continue;
    kept_.push_back(made.take());
    break;
  }
  return kept_.back().device();
}

} // namespace coll::rt
