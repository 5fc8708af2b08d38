#include "runtime/kernels/error_word.h"

namespace coll::kernels {

std::string describeErrorWord(uint64_t word) {
  const std::string detail = std::to_string(word >> 32);
  switch (static_cast<KernelError>(static_cast<uint32_t>(word))) {
  case KernelError::None:
    return "no error";
  case KernelError::PageRange:
    return "a page descriptor points outside its buffers (page " + detail + ")";
  case KernelError::PageCount:
    return "more page descriptors than a slot has (slot " + detail + ")";
  case KernelError::Timeout:
    return "a wait inside the kernel passed its deadline (at " + detail + ")";
  }
  return "unknown kernel error " + std::to_string(word);
}

} // namespace coll::kernels
