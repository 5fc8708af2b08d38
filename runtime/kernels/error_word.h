// error_word.h - how a kernel reports an error to the host.
//
// An error word is 64 bits that the host can read: pinned memory mapped for the GPU, or GPU memory
// that is copied back. The host sets it to 0 before the launch. A kernel that finds an error stores
// it and continues with the rest, or ends; it never traps. If several threads find errors, one of
// them is kept.

#ifndef COLL_RUNTIME_KERNELS_ERROR_WORD_H
#define COLL_RUNTIME_KERNELS_ERROR_WORD_H

#include <cstdint>
#include <string>

namespace coll::kernels {

enum class KernelError : uint32_t {
  None = 0,
  PageRange = 1, // a page outside the bounce buffer or the message's buffer; detail: its number
  PageCount = 2, // more pages than a slot has; detail: the slot
  Timeout = 3,   // a bounded wait ended; detail: the wait, see the kernel's header
  // Errors of a peer group; detail: the position of the member, or kRankOfWord + the rank of a
  // member on another node.
  PeerTimeout = 4,  // it, or its data, did not arrive in time
  PeerMismatch = 5, // it makes another call
  PeerFailed = 6,   // it failed first
  PeerAborted = 7,  // it was told to end (this member itself)
  // Errors of the token exchange (moe.h).
  MoeCapacity = 8, // more tokens for a member than its buffer holds; detail: its position
  MoeIndex = 9,    // a top-k index is out of range, or twice in a token; detail: the token

  CompressedPage = 10, // not what its message says, or outside of it; detail: its number
  Post = 11            // a post of the kernel failed; detail: the PostOutcome (posting_layout.h)
};

inline constexpr uint32_t kRankOfWord = 1u << 16;

constexpr uint64_t errorWord(KernelError error, uint32_t detail) {
  return uint64_t{detail} << 32 | static_cast<uint32_t>(error);
}

// "a page descriptor points outside its buffers (page 17)", for a word that is not 0.
std::string describeErrorWord(uint64_t word);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ERROR_WORD_H
