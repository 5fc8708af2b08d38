#include "runtime/kernels/peer/args.h"

#include "runtime/base/dtype.h"
#include "runtime/kernels/peer/tuning.h"

#include <string>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 60;

Status checkTuning(const PeerTuning &tuning) {
  if (tuning.threads % 32 != 0 || tuning.threads > kRingMaxThreads ||
      tuning.blocks > kPeerMaxBlocks)
    return Status::invalid(
        "blocks of " + std::to_string(tuning.threads) + " threads, " +
        std::to_string(tuning.blocks) + " of them: threads have to be a multiple of 32 up to " +
        std::to_string(kRingMaxThreads) + ", blocks at most " + std::to_string(kPeerMaxBlocks));
  return Status::okay();
}

Status checkRoot(const PeerGroup &group, uint32_t root) {
  if (root < group.size)
    return Status::okay();
  return Status::invalid("root " + std::to_string(root) + " of a group of " +
                         std::to_string(group.size));
}

// Computes the bytes of `count` items of `each` bytes; false if there are too many.
bool multiply(uint64_t count, uint64_t each, uint64_t &bytes) {
  if (each != 0 && count > kMaxBytes / each)
    return false;
  bytes = count * each;
  return true;
}

Status tooLarge() { return Status::invalid("a message of 2^60 bytes or more"); }

} // namespace

Result<PeerSizes> sizesOf(const PeerGroup &group, const ReduceArgs &args) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  COLL_RETURN_IF_ERROR(checkTuning(args.tuning));
  COLL_RETURN_IF_ERROR(checkRoot(group, args.root));
  if (!rt::isValidDtype(args.dtype) || !rt::reductionTakes(args.reduction, args.dtype))
    return Status::invalid(std::string(rt::reductionName(args.reduction)) + " of " +
                           rt::dtypeName(args.dtype));
  PeerSizes sizes = {};
  if (!multiply(args.count, static_cast<uint64_t>(rt::dtypeSize(args.dtype)), sizes.block) ||
      !multiply(args.outer, sizes.block, sizes.block) ||
      !multiply(group.size, sizes.block, sizes.all))
    return tooLarge();
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes.block > 0));
  return sizes;
}

Result<PeerSizes> sizesOf(const PeerGroup &group, const CopyArgs &args) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  COLL_RETURN_IF_ERROR(checkTuning(args.tuning));
  COLL_RETURN_IF_ERROR(checkRoot(group, args.root));
  PeerSizes sizes = {};
  uint64_t dst = 0;
  if (!multiply(args.srcRows, args.srcRowBytes, sizes.block) ||
      !multiply(args.dstRows, args.dstRowBytes, dst) ||
      !multiply(group.size, sizes.block, sizes.all))
    return tooLarge();
  if (dst != sizes.block)
    return Status::invalid("blocks of " + std::to_string(sizes.block) + " bytes in src and " +
                           std::to_string(dst) + " in dst");
  return sizes;
}

Status checkBuffer(const char *name, const void *buffer, bool needed) {
  if (needed && !buffer)
    return Status::invalid(std::string("a null pointer as ") + name);
  return Status::okay();
}

uint32_t widthOf(uint64_t bits, uint64_t bytes) {
  const auto lowest = [](uint64_t of) { return static_cast<uint32_t>(of & (~of + 1)); };
  const uint32_t width = lowest(bits | kVectorBytes);
  return width == kVectorBytes ? width : lowest(bits | bytes | kVectorBytes);
}

PeerPlace contiguous(const void *base, uint64_t bytes, uint64_t stride) {
  PeerPlace place;
  place.base = static_cast<char *>(const_cast<void *>(base));
  place.stride = stride;
  place.width = widthOf(reinterpret_cast<uintptr_t>(base) | stride, bytes);
  return place;
}

PeerPlace interleaved(const void *base, uint32_t size, uint64_t rows, uint64_t rowBytes) {
  PeerPlace place = contiguous(base, rows * rowBytes, rowBytes);
  if (rows > 1) {
    place.rowBytes = rowBytes;
    place.pitch = size * rowBytes;
  }
  return place;
}

bool arePlain(const PeerPlace &a, const PeerPlace &b, uint64_t bytes) {
  return a.width == kVectorBytes && b.width == kVectorBytes && a.rowBytes == 0 && b.rowBytes == 0 &&
         bytes % kVectorBytes == 0;
}

} // namespace coll::kernels
