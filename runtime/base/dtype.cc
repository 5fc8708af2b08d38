#include "runtime/base/dtype.h"

#include <limits>

namespace coll::rt {

namespace {

struct DtypeRow {
  const char *name;
  int64_t bytes;
};
constexpr DtypeRow kDtypes[kNumDtypes] = {{"f32", 4},  {"f64", 8},      {"f16", 2},    {"bf16", 2},
                                          {"i8", 1},   {"i16", 2},      {"i32", 4},    {"i64", 8},
                                          {"bool", 1}, {"f8e4m3fn", 1}, {"f8e5m2", 1}, {"u8", 1}};

constexpr const char *kReductions[kNumReductions] = {"sum",  "prod", "min", "max", "umin",
                                                     "umax", "avg",  "and", "or",  "xor"};

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
    return dtype != kCollBool;
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

} // namespace coll::rt
