// simt_matrix.h - the matrix units of simt.h on the host. Products of narrow types are exact; sums
// are in f32, in the order of the columns of a.

#ifndef COLL_TEST_SUPPORT_EMULATION_SIMT_MATRIX_H
#define COLL_TEST_SUPPORT_EMULATION_SIMT_MATRIX_H

#include "runtime/base/narrow.h"
#include "test/support/emulation/simt_host.h"

#include <cmath>
#include <cstring>

namespace coll::kernels::simt {

using SharedAddress = uintptr_t;
inline SharedAddress sharedAddress(const void *shared) {
  return reinterpret_cast<uintptr_t>(shared);
}
inline void copyAsync16(SharedAddress to, const void *global, bool isThere) {
  copyAsync(reinterpret_cast<void *>(to), global, 16, isThere);
}
inline void copyAsync4(SharedAddress to, const void *global, bool isThere) {
  copyAsync(reinterpret_cast<void *>(to), global, 4, isThere);
}

template <typename T>
T loadAs(SharedAddress from) {
  return *reinterpret_cast<const T *>(from);
}
inline float loadShared(SharedAddress from) { return loadAs<float>(from); }
inline void loadShared2(float *to, SharedAddress from) {
  std::memcpy(to, reinterpret_cast<const void *>(from), 2 * sizeof(float));
}
inline void loadShared4(float *to, SharedAddress from) {
  std::memcpy(to, reinterpret_cast<const void *>(from), 4 * sizeof(float));
}
inline Vec16 loadShared16(SharedAddress from) { return loadAs<Vec16>(from); }
inline void storeShared(SharedAddress to, uint32_t value) {
  *reinterpret_cast<uint32_t *>(to) = value;
}
inline void storeShared(SharedAddress to, float value) { *reinterpret_cast<float *>(to) = value; }
inline void storeShared2(SharedAddress to, float first, float second) {
  reinterpret_cast<float *>(to)[0] = first;
  reinterpret_cast<float *>(to)[1] = second;
}

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float shuffle(float value, uint32_t from) { return floatOf(shuffle(bitsOf(value), from)); }
inline float shuffleXor(float value, int mask) {
  return shuffle(value, lane() ^ static_cast<uint32_t>(mask));
}
inline float exp2(float x) { return std::exp2(x); }
inline float logarithm(float x) { return std::log(x); }
inline uint32_t packBf16(float low, float high) {
  return rt::f32ToBf16(low) | static_cast<uint32_t>(rt::f32ToBf16(high)) << 16;
}
inline uint32_t packF16(float low, float high) {
  return rt::f32ToF16(low) | static_cast<uint32_t>(rt::f32ToF16(high)) << 16;
}
inline float unpackF16(uint32_t bits) { return rt::f16ToF32(static_cast<uint16_t>(bits)); }
// Rounds to the nearest value, ties away from zero.
inline uint32_t roundTf32(float x) {
  return std::isnan(x) ? bitsOf(x) : (bitsOf(x) + 0x1000) & ~uint32_t{0x1FFF};
}

void loadMatrices(uint32_t (&to)[4], SharedAddress row);
void loadTransposed(uint32_t (&to)[4], SharedAddress row);
void multiplyBf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
void multiplyF16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
void multiplyTf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

} // namespace coll::kernels::simt

#endif // COLL_TEST_SUPPORT_EMULATION_SIMT_MATRIX_H
