#include "tools/coll-perf/op/data.h"

#include "runtime/backend/call/check.h"
#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace coll::perf {

namespace {

// A prime, so that misplaced blocks do not look correct.
constexpr int64_t kPeriod = 65521;
constexpr int64_t kMostSums = 4 << 20;

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
  case kCollU8:
    return as<uint8_t>(at);
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
  if (plan_.op == "send_recv" || plan_.op == "root_update")
    return {count_, count_};
  rt::Call made = call();
  // Set on all ranks, because backends define the content of `dst` on every rank, not only the
  // root.
  made.dst = &made;
  rt::CallExtents extents = rt::extentsOf(made, plan_.ranks, rank);
  return {extents.src, extents.dst};
}

Pattern::Pattern(const OpPlan &plan, int rank)
    : plan_(plan), rank_(rank), given_(static_cast<size_t>(plan.ranks) + 1) {}

double Pattern::given(int rank, int64_t i) const {
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
  // Multiples of 1/64, or of 1/2 in eight bits, which the types represent exactly.
  double steps = rt::dtypeSize(plan_.dtype) == 1 ? 2 : 64;
  double value = static_cast<double>(bits % static_cast<uint64_t>(steps)) / steps;
  return isProduct ? 1 + value / 2 : 2 * value - 1;
}

const char *Pattern::periodOf(int rank) {
  std::vector<char> &period = given_[static_cast<size_t>(rank)];
  if (period.empty()) {
    const int64_t size = rt::dtypeSize(plan_.dtype);
    period.resize(static_cast<size_t>(kPeriod * size));
    for (int64_t i = 0; i < kPeriod; ++i)
      store(plan_.dtype, given(rank, i), period.data() + i * size);
  }
  return period.data();
}

template <typename Body>
void Pattern::eachRun(int64_t first, int64_t count, Body &&body) {
  for (int64_t done = 0; done < count;) {
    const int64_t at = (first + done) % kPeriod, run = std::min(kPeriod - at, count - done);
    body(at, done, run);
    done += run;
  }
}

void Pattern::copyGiven(int rank, int64_t first, int64_t count, void *to) {
  const int64_t size = rt::dtypeSize(plan_.dtype);
  const char *period = periodOf(rank);
  eachRun(first, count, [&](int64_t from, int64_t at, int64_t run) {
    std::memcpy(static_cast<char *>(to) + at * size, period + from * size,
                static_cast<size_t>(run * size));
  });
}

void Pattern::fill(int64_t first, int64_t count, void *src) { copyGiven(rank_, first, count, src); }

// The parameters are generated like the contribution of an additional rank.
void Pattern::fillParameters(int64_t first, int64_t count, void *parameters) {
  copyGiven(plan_.ranks, first, count, parameters);
}

void Pattern::parameters(const OpPlan &plan, int64_t first, std::vector<float> &values) {
  Pattern pattern(plan, plan.ranks);
  const int64_t size = rt::dtypeSize(plan.dtype);
  const char *period = pattern.periodOf(plan.ranks);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(
        load(plan.dtype, period + (first + static_cast<int64_t>(i)) % kPeriod * size));
}

// Returns the new parameter, and the rounding error that is allowed if gradients are summed in
// their type.
Pattern::Sum Pattern::update(int64_t i) const {
  char stored[8];
  auto rounded = [&](double value) {
    store(plan_.dtype, value, stored);
    return static_cast<float>(load(plan_.dtype, stored));
  };
  float sum = rounded(given(0, i));
  for (int rank = 1; rank < plan_.ranks; ++rank)
    sum += rounded(given(rank, i));
  float slots[kernels::kMaxOptimizerSlots] = {};
  const float fresh = kernels::elementUpdate(*kernels::optimizerNamed(plan_.optimizer), kFirstStep)(
      rounded(given(plan_.ranks, i)), sum / static_cast<float>(plan_.ranks), slots);
  return {rounded(fresh), 4 * roundingOf(plan_.dtype) * (1 + std::fabs(fresh))};
}

Pattern::Sum Pattern::combine(int64_t i) const {
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
  const bool picks = plan_.reduction == kCollMin || plan_.reduction == kCollMax;
  return {load(plan_.dtype, result),
          picks ? 0 : roundingOf(plan_.dtype) * (plan_.ranks + 1) * magnitude};
}

int64_t Pattern::wrongSums(int64_t offset, int64_t first, int64_t count, int64_t total,
                           const char *dst) {
  if (sums_.empty())
    for (int64_t i = 0; i < kPeriod; ++i)
      sums_.push_back(plan_.op == "root_update" ? update(i) : combine(i));
  const int64_t size = rt::dtypeSize(plan_.dtype);
  const int64_t step = (total + kMostSums - 1) / kMostSums | 1;
  int64_t wrong = 0;
  auto look = [&](int64_t i) {
    const Sum &sum = sums_[static_cast<size_t>((offset + i) % kPeriod)];
    wrong += !(std::fabs(load(plan_.dtype, dst + (i - first) * size) - sum.value) <= sum.tolerance);
  };
  for (int64_t i = (first + step - 1) / step * step; i < first + count; i += step)
    look(i);
  if (first + count == total && (total - 1) % step != 0)
    look(total - 1);
  return wrong;
}

int64_t Pattern::wrongCopies(int source, int64_t first, int64_t count, const char *dst) {
  const int64_t size = rt::dtypeSize(plan_.dtype);
  const char *period = periodOf(source);
  int64_t wrong = 0;
  eachRun(first, count, [&](int64_t from, int64_t to, int64_t run) {
    const char *want = period + from * size, *got = dst + to * size;
    if (std::memcmp(want, got, static_cast<size_t>(run * size)) == 0)
      return;
    for (int64_t i = 0; i < run; ++i)
      wrong += std::memcmp(want + i * size, got + i * size, static_cast<size_t>(size)) != 0;
  });
  return wrong;
}

int64_t Pattern::wrong(const Reference &reference, int64_t first, int64_t count, const void *dst) {
  const auto *bytes = static_cast<const char *>(dst);
  const int64_t block = reference.count(), total = reference.extent(rank_).dst;
  if ((plan_.op == "reduce" || plan_.op == "gather") && rank_ != plan_.root)
    return 0;
  if (plan_.op == "all_reduce" || plan_.op == "reduce" || plan_.op == "root_update")
    return wrongSums(0, first, count, total, bytes);
  if (plan_.op == "reduce_scatter")
    return wrongSums(rank_ * block, first, count, total, bytes);
  if (plan_.op == "broadcast")
    return wrongCopies(plan_.root, first, count, bytes);
  if (plan_.op == "scatter")
    return wrongCopies(plan_.root, rank_ * block + first, count, bytes);
  if (plan_.op == "send_recv")
    return wrongCopies((rank_ + plan_.ranks - 1) % plan_.ranks, first, count, bytes);
  // all_gather, gather and all_to_all have a block of each rank.
  const int64_t offset = plan_.op == "all_to_all" ? rank_ * block : 0;
  int64_t wrong = 0;
  for (int64_t i = first; i < first + count;) {
    const int64_t within = i % block, run = std::min(block - within, first + count - i);
    wrong += wrongCopies(static_cast<int>(i / block), offset + within, run,
                         bytes + (i - first) * rt::dtypeSize(plan_.dtype));
    i += run;
  }
  return wrong;
}

} // namespace coll::perf
