// dtype.h - element types: sizes and names.

#ifndef COLL_RUNTIME_BASE_DTYPE_H
#define COLL_RUNTIME_BASE_DTYPE_H

#include "runtime/base/codes.h"
#include "runtime/base/narrow.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace coll::rt {

inline constexpr int kNumDtypes = kCollU8 + 1;
inline constexpr int kNumReductions = kCollXor + 1;

inline bool isValidDtype(int32_t dtype) { return dtype >= 0 && dtype < kNumDtypes; }
// Whether the type is a float that is combined in f32 and rounded once.
inline bool isNarrowFloat(CollDtype dtype) {
  return dtype == kCollF16 || dtype == kCollBf16 || dtype == kCollF8E4M3FN || dtype == kCollF8E5M2;
}
inline bool isFloat(CollDtype dtype) {
  return dtype == kCollF32 || dtype == kCollF64 || isNarrowFloat(dtype);
}

// Bytes of one element.
int64_t dtypeSize(CollDtype dtype);
// "f32", "bool", …; "?" for a number that is no CollDtype.
const char *dtypeName(int32_t dtype);
std::optional<CollDtype> parseDtype(std::string_view name);

// "sum", "umax", …; "?" for a number that is no CollReduction.
const char *reductionName(int32_t reduction);
// Whether the reduction is defined for the type: and, or, xor, umin, umax need
// integers, avg needs numbers.
bool reductionTakes(int32_t reduction, CollDtype dtype);

// Number of elements of a shape, or nullopt where an extent is negative or the
// number of bytes of the widest type would overflow int64.
std::optional<int64_t> numElements(const std::vector<int64_t> &shape);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_DTYPE_H
