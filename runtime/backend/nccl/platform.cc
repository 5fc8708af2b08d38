#include "runtime/backend/nccl/platform.h"

#include <atomic>

namespace coll::rt::nccl {

namespace {

std::atomic<const Platform *> replacement{nullptr};

} // namespace

Result<Platform> platform() {
  if (const Platform *set = replacement.load(std::memory_order_acquire))
    return *set;
  Result<const dl::Cuda *> cuda = dl::cuda();
  if (!cuda)
    return cuda.status();
  Result<const dl::Nccl *> nccl = dl::nccl();
  if (!nccl)
    return nccl.status();
  return Platform{*cuda, *nccl};
}

ScopedPlatform::ScopedPlatform(const Platform &platform) : platform_(platform) {
  replacement.store(&platform_, std::memory_order_release);
}

ScopedPlatform::~ScopedPlatform() { replacement.store(nullptr, std::memory_order_release); }

} // namespace coll::rt::nccl
