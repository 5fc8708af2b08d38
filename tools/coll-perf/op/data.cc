#include "tools/coll-perf/op/data.h"

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"
#include "runtime/call_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace coll::perf {

namespace {

// A prime, so that misplaced blocks do not look right.
constexpr int64_t kPeriod = 65521;
constexpr int64_t kMostChecked = 4 << 20;

void store(CollDtype dtype, double value, char *at) {
  float single = static_cast<float>(value);
  auto whole = static_cast<int64_t>(value);
  uint16_t half = dtype == kCollF16 ? rt::f32ToF16(single) : rt::f32ToBf16(single);
  switch (dtype) {
  case kCollF32:
    std::memcpy(at, &single, 4);
    break;
  case kCollF64:
    std::memcpy(at, &value, 8);
    break;
  case kCollF16:
  case kCollBf16:
    std::memcpy(at, &half, 2);
    break;
  case kCollBool:
    *at = whole != 0;
    break;
  case kCollF8E4M3FN:
    *at = static_cast<char>(rt::f32ToF8E4M3FN(single));
    break;
  case kCollF8E5M2:
    *at = static_cast<char>(rt::f32ToF8E5M2(single));
    break;
  default: // integers: little-endian
    std::memcpy(at, &whole, static_cast<size_t>(rt::dtypeSize(dtype)));
  }
}

template <typename T>
double as(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

double load(CollDtype dtype, const char *at) {
  switch (dtype) {
  case kCollF32:
    return as<float>(at);
  case kCollF64:
    return as<double>(at);
  case kCollF16:
  case kCollBf16: {
    uint16_t half;
    std::memcpy(&half, at, 2);
    return dtype == kCollF16 ? rt::f16ToF32(half) : rt::bf16ToF32(half);
  }
  case kCollF8E4M3FN:
    return rt::f8E4M3FNToF32(static_cast<uint8_t>(*at));
  case kCollF8E5M2:
    return rt::f8E5M2ToF32(static_cast<uint8_t>(*at));
  case kCollI16:
    return as<int16_t>(at);
  case kCollI32:
    return as<int32_t>(at);
  case kCollI64:
    return as<int64_t>(at);
  default:
    return as<int8_t>(at);
  }
}

double roundingOf(CollDtype dtype) {
  switch (dtype) {
  case kCollF32:
    return 0x1p-23;
  case kCollF64:
    return 0x1p-52;
  case kCollF16:
    return 0x1p-10;
  case kCollBf16:
    return 0x1p-7;
  case kCollF8E4M3FN:
    return 0x1p-3;
  case kCollF8E5M2:
    return 0x1p-2;
  default:
    return 0;
  }
}

} // namespace

double Reference::given(int rank, int64_t i) const {
  // splitmix64 (Steele, Lea, Flood)
  uint64_t bits = static_cast<uint64_t>(i % kPeriod) * 0x9e3779b97f4a7c15u +
                  static_cast<uint64_t>(rank + 1) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  const bool isProduct = plan_.reduction == kCollProd;
  if (plan_.dtype == kCollBool)
    return static_cast<double>(bits & 1);
  if (!rt::isFloat(plan_.dtype))
    return static_cast<double>(static_cast<int64_t>(bits % (isProduct ? 2 : 15)) +
                               (isProduct ? 1 : -7));
  // Multiples of 1/64, or of 1/2 in eight bits, which the types hold.
  double steps = rt::dtypeSize(plan_.dtype) == 1 ? 2 : 64;
  double value = static_cast<double>(bits % static_cast<uint64_t>(steps)) / steps;
  return isProduct ? 1 + value / 2 : 2 * value - 1;
}

rt::Call Reference::call() const {
  rt::Call call;
  for (int kind = 0; kind <= static_cast<int>(rt::OpKind::Recv); ++kind)
    if (plan_.op == rt::kindName(static_cast<rt::OpKind>(kind)))
      call.kind = static_cast<rt::OpKind>(kind);
  call.dtype = plan_.dtype;
  call.reduction = plan_.reduction;
  call.order = plan_.order;
  call.scale = plan_.scale;
  call.root = plan_.root;
  call.count = count_;
  if (call.kind == rt::OpKind::AllToAll)
    call.dstCount = count_;
  call.site.op = 0;
  call.site.loc = "coll-perf";
  return call;
}

Extent Reference::extent(int rank) const {
  if (plan_.op == "send_recv")
    return {count_, count_};
  rt::Call made = call();
  // Off the root too: backends write there what they promise.
  made.dst = &made;
  rt::CallExtents extents = rt::extentsOf(made, plan_.ranks, rank);
  return {extents.src, extents.dst};
}

void Reference::fill(int rank, void *src) const {
  const int64_t size = rt::dtypeSize(plan_.dtype), count = extent(rank).src;
  auto *bytes = static_cast<char *>(src);
  for (int64_t i = 0; i < std::min(count, kPeriod); ++i)
    store(plan_.dtype, given(rank, i), bytes + i * size);
  for (int64_t i = kPeriod; i < count; i += kPeriod)
    std::memcpy(bytes + i * size, bytes, static_cast<size_t>(std::min(kPeriod, count - i) * size));
}

double Reference::combined(int64_t i, double &tolerance) const {
  std::vector<double> values(static_cast<size_t>(plan_.ranks));
  std::vector<char> bytes(8 * values.size());
  std::vector<const void *> sources;
  double magnitude = 0;
  for (size_t rank = 0; rank < values.size(); ++rank) {
    double value = given(static_cast<int>(rank), i) * plan_.scale;
    store(plan_.dtype, value, bytes.data() + 8 * rank);
    sources.push_back(bytes.data() + 8 * rank);
    magnitude = plan_.reduction == kCollProd ? std::max(magnitude, 1.0) * std::fabs(value)
                                             : magnitude + std::fabs(value);
  }
  char result[8];
  rt::reduceBuffers(plan_.dtype, plan_.reduction, sources.data(), plan_.ranks, result, 1);
  bool picks = plan_.reduction == kCollMin || plan_.reduction == kCollMax;
  tolerance = picks ? 0 : roundingOf(plan_.dtype) * (plan_.ranks + 1) * magnitude;
  return load(plan_.dtype, result);
}

double Reference::expected(int rank, int64_t i, double &tolerance) const {
  tolerance = 0;
  const int n = plan_.ranks;
  const int64_t block = i / count_, within = i % count_;
  if (plan_.op == "all_reduce" || plan_.op == "reduce")
    return combined(i, tolerance);
  if (plan_.op == "reduce_scatter")
    return combined(rank * count_ + i, tolerance);
  if (plan_.op == "broadcast")
    return given(plan_.root, i);
  if (plan_.op == "scatter")
    return given(plan_.root, rank * count_ + i);
  if (plan_.op == "all_to_all")
    return given(static_cast<int>(block), rank * count_ + within);
  if (plan_.op == "send_recv")
    return given((rank + n - 1) % n, i);
  return given(static_cast<int>(block), within); // all_gather, gather
}

int64_t Reference::wrong(int rank, const void *dst) const {
  const int64_t size = rt::dtypeSize(plan_.dtype), count = extent(rank).dst;
  const int64_t step = (count + kMostChecked - 1) / kMostChecked | 1;
  const bool isRoot = rank == plan_.root;
  if ((plan_.op == "reduce" || plan_.op == "gather") && !isRoot)
    return 0;
  int64_t wrong = 0;
  auto look = [&](int64_t i) {
    double tolerance = 0;
    double want = expected(rank, i, tolerance);
    double got = load(plan_.dtype, static_cast<const char *>(dst) + i * size);
    wrong += !(std::fabs(got - want) <= tolerance);
  };
  for (int64_t i = 0; i < count; i += step)
    look(i);
  if (count > 0 && (count - 1) % step != 0)
    look(count - 1);
  return wrong;
}

} // namespace coll::perf
