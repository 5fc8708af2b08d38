// page_policy.h - how received bytes are cut into page descriptors.

#ifndef COLL_RUNTIME_NET_GPU_PAGE_POLICY_H
#define COLL_RUNTIME_NET_GPU_PAGE_POLICY_H

#include "runtime/base/status.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace coll::net {

// A contiguous run of a message of `total` bytes is cut into pieces of
// clamp(total / divisor, min, max) bytes, rounded up to 16.
struct PagePolicy {
  uint32_t divisor = 64, minBytes = 512, maxBytes = 4096;

  constexpr uint32_t pieceBytes(uint64_t total) const {
    uint64_t piece = std::clamp<uint64_t>(total / divisor, minBytes, maxBytes);
    return static_cast<uint32_t>((piece + 15) / 16 * 16);
  }
};

// NCCL's own kernel gives up to four consecutive descriptors to a warp and expects at most 4 KiB of
// each: small pieces keep all its warps busy. These values were measured to be best for it.
inline constexpr PagePolicy kPagesForNccl = {64, 512, 4096};
// A kernel that splits pages itself: each contiguous run is one descriptor.
inline constexpr PagePolicy kPagesWhole = {1, 1u << 30, 1u << 30};

// "nccl", "whole", or "divisor:min:max" with 1 <= min <= max <= 1 GiB.
rt::Result<PagePolicy> parsePagePolicy(std::string_view text);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_PAGE_POLICY_H
