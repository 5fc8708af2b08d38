#include "runtime/kernels/pages/page_copy.h"

#include <cstdio>
#include <string>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint64_t kMaxBounceBytes = uint64_t{1} << 32;
constexpr int kMaxBlocks = 65535;
// A kernel counts a few batches of descriptors beyond the last one, in 32 bits.
constexpr uint64_t kMaxPages = (uint64_t{1} << 32) - 256;

bool aligned(const void *pointer, uintptr_t to) {
  return reinterpret_cast<uintptr_t>(pointer) % to == 0;
}

Status checkCommon(uint64_t bounceBytes, const void *buffer, uint64_t bufferBytes,
                   const uint64_t *errorWord, int blocks) {
  if (bounceBytes > kMaxBounceBytes)
    return Status::invalid("a bounce buffer of " + std::to_string(bounceBytes) +
                           " bytes: descriptors reach only 4 GiB");
  if (!buffer && bufferBytes != 0)
    return Status::invalid("no buffer for " + std::to_string(bufferBytes) + " bytes");
  if (!aligned(errorWord, 8))
    return Status::invalid("the error word is not aligned to 8 bytes");
  if (blocks < 0 || blocks > kMaxBlocks)
    return Status::invalid(std::to_string(blocks) + " blocks: 0 to 65535 are possible");
  return Status::okay();
}

} // namespace

Status checkCopy(const PageCopy &copy) {
  if (!copy.pages && copy.count != 0)
    return Status::invalid("no descriptors for " + std::to_string(copy.count) + " pages");
  if (copy.count > kMaxPages)
    return Status::invalid(std::to_string(copy.count) + " pages in one launch");
  if (!aligned(copy.pages, alignof(rt::PageDescriptor)))
    return Status::invalid("the descriptors are not aligned to 16 bytes");
  if (!copy.bounce && copy.bounceBytes != 0)
    return Status::invalid("no bounce buffer for " + std::to_string(copy.bounceBytes) + " bytes");
  return checkCommon(copy.bounceBytes, copy.buffer, copy.bufferBytes, copy.errorWord, copy.blocks);
}

Status checkVersion(int32_t version, int32_t known) {
  if (version == known)
    return Status::okay();
  char text[96];
  std::snprintf(text, sizeof(text), "a device handle of version 0x%x, this kernel reads 0x%x",
                static_cast<unsigned>(version), static_cast<unsigned>(known));
  return {kCollUnsupported, text};
}

Status checkMessage(const void *handle, uint64_t bounceBytes, const void *buffer,
                    uint64_t bufferBytes, const uint64_t *errorWord, int blocks) {
  if (!handle || !aligned(handle, 8))
    return Status::invalid("a device handle is needed, aligned to 8 bytes");
  return checkCommon(bounceBytes, buffer, bufferBytes, errorWord, blocks);
}

Status checkGroup(const UnpackGroupCopy &copy) {
  if (copy.mask >> UnpackGroupCopy::kPeers != 0)
    return Status::invalid("a group has at most " + std::to_string(UnpackGroupCopy::kPeers) +
                           " peers");
  if (copy.mask != 0)
    COLL_RETURN_IF_ERROR(checkVersion(copy.version, kHandleVersion<rt::UnpackHandle>));
  for (uint32_t i = 0; i < UnpackGroupCopy::kPeers; ++i) {
    const UnpackGroupCopy::Peer &peer = copy.peers[i];
    if (copy.mask >> i & 1)
      COLL_RETURN_IF_ERROR(checkMessage(peer.handle, peer.bounceBytes, peer.buffer,
                                        peer.bufferBytes, copy.errorWord, copy.blocks)
                               .annotate("peer " + std::to_string(i)));
  }
  return Status::okay();
}

} // namespace coll::kernels
