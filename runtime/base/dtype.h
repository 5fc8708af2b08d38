// dtype.h - element types: sizes, names, and the conversions that C++17 lacks.

#ifndef COLL_RUNTIME_BASE_DTYPE_H
#define COLL_RUNTIME_BASE_DTYPE_H

#include "runtime/abi.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace coll::rt {

inline constexpr int kNumDtypes = kCollF8E5M2 + 1;
inline constexpr int kNumReductions = kCollXor + 1;

inline bool isValidDtype(int32_t dtype) { return dtype >= 0 && dtype < kNumDtypes; }
inline bool isFloat(CollDtype dtype) { return dtype <= kCollBf16 || dtype > kCollBool; }
// Floats that are combined in f32 and rounded once.
inline bool isNarrowFloat(CollDtype dtype) {
  return dtype == kCollF16 || dtype == kCollBf16 || dtype > kCollBool;
}

// Bytes of one element.
int64_t dtypeSize(CollDtype dtype);
// "f32", "bool", …; "?" for a number that is no CollDtype.
const char *dtypeName(int32_t dtype);
std::optional<CollDtype> parseDtype(std::string_view name);

// "sum", "umax", …; "?" for a number that is no CollReduction.
const char *reductionName(int32_t reduction);
// Whether the reduction is defined for the type: and, or, xor, umin, umax need
// integers, avg needs floats.
bool reductionTakes(int32_t reduction, CollDtype dtype);

// Number of elements of a shape, or nullopt where an extent is negative or the
// number of bytes of the widest type would overflow int64.
std::optional<int64_t> numElements(const std::vector<int64_t> &shape);

inline float bf16ToF32(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// Rounds to nearest, ties to even. A NaN stays a NaN.
inline uint16_t f32ToBf16(float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, sizeof(wide));
  if ((wide & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((wide >> 16) | 0x40u);
  return static_cast<uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
}

float f16ToF32(uint16_t bits);
// Rounds to nearest, ties to even; overflows to infinity. A NaN stays a NaN.
uint16_t f32ToF16(float value);

// Eight-bit floats (arXiv 2209.05433), to nearest, ties to even. Beyond the range lies
// NaN in e4m3fn, which has no infinities, and infinity in e5m2.
float f8E4M3FNToF32(uint8_t bits);
uint8_t f32ToF8E4M3FN(float value);
float f8E5M2ToF32(uint8_t bits);
uint8_t f32ToF8E5M2(float value);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_DTYPE_H
