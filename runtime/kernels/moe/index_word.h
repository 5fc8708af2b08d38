// index_word.h - the error word of a wrong top-k index: the detail is the token, and the remaining
// bits of the lower half are the position among the token's indices.

#ifndef COLL_RUNTIME_KERNELS_MOE_INDEX_WORD_H
#define COLL_RUNTIME_KERNELS_MOE_INDEX_WORD_H

#include "runtime/kernels/error_word.h"

namespace coll::kernels {

constexpr uint64_t moeIndexWord(uint32_t token, uint32_t place) {
  return errorWord(KernelError::MoeIndex, token) | place << 16;
}
// The error code of any error word.
constexpr KernelError errorOf(uint64_t word) { return static_cast<KernelError>(word & 0xffff); }
constexpr uint32_t moePlaceOf(uint64_t word) { return static_cast<uint32_t>(word) >> 16; }

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_MOE_INDEX_WORD_H
