// low_latency_format_device.cuh - rows of bf16 in fewer bits: fp8 and the log format.
//
// A lane converts 16 values, so that eight lanes have a group of 128. All lanes of a warp take
// part.
//
// **fp8**: [hidden] e4m3fn, then [hidden / 128] f32, the factors of the groups. Values
// are scaled so that the largest becomes 448; NaNs stay NaN; a group with an infinity is
// NaN.
//
// **Log format**, 10 bits a value: [hidden] bytes, [hidden / 4] bytes, [hidden / 128]
// u32. A code is 0 for zero, else 1 to 511 for magnitudes from the group's smallest to
// its largest in equal steps of the logarithm, at most 32 octaves: smaller values become
// zero, and so do bf16's subnormals. The lower eight bits are in the byte; two bits in
// the second array are the code's ninth and the sign; the word is the group's largest
// magnitude as bf16, and the smallest << 16. A group with an infinity or a NaN is NaN.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FORMAT_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FORMAT_DEVICE_CUH

#include "runtime/kernels/channel/types.cuh"
#include "runtime/kernels/simt/simt.h"

#include <cmath>

namespace coll::kernels::low_latency {

using channel::BfloatType;

inline constexpr uint32_t kUnit = 16;                // values of a lane
inline constexpr uint32_t kGroupLanes = 8;           // lanes that share a scale, or a range
inline constexpr uint32_t kMagnitude = 0x7fffu;      // bits of a bf16
inline constexpr uint32_t kInfinity = 0x7f80u;       // larger values are NaN
inline constexpr uint32_t kSmallestNormal = 0x0080u; // of bf16

COLL_DEVICE float log2Of(float value) {
#ifdef __CUDA_ARCH__
  return __log2f(value);
#else
  return std::log2(value);
#endif
}
COLL_DEVICE float exp2Of(float value) {
#ifdef __CUDA_ARCH__
  return exp2f(value);
#else
  return std::exp2(value);
#endif
}

// 16 bf16.
struct Unit {
  uint32_t word[kUnit / 2];

  COLL_DEVICE static Unit load(const char *row, uint32_t number, bool exists) {
    Unit unit = {};
    if (!exists)
      return unit;
    const char *at = row + uint64_t{number} * kUnit * sizeof(uint16_t);
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2; ++half) {
      const simt::Vec16 v = simt::loadGlobal16(at + half * sizeof(simt::Vec16));
      COLL_UNROLL()
      for (uint32_t w = 0; w < 4; ++w)
        unit.word[half * 4 + w] = v.word[w];
    }
    return unit;
  }
  COLL_DEVICE uint32_t bits(uint32_t i) const { return word[i / 2] >> (i % 2 * 16) & 0xffffu; }
  COLL_DEVICE float value(uint32_t i) const {
    return BfloatType::load(static_cast<uint16_t>(bits(i)));
  }
};

// The largest value of a group's lanes, in each of them.
COLL_DEVICE uint32_t largestOfGroup(uint32_t value) {
  for (uint32_t distance = kGroupLanes / 2; distance > 0; distance /= 2) {
    const uint32_t other = simt::shuffle(value, simt::lane() ^ distance);
    value = other > value ? other : value;
  }
  return value;
}

// --- fp8

struct Fp8Unit {
  simt::Vec16 values;
  float scale; // of the group, to multiply with

  // Converts two values up to 448, or NaN; the first one is in the low half. The instruction
  // saturates, which changes nothing within that range.
  COLL_DEVICE static uint32_t pairOf(float low, float high) {
#ifdef __CUDA_ARCH__
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
#else
    return rt::f32ToF8E4M3FN(low) | uint32_t{rt::f32ToF8E4M3FN(high)} << 8;
#endif
  }
  COLL_DEVICE static Fp8Unit of(const Unit &unit) {
    uint32_t largest = 0;
    COLL_UNROLL()
    for (uint32_t i = 0; i < kUnit; ++i) {
      const uint32_t magnitude = unit.bits(i) & kMagnitude;
      largest = magnitude > largest && magnitude <= kInfinity ? magnitude : largest;
    }
    const float found = BfloatType::load(static_cast<uint16_t>(largestOfGroup(largest)));
    // Groups of zeros get a valid scale, too.
    const float most = found > 1e-4f ? found : 1e-4f;
    const float factor = 448.0f / most;
    Fp8Unit out = {{}, most / 448.0f};
    COLL_UNROLL()
    for (uint32_t i = 0; i < kUnit; i += 2)
      out.values.word[i / 4] |= pairOf(unit.value(i) * factor, unit.value(i + 1) * factor)
                                << (i % 4 * 8);
    return out;
  }
};

