#include "runtime/base/dtype.h"

#include <algorithm>
#include <limits>

namespace coll::rt {

namespace {

struct DtypeRow {
  const char *name;
  int64_t bytes;
};
constexpr DtypeRow kDtypes[kNumDtypes] = {{"f32", 4},  {"f64", 8},      {"f16", 2},   {"bf16", 2},
                                          {"i8", 1},   {"i16", 2},      {"i32", 4},   {"i64", 8},
                                          {"bool", 1}, {"f8e4m3fn", 1}, {"f8e5m2", 1}};

constexpr const char *kReductions[kNumReductions] = {"sum",  "prod", "min", "max", "umin",
                                                     "umax", "avg",  "and", "or",  "xor"};

float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

} // namespace

int64_t dtypeSize(CollDtype dtype) { return isValidDtype(dtype) ? kDtypes[dtype].bytes : 0; }

const char *dtypeName(int32_t dtype) { return isValidDtype(dtype) ? kDtypes[dtype].name : "?"; }

std::optional<CollDtype> parseDtype(std::string_view name) {
  for (int i = 0; i < kNumDtypes; ++i)
    if (name == kDtypes[i].name)
      return static_cast<CollDtype>(i);
  return std::nullopt;
}

const char *reductionName(int32_t reduction) {
  return reduction >= 0 && reduction < kNumReductions ? kReductions[reduction] : "?";
}

bool reductionTakes(int32_t reduction, CollDtype dtype) {
  switch (reduction) {
  case kCollSum:
  case kCollProd:
  case kCollMin:
  case kCollMax:
    return true;
  case kCollAvg:
    return isFloat(dtype);
  case kCollUmin:
  case kCollUmax:
  case kCollAnd:
  case kCollOr:
  case kCollXor:
    return !isFloat(dtype);
  default:
    return false;
  }
}

std::optional<int64_t> numElements(const std::vector<int64_t> &shape) {
  constexpr int64_t kLimit = std::numeric_limits<int64_t>::max() / 8;
  int64_t product = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (product > kLimit / extent)
      return std::nullopt;
    product *= extent;
  }
  return empty ? 0 : product;
}

namespace {

constexpr int kF32Bias = 127;
constexpr int kF32Mantissa = 23;

// The magnitude's code in a format of `mantissa` bits, for a value that is not NaN; beyond
// the format's range the codes run on.
uint32_t roundToNarrow(uint32_t magnitude, int mantissa, int bias) {
  int shift = kF32Mantissa - mantissa;
  if (magnitude < static_cast<uint32_t>(kF32Bias + 1 - bias) << kF32Mantissa) {
    // Subnormal: this addend's last place is the format's, so the sum is rounded there.
    uint32_t addend = static_cast<uint32_t>(kF32Bias + 1 - bias + shift) << kF32Mantissa;
    return bitsOfFloat(floatFromBits(magnitude) + floatFromBits(addend)) - addend;
  }
  uint32_t rounded = magnitude + (1u << (shift - 1)) - 1 + ((magnitude >> shift) & 1u);
  return (rounded - (static_cast<uint32_t>(kF32Bias - bias) << kF32Mantissa)) >> shift;
}

// A finite magnitude: shifted into f32's fields it has the wrong bias, which the exact
// product corrects, subnormals included.
float widenFinite(uint32_t magnitude, int mantissa, int bias) {
  uint32_t scale = static_cast<uint32_t>(2 * kF32Bias - bias) << kF32Mantissa;
  return floatFromBits(magnitude << (kF32Mantissa - mantissa)) * floatFromBits(scale);
}

} // namespace

float f8E4M3FNToF32(uint8_t bits) {
  uint32_t magnitude = bits & 0x7fu;
  float value =
      magnitude == 0x7fu ? std::numeric_limits<float>::quiet_NaN() : widenFinite(magnitude, 3, 7);
  return bits & 0x80u ? -value : value;
}

uint8_t f32ToF8E4M3FN(float value) {
  uint32_t bits = bitsOfFloat(value), magnitude = bits & 0x7fffffffu;
  uint32_t code = magnitude >= 0x7f800000u ? 0x7fu : roundToNarrow(magnitude, 3, 7);
  return static_cast<uint8_t>((bits >> 24 & 0x80u) | std::min(code, 0x7fu));
}

float f8E5M2ToF32(uint8_t bits) { return f16ToF32(static_cast<uint16_t>(bits << 8)); }

uint8_t f32ToF8E5M2(float value) {
  uint32_t bits = bitsOfFloat(value), magnitude = bits & 0x7fffffffu;
  uint32_t code =
      magnitude > 0x7f800000u ? 0x7eu : std::min(roundToNarrow(magnitude, 2, 15), 0x7cu);
  return static_cast<uint8_t>((bits >> 24 & 0x80u) | code);
}

float f16ToF32(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) // infinity or NaN
    return floatFromBits(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) { // zero or subnormal: mantissa * 2^-24 is exact
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return floatFromBits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t f32ToF16(float value) {
  uint32_t bits = bitsOfFloat(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) // rounds to 65520 or more
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is subnormal: adding 0.5 aligns the mantissa so that
    // the hardware rounds it at the last place of the result.
    float aligned = floatFromBits(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (bitsOfFloat(aligned) - 0x3f000000u));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

} // namespace coll::rt
