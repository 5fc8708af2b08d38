#include "runtime/base/stream_copy.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace coll::rt {

#if defined(__x86_64__)

namespace {

constexpr int64_t kLine = 64;

} // namespace

void streamCopy(void *to, const void *from, int64_t bytes) {
  char *dst = static_cast<char *>(to);
  const char *src = static_cast<const char *>(from);
  // Only whole cache lines are streamed: a part of one would be written twice.
  int64_t head = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst)) & (kLine - 1);
  head = std::min(head, bytes);
  std::memcpy(dst, src, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kLine <= bytes; i += kLine)
    for (int64_t j = i; j < i + kLine; j += 16)
      _mm_stream_si128(reinterpret_cast<__m128i *>(dst + j),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(src + j)));
  std::memcpy(dst + i, src + i, static_cast<size_t>(bytes - i));
}

// Streaming stores are not ordered with other stores.
void endStream() { _mm_sfence(); }

#else

void streamCopy(void *to, const void *from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}
void endStream() {}

#endif

} // namespace coll::rt
