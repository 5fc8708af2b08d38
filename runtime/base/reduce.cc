#include "runtime/base/reduce.h"

#include "runtime/base/dtype.h"
#include "runtime/base/narrow_blocks.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace coll::rt {

namespace {

// The iterations of the loop that follows do not depend on each other.
#ifdef __clang__
#define COLL_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define COLL_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

constexpr int64_t kBlockElems = 512; // an accumulator block stays in the L1 cache

// Storage types: the type in memory, the type that accumulates, and the conversion between them.
template <typename T>
struct Plain {
  using Stored = T;
  using Acc = T;
  static Acc load(Stored v) { return v; }
  static Stored store(Acc v) { return v; }
};
// A byte that is 0 or 1; sum and product must not leave that range.
struct Boolean {
  using Stored = uint8_t;
  using Acc = bool;
  static Acc load(Stored v) { return v != 0; }
  static Stored store(Acc v) { return v; }
};

// Unsigned and at least as wide as int, so that wrapping is defined.
template <typename T>
using Wrapping = std::make_unsigned_t<decltype(T() + T())>;

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return a + b;
  }
};
struct Prod {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return a * b;
  }
};
// If `a` is NaN, the last test keeps it; if `b` is NaN, the first test fails. Selections instead of
// branches let the loops vectorise.
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    T smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    T larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
struct And {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Divides in a type that every divisor fits into; integers are truncated.
template <typename T>
T divide(T value, int divisor) {
  return static_cast<T>(value / static_cast<decltype(T() + T())>(divisor));
}

// out[i] = a[i] op next[i], the last step of a reduction of numSrcs sources. `out` may be one of
// the operands, but must not overlap them otherwise, so the loops carry no dependencies.
template <typename Type, typename Op, bool average, typename Load, typename First>
void combineLast(Load load, const First *a, const typename Type::Stored *next, int numSrcs,
                 typename Type::Stored *out, int64_t n) {
  using Acc = typename Type::Acc;
  (void)numSrcs;
  COLL_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    Acc value = Op::apply(load(a[i]), Type::load(next[i]));
    if constexpr (average)
      value = divide(value, numSrcs);
    out[i] = Type::store(value);
  }
}

template <typename Type, typename Op, bool average = false>
void combine(const void *const *srcs, int numSrcs, void *dst, int64_t count) {
  using Stored = typename Type::Stored;
  using Acc = typename Type::Acc;
  auto source = [&](int s) { return static_cast<const Stored *>(srcs[s]); };
  Stored *out = static_cast<Stored *>(dst);
  if (numSrcs == 1) {
    if (dst != srcs[0])
      std::memcpy(dst, srcs[0], static_cast<size_t>(count) * sizeof(Stored));
    return;
  }
  if (numSrcs == 2)
    return combineLast<Type, Op, average>(Type::load, source(0), source(1), 2, out, count);
  Acc acc[kBlockElems];
  for (int64_t begin = 0; begin < count; begin += kBlockElems) {
    int64_t n = std::min(kBlockElems, count - begin);
    const Stored *first = source(0) + begin, *second = source(1) + begin;
    for (int64_t i = 0; i < n; ++i)
      acc[i] = Op::apply(Type::load(first[i]), Type::load(second[i]));
    for (int s = 2; s < numSrcs - 1; ++s) {
      const Stored *next = source(s) + begin;
      for (int64_t i = 0; i < n; ++i)
        acc[i] = Op::apply(acc[i], Type::load(next[i]));
    }
    combineLast<Type, Op, average>([](Acc v) { return v; }, acc, source(numSrcs - 1) + begin,
                                   numSrcs, out + begin, n);
  }
}

// Like combine, in f32: blocks are widened, combined and rounded.
template <CollDtype dtype, typename Op, bool average = false>
void combineNarrow(const void *const *srcs, int numSrcs, void *dst, int64_t count) {
  const NarrowBlocks &blocks = narrowBlocks(dtype);
  const int64_t size = dtypeSize(dtype);
  float acc[kBlockElems], next[kBlockElems];
  for (int64_t begin = 0; begin < count; begin += kBlockElems) {
    int64_t n = std::min(kBlockElems, count - begin);
    blocks.widen(static_cast<const char *>(srcs[0]) + begin * size, acc, n);
    for (int s = 1; s < numSrcs; ++s) {
      blocks.widen(static_cast<const char *>(srcs[s]) + begin * size, next, n);
      for (int64_t i = 0; i < n; ++i)
        acc[i] = Op::apply(acc[i], next[i]);
    }
    if constexpr (average)
      for (int64_t i = 0; i < n; ++i)
        acc[i] = divide(acc[i], numSrcs);
    blocks.narrow(acc, static_cast<char *>(dst) + begin * size, n);
  }
}

