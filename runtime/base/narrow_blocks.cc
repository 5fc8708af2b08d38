#include "runtime/base/narrow_blocks.h"

#include "runtime/base/narrow.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define COLL_AVX2 __attribute__((target("avx2,f16c")))
#define COLL_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,f16c")))
#endif
// The loops are written once; each function below that has a target compiles them for it.
#define COLL_INLINE inline __attribute__((always_inline))

namespace coll::rt {

namespace {

struct Half {
  using Stored = uint16_t;
  static float load(Stored bits) { return f16ToF32(bits); }
  static Stored store(float value) { return f32ToF16(value); }
};
struct Bfloat {
  using Stored = uint16_t;
  static float load(Stored bits) { return bf16ToF32(bits); }
  static Stored store(float value) { return f32ToBf16(value); }
};

struct Float8E4M3FN {
  using Stored = uint8_t;
  static float load(Stored bits) { return f8E4M3FNToF32(bits); }
  static Stored store(float value) { return f32ToF8E4M3FN(value); }
};
struct Float8E5M2 {
  using Stored = uint8_t;
  static float load(Stored bits) { return f8E5M2ToF32(bits); }
  static Stored store(float value) { return f32ToF8E5M2(value); }
};

template <typename Format>
COLL_INLINE void widenLoop(const void *from, float *to, int64_t count) {
  const auto *stored = static_cast<const typename Format::Stored *>(from);
  for (int64_t i = 0; i < count; ++i)
    to[i] = Format::load(stored[i]);
}

template <typename Format>
COLL_INLINE void narrowLoop(const float *from, void *to, int64_t count) {
  auto *stored = static_cast<typename Format::Stored *>(to);
  for (int64_t i = 0; i < count; ++i)
    stored[i] = Format::store(from[i]);
}

template <typename Format>
void widen(const void *from, float *to, int64_t count) {
  widenLoop<Format>(from, to, count);
}
template <typename Format>
void narrow(const float *from, void *to, int64_t count) {
  narrowLoop<Format>(from, to, count);
}
template <typename Format>
constexpr NarrowBlocks kPlain = {widen<Format>, narrow<Format>};

#if defined(__x86_64__)

template <typename Format>
COLL_AVX2 void widenAvx2(const void *from, float *to, int64_t count) {
  widenLoop<Format>(from, to, count);
}
template <typename Format>
COLL_AVX2 void narrowAvx2(const float *from, void *to, int64_t count) {
  narrowLoop<Format>(from, to, count);
}
template <typename Format>
COLL_AVX512 void widenAvx512(const void *from, float *to, int64_t count) {
  widenLoop<Format>(from, to, count);
}
template <typename Format>
COLL_AVX512 void narrowAvx512(const float *from, void *to, int64_t count) {
  narrowLoop<Format>(from, to, count);
}

// f16 has instructions of its own; they convert the last elements too, so that a NaN becomes
// the same NaN wherever it stands.
COLL_AVX2 void widenHalfAvx2(const void *from, float *to, int64_t count) {
  const auto *halves = static_cast<const uint16_t *>(from);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(
        to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(halves + i))));
  for (; i < count; ++i)
    to[i] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(halves[i])));
}

COLL_AVX2 void narrowHalfAvx2(const float *from, void *to, int64_t count) {
  auto *halves = static_cast<uint16_t *>(to);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(halves + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < count; ++i)
    halves[i] = static_cast<uint16_t>(
        _mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(from[i]), _MM_FROUND_TO_NEAREST_INT)));
}

COLL_AVX512 void widenHalfAvx512(const void *from, float *to, int64_t count) {
  const auto *halves = static_cast<const uint16_t *>(from);
  for (int64_t i = 0; i < count; i += 16) {
    auto some = static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffffu);
    _mm512_mask_storeu_ps(to + i, some,
                          _mm512_maskz_cvtph_ps(some, _mm256_maskz_loadu_epi16(some, halves + i)));
  }
}

COLL_AVX512 void narrowHalfAvx512(const float *from, void *to, int64_t count) {
  auto *halves = static_cast<uint16_t *>(to);
  for (int64_t i = 0; i < count; i += 16) {
    auto some = static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffffu);
    __m512 wide = _mm512_maskz_loadu_ps(some, from + i);
    _mm256_mask_storeu_epi16(halves + i, some,
                             _mm512_maskz_cvtps_ph(some, wide, _MM_FROUND_TO_NEAREST_INT));
  }
}

template <typename Format>
constexpr NarrowBlocks kAvx2 = {widenAvx2<Format>, narrowAvx2<Format>};
template <>
constexpr NarrowBlocks kAvx2<Half> = {widenHalfAvx2, narrowHalfAvx2};
template <typename Format>
constexpr NarrowBlocks kAvx512 = {widenAvx512<Format>, narrowAvx512<Format>};
template <>
constexpr NarrowBlocks kAvx512<Half> = {widenHalfAvx512, narrowHalfAvx512};

VectorUnit findVectorUnit() {
  unsigned a, b, c, d;
  bool hasF16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
  if (!hasF16c || !__builtin_cpu_supports("avx2"))
    return VectorUnit::None;
  bool hasAvx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl");
  return hasAvx512 ? VectorUnit::Avx512 : VectorUnit::Avx2;
}

#else

template <typename Format>
constexpr const NarrowBlocks &kAvx2 = kPlain<Format>;
template <typename Format>
constexpr const NarrowBlocks &kAvx512 = kPlain<Format>;

VectorUnit findVectorUnit() { return VectorUnit::None; }

#endif

template <typename Format>
const NarrowBlocks &pick(VectorUnit unit) {
  switch (unit) {
  case VectorUnit::Avx512:
    return kAvx512<Format>;
  case VectorUnit::Avx2:
    return kAvx2<Format>;
  case VectorUnit::None:
    break;
  }
  return kPlain<Format>;
}

} // namespace

VectorUnit vectorUnit() {
  static const VectorUnit unit = findVectorUnit();
  return unit;
}

const NarrowBlocks &narrowBlocks(CollDtype dtype, VectorUnit unit) {
  switch (dtype) {
  case kCollF16:
    return pick<Half>(unit);
  case kCollF8E4M3FN:
    return pick<Float8E4M3FN>(unit);
  case kCollF8E5M2:
    return pick<Float8E5M2>(unit);
  default:
    return pick<Bfloat>(unit);
  }
}

} // namespace coll::rt
