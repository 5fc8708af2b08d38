// narrow.h - floats of 8 and 16 bits: to f32, and back to nearest, ties to even.
//
// A NaN stays a NaN. Values beyond the range become infinity, or NaN in e4m3fn, which has no
// infinity. The eight-bit formats are those of arXiv 2209.05433. The functions have no branches, so
// that the loops of narrow_blocks.h become vector code.

#ifndef COLL_RUNTIME_BASE_NARROW_H
#define COLL_RUNTIME_BASE_NARROW_H

#include <cstdint>
#include <cstring>

namespace coll::rt {

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

namespace detail {

inline constexpr int kF32Bias = 127;
inline constexpr int kF32Mantissa = 23;

// The f32 bits of a finite magnitude. Shifted into f32's fields the value has the wrong bias; an
// exact multiplication corrects that, for subnormals too.
template <int mantissa, int bias>
uint32_t widenFinite(uint32_t magnitude) {
  constexpr uint32_t kScale = static_cast<uint32_t>(2 * kF32Bias - bias) << kF32Mantissa;
  float shifted = floatFromBits(magnitude << (kF32Mantissa - mantissa));
  return bitsOfFloat(shifted * floatFromBits(kScale));
}

// The code of a magnitude that is not NaN. Beyond the format's range the codes continue.
template <int mantissa, int bias>
uint32_t roundToNarrow(uint32_t magnitude) {
  constexpr int kShift = kF32Mantissa - mantissa;
  constexpr uint32_t kRebias = static_cast<uint32_t>(kF32Bias - bias) << kF32Mantissa;
  constexpr uint32_t kSmallestNormal = kRebias + (1u << kF32Mantissa);
  // The addend's last place is that of the format's subnormals, so the sum is rounded there.
  constexpr uint32_t kAddend = kSmallestNormal + (static_cast<uint32_t>(kShift) << kF32Mantissa);
  uint32_t subnormal = bitsOfFloat(floatFromBits(magnitude) + floatFromBits(kAddend)) - kAddend;
  uint32_t rounded = magnitude + (1u << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1u);
  return magnitude < kSmallestNormal ? subnormal : (rounded - kRebias) >> kShift;
}

} // namespace detail

inline float bf16ToF32(uint16_t bits) { return floatFromBits(static_cast<uint32_t>(bits) << 16); }

inline uint16_t f32ToBf16(float value) {
  uint32_t bits = bitsOfFloat(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(isNan ? (bits >> 16) | 0x40u : rounded);
}

inline float f16ToF32(uint16_t bits) {
  uint32_t magnitude = bits & 0x7fffu, sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t finite = detail::widenFinite<10, 15>(magnitude);
  return floatFromBits(sign | (magnitude < 0x7c00u ? finite : 0x7f800000u | (magnitude << 13)));
}

inline uint16_t f32ToF16(float value) {
  uint32_t bits = bitsOfFloat(value), magnitude = bits & 0x7fffffffu;
  uint32_t code = detail::roundToNarrow<10, 15>(magnitude);
  code = magnitude >= 0x477ff000u ? 0x7c00u : code; // rounds to 65520 or more
  code = magnitude > 0x7f800000u ? 0x7e00u : code;
  return static_cast<uint16_t>((bits >> 16 & 0x8000u) | code);
}

inline float f8E4M3FNToF32(uint8_t bits) {
  uint32_t magnitude = bits & 0x7fu, sign = static_cast<uint32_t>(bits & 0x80u) << 24;
  uint32_t finite = detail::widenFinite<3, 7>(magnitude);
  return floatFromBits(sign | (magnitude < 0x7fu ? finite : 0x7fc00000u));
}

inline uint8_t f32ToF8E4M3FN(float value) {
  uint32_t bits = bitsOfFloat(value), magnitude = bits & 0x7fffffffu;
  uint32_t code = detail::roundToNarrow<3, 7>(magnitude);
  code = magnitude >= 0x7f800000u || code > 0x7fu ? 0x7fu : code;
  return static_cast<uint8_t>((bits >> 24 & 0x80u) | code);
}

inline float f8E5M2ToF32(uint8_t bits) { return f16ToF32(static_cast<uint16_t>(bits << 8)); }

inline uint8_t f32ToF8E5M2(float value) {
  uint32_t bits = bitsOfFloat(value), magnitude = bits & 0x7fffffffu;
  uint32_t code = detail::roundToNarrow<2, 15>(magnitude);
  code = code > 0x7cu ? 0x7cu : code;
  code = magnitude > 0x7f800000u ? 0x7eu : code;
  return static_cast<uint8_t>((bits >> 24 & 0x80u) | code);
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_NARROW_H