// --- the log format

// A group's range, from its word.
struct LogRange {
  static constexpr uint32_t kCodes = 511;
  static constexpr float kOctaves = 32;
  float bottom, step;
  bool isNan;

  COLL_DEVICE explicit LogRange(uint32_t word) {
    const uint32_t most = word & 0xffffu, least = word >> 16;
    isNan = most >= kInfinity;
    bottom = step = 0;
    if (isNan || most == 0)
      return;
    const float top = log2Of(BfloatType::load(static_cast<uint16_t>(most)));
    const float low = log2Of(BfloatType::load(static_cast<uint16_t>(least)));
    bottom = low > top - kOctaves ? low : top - kOctaves;
    step = (top - bottom) / (kCodes - 1);
  }
  // A group's word, from its values.
  COLL_DEVICE static uint32_t wordOf(const Unit &unit) {
    uint32_t most = 0, least = 0; // least: of the complements
    COLL_UNROLL()
    for (uint32_t i = 0; i < kUnit; ++i) {
      const uint32_t magnitude = unit.bits(i) & kMagnitude;
      if (magnitude < kSmallestNormal)
        continue;
      most = magnitude > most ? magnitude : most;
      least = kMagnitude - magnitude > least ? kMagnitude - magnitude : least;
    }
    most = largestOfGroup(most);
    least = kMagnitude - largestOfGroup(least);
    return most == 0 ? 0 : most | least << 16;
  }

  COLL_DEVICE uint32_t code(uint32_t magnitude, float inverse) const {
    if (magnitude < kSmallestNormal || isNan)
      return 0;
    const float steps =
        (log2Of(BfloatType::load(static_cast<uint16_t>(magnitude))) - bottom) * inverse;
    if (steps < -0.5f)
      return 0;
    const auto code = static_cast<uint32_t>(steps + 1.5f);
    return code < kCodes ? code : kCodes;
  }
  COLL_DEVICE float inverse() const { return step > 0 ? 1 / step : 0; }
  COLL_DEVICE float magnitude(uint32_t code) const {
    if (isNan)
      return BfloatType::load(0x7fc0u);
    return code == 0 ? 0 : exp2Of(bottom + static_cast<float>(code - 1) * step);
  }
};

struct LogUnit {
  simt::Vec16 low;
  uint32_t high;
  uint32_t range; // the group's word

  COLL_DEVICE static LogUnit of(const Unit &unit) {
    LogUnit out = {{}, 0, LogRange::wordOf(unit)};
    const LogRange range(out.range);
    const float inverse = range.inverse();
    COLL_UNROLL()
    for (uint32_t i = 0; i < kUnit; ++i) {
      const uint32_t bits = unit.bits(i), code = range.code(bits & kMagnitude, inverse);
      out.low.word[i / 4] |= (code & 0xffu) << (i % 4 * 8);
      out.high |= (code >> 8 | (bits >> 15) << 1) << (i * 2);
    }
    return out;
  }
  COLL_DEVICE float value(uint32_t i, const LogRange &by) const {
    const uint32_t upper = high >> (i * 2);
    const uint32_t code = (low.word[i / 4] >> (i % 4 * 8) & 0xffu) | (upper & 1u) << 8;
    const float magnitude = by.magnitude(code);
    return upper & 2u ? -magnitude : magnitude;
  }
};

} // namespace coll::kernels::low_latency

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FORMAT_DEVICE_CUH