using CombineFn = void (*)(const void *const *, int, void *, int64_t);

template <typename Type>
CombineFn pickFloat(CollReduction reduction) {
  switch (reduction) {
  case kCollSum:
    return combine<Type, Sum>;
  case kCollProd:
    return combine<Type, Prod>;
  case kCollMin:
    return combine<Type, Min>;
  case kCollMax:
    return combine<Type, Max>;
  case kCollAvg:
    return combine<Type, Sum, true>;
  default:
    return nullptr;
  }
}

template <CollDtype dtype>
CombineFn pickNarrow(CollReduction reduction) {
  switch (reduction) {
  case kCollSum:
    return combineNarrow<dtype, Sum>;
  case kCollProd:
    return combineNarrow<dtype, Prod>;
  case kCollMin:
    return combineNarrow<dtype, Min>;
  case kCollMax:
    return combineNarrow<dtype, Max>;
  case kCollAvg:
    return combineNarrow<dtype, Sum, true>;
  default:
    return nullptr;
  }
}

template <typename Signed, typename Unsigned>
CombineFn pickInteger(CollReduction reduction) {
  switch (reduction) {
  case kCollSum:
    return combine<Unsigned, Sum>;
  case kCollProd:
    return combine<Unsigned, Prod>;
  case kCollMin:
    return combine<Signed, Min>;
  case kCollMax:
    return combine<Signed, Max>;
  case kCollUmin:
    return combine<Unsigned, Min>;
  case kCollUmax:
    return combine<Unsigned, Max>;
  case kCollAnd:
    return combine<Unsigned, And>;
  case kCollOr:
    return combine<Unsigned, Or>;
  case kCollXor:
    return combine<Unsigned, Xor>;
  default:
    return nullptr;
  }
}

// The average is defined for numbers, but not for booleans.
template <typename Signed, typename Unsigned>
CombineFn pickNumber(CollReduction reduction) {
  return reduction == kCollAvg ? combine<Signed, Sum, true>
                               : pickInteger<Signed, Unsigned>(reduction);
}

CombineFn pick(CollDtype dtype, CollReduction reduction) {
  switch (dtype) {
  case kCollF32:
    return pickFloat<Plain<float>>(reduction);
  case kCollF64:
    return pickFloat<Plain<double>>(reduction);
  case kCollF16:
    return pickNarrow<kCollF16>(reduction);
  case kCollBf16:
    return pickNarrow<kCollBf16>(reduction);
  case kCollI8:
    return pickNumber<Plain<int8_t>, Plain<uint8_t>>(reduction);
  case kCollI16:
    return pickNumber<Plain<int16_t>, Plain<uint16_t>>(reduction);
  case kCollI32:
    return pickNumber<Plain<int32_t>, Plain<uint32_t>>(reduction);
  case kCollI64:
    return pickNumber<Plain<int64_t>, Plain<uint64_t>>(reduction);
  case kCollBool:
    return pickInteger<Boolean, Boolean>(reduction);
  case kCollF8E4M3FN:
    return pickNarrow<kCollF8E4M3FN>(reduction);
  case kCollF8E5M2:
    return pickNarrow<kCollF8E5M2>(reduction);
  case kCollU8:
    return pickNumber<Plain<uint8_t>, Plain<uint8_t>>(reduction);
  }
  return nullptr;
}

template <typename T>
void divideAll(void *data, int64_t count, int divisor) {
  T *values = static_cast<T *>(data);
  for (int64_t i = 0; i < count; ++i)
    values[i] = divide(values[i], divisor);
}

} // namespace

void reduceBuffers(CollDtype dtype, CollReduction reduction, const void *const *srcs, int numSrcs,
                   void *dst, int64_t count) {
  if (CombineFn fn = pick(dtype, reduction))
    fn(srcs, numSrcs, dst, count);
}

void divideBuffer(CollDtype dtype, void *data, int64_t count, int divisor) {
  switch (dtype) {
  case kCollF32:
    return divideAll<float>(data, count, divisor);
  case kCollF64:
    return divideAll<double>(data, count, divisor);
  case kCollI8:
    return divideAll<int8_t>(data, count, divisor);
  case kCollI16:
    return divideAll<int16_t>(data, count, divisor);
  case kCollI32:
    return divideAll<int32_t>(data, count, divisor);
  case kCollI64:
    return divideAll<int64_t>(data, count, divisor);
  case kCollU8:
    return divideAll<uint8_t>(data, count, divisor);
  case kCollF16:
  case kCollBf16:
  case kCollBool:
  case kCollF8E4M3FN:
  case kCollF8E5M2:
    return;
  }
}

} // namespace coll::rt
