#include "runtime/kernels/error_word.h"

#include "runtime/base/posting_layout.h"
#include "runtime/kernels/moe/index_word.h"

namespace coll::kernels {

namespace {

std::string whoIs(uint64_t detail) {
  return detail < kRankOfWord ? "member " + std::to_string(detail) + " of the group"
                              : "rank " + std::to_string(detail - kRankOfWord);
}

} // namespace

std::string describeErrorWord(uint64_t word) {
  const std::string detail = std::to_string(word >> 32);
  switch (errorOf(word)) {
  case KernelError::None:
    return "no error";
  case KernelError::PageRange:
    return "a page descriptor points outside its buffers (page " + detail + ")";
  case KernelError::PageCount:
    return "more page descriptors than a slot has (slot " + detail + ")";
  case KernelError::Timeout:
    return "a wait inside the kernel passed its deadline (at " + detail + ")";
  case KernelError::PeerTimeout:
    return whoIs(word >> 32) + ", or its data, did not arrive before the deadline";
  case KernelError::PeerMismatch:
    return whoIs(word >> 32) + " makes another call";
  case KernelError::PeerFailed:
    return whoIs(word >> 32) + " has failed";
  case KernelError::PeerAborted:
    return whoIs(word >> 32) + " was told to end";
  case KernelError::MoeCapacity:
    return "there are more tokens for " + whoIs(word >> 32) + " than its buffer holds";
  case KernelError::MoeIndex:
    return "`topkIdx` of token " + detail +
           " has an unknown expert, or the same one twice, in place " +
           std::to_string(moePlaceOf(word));
  case KernelError::CompressedPage:
    return "a compressed page is invalid (page " + detail + ")";
  case KernelError::Post:
    return std::string("a post of the kernel failed: ") +
           rt::postOutcomeName(static_cast<rt::PostOutcome>(word >> 32));
  }
  return "unknown kernel error " + std::to_string(word);
}

} // namespace coll::kernels
