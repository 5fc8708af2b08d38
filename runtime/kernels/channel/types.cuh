// types.cuh - element types and reductions of the channel kernel, for GPU and host.
//
// The results are those of runtime/base/reduce.h bit for bit: halves are combined in f32 and
// rounded once, selections are written in the same form. A NaN stays a NaN; the hardware decides
// which one.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_TYPES_CUH
#define COLL_RUNTIME_KERNELS_CHANNEL_TYPES_CUH

#include "runtime/base/dtype.h"
#include "runtime/kernels/simt/simt.h"

#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#endif

namespace coll::kernels::channel {

template <typename T>
struct PlainType {
  using Stored = T;
  using Acc = T;
  COLL_DEVICE static Acc load(Stored value) { return value; }
  COLL_DEVICE static Stored store(Acc value) { return value; }
};

struct HalfType {
  using Stored = uint16_t;
  using Acc = float;
  COLL_DEVICE static Acc load(Stored bits) {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(bits));
#else
    return rt::f16ToF32(bits);
#endif
  }
  COLL_DEVICE static Stored store(Acc value) {
#ifdef __CUDA_ARCH__
    return __half_as_ushort(__float2half_rn(value));
#else
    return rt::f32ToF16(value);
#endif
  }
  // Stores two at once, the first one in the low half.
  COLL_DEVICE static uint32_t storePair(Acc low, Acc high) {
    return uint32_t{store(low)} | uint32_t{store(high)} << 16;
  }
};

struct BfloatType {
  using Stored = uint16_t;
  using Acc = float;
  COLL_DEVICE static Acc load(Stored bits) {
#ifdef __CUDA_ARCH__
    return __uint_as_float(static_cast<uint32_t>(bits) << 16);
#else
    return rt::bf16ToF32(bits);
#endif
  }
  COLL_DEVICE static Stored store(Acc value) {
#ifdef __CUDA_ARCH__
    return __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
    return rt::f32ToBf16(value);
#endif
  }
  // Stores two at once, the first one in the low half.
  COLL_DEVICE static uint32_t storePair(Acc low, Acc high) {
#ifdef __CUDA_ARCH__
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return uint32_t{__bfloat16_as_ushort(pair.x)} | uint32_t{__bfloat16_as_ushort(pair.y)} << 16;
#else
    return rt::f32ToBf16(low) | uint32_t{rt::f32ToBf16(high)} << 16;
#endif
  }
};

struct Float8E4M3FNType {
  using Stored = uint8_t;
  using Acc = float;
  COLL_DEVICE static Acc load(Stored bits) {
#ifdef __CUDA_ARCH__
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E4M3)));
#else
    return rt::f8E4M3FNToF32(bits);
#endif
  }
  COLL_DEVICE static Stored store(Acc value) {
#ifdef __CUDA_ARCH__
    return __nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E4M3);
#else
    return rt::f32ToF8E4M3FN(value);
#endif
  }
};

struct Float8E5M2Type {
  using Stored = uint8_t;
  using Acc = float;
  COLL_DEVICE static Acc load(Stored bits) {
#ifdef __CUDA_ARCH__
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E5M2)));
#else
    return rt::f8E5M2ToF32(bits);
#endif
  }
  COLL_DEVICE static Stored store(Acc value) {
#ifdef __CUDA_ARCH__
    return __nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E5M2);
#else
    return rt::f32ToF8E5M2(value);
#endif
  }
};

// A byte that is 0 or 1; sums and products must not leave that range.
struct BooleanType {
  using Stored = uint8_t;
  using Acc = uint8_t;
  COLL_DEVICE static Acc load(Stored value) { return value != 0; }
  COLL_DEVICE static Stored store(Acc value) { return value; }
};

// Unsigned and at least as wide as int, so that wrapping is defined.
template <typename T>
using Wrapping = std::make_unsigned_t<decltype(T() + T())>;

struct SumOp {
  template <typename T>
  COLL_DEVICE static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return a + b;
  }
};
struct ProdOp {
  template <typename T>
  COLL_DEVICE static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return a * b;
  }
};
// If `a` is NaN, the last test keeps it; if `b` is NaN, the first test fails.
struct MinOp {
  template <typename T>
  COLL_DEVICE static T apply(T a, T b) {
    T smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};
struct MaxOp {
  template <typename T>
  COLL_DEVICE static T apply(T a, T b) {
    T larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
struct AndOp {
  template <typename T>
  COLL_DEVICE static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct OrOp {
  template <typename T>
  COLL_DEVICE static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct XorOp {
  template <typename T>
  COLL_DEVICE static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Divides the sum for an average, in a type that every divisor fits into; integers are truncated.
template <typename T>
COLL_DEVICE T divide(T value, uint32_t divisor) {
  return static_cast<T>(value / static_cast<decltype(T() + T())>(divisor));
}

// Calls visit(Type(), Op()) for the pair; false if the type does not take the reduction.
template <typename Type, typename Visit>
COLL_DEVICE bool visitFloat(uint32_t reduction, Visit &&visit) {
  switch (reduction) {
  case kCollSum:
  case kCollAvg: // a sum with a divisor
    visit(Type(), SumOp());
    return true;
  case kCollProd:
    visit(Type(), ProdOp());
    return true;
  case kCollMin:
    visit(Type(), MinOp());
    return true;
  case kCollMax:
    visit(Type(), MaxOp());
    return true;
  default:
    return false;
  }
}

template <typename Signed, typename Unsigned, typename Visit>
COLL_DEVICE bool visitInteger(uint32_t reduction, Visit &&visit) {
  switch (reduction) {
  case kCollSum:
  case kCollAvg: // as above; the division needs the sign
    visit(Signed(), SumOp());
    return true;
  case kCollProd:
    visit(Unsigned(), ProdOp());
    return true;
  case kCollMin:
    visit(Signed(), MinOp());
    return true;
  case kCollMax:
    visit(Signed(), MaxOp());
    return true;
  case kCollUmin:
    visit(Unsigned(), MinOp());
    return true;
  case kCollUmax:
    visit(Unsigned(), MaxOp());
    return true;
  case kCollAnd:
    visit(PlainType<uint8_t>(), AndOp()); // the width does not matter
    return true;
  case kCollOr:
    visit(PlainType<uint8_t>(), OrOp()); // the width does not matter
    return true;
  case kCollXor:
    visit(PlainType<uint8_t>(), XorOp()); // the width does not matter
    return true;
  default:
    return false;
  }
}

template <typename Visit>
COLL_DEVICE bool visitBoolean(uint32_t reduction, Visit &&visit) {
  switch (reduction) {
  case kCollSum:
  case kCollMax:
  case kCollUmax:
  case kCollOr:
    visit(BooleanType(), OrOp());
    return true;
  case kCollProd:
  case kCollMin:
  case kCollUmin:
  case kCollAnd:
    visit(BooleanType(), AndOp());
    return true;
  case kCollXor:
    visit(BooleanType(), XorOp());
    return true;
  default:
    return false;
  }
}

template <typename Visit>
COLL_DEVICE bool visitReduction(uint32_t dtype, uint32_t reduction, Visit &&visit) {
  switch (dtype) {
  case kCollF32:
    return visitFloat<PlainType<float>>(reduction, visit);
  case kCollF64:
    return visitFloat<PlainType<double>>(reduction, visit);
  case kCollF16:
    return visitFloat<HalfType>(reduction, visit);
  case kCollBf16:
    return visitFloat<BfloatType>(reduction, visit);
  case kCollI8:
    return visitInteger<PlainType<int8_t>, PlainType<uint8_t>>(reduction, visit);
  case kCollI16:
    return visitInteger<PlainType<int16_t>, PlainType<uint16_t>>(reduction, visit);
  case kCollI32:
    return visitInteger<PlainType<int32_t>, PlainType<uint32_t>>(reduction, visit);
  case kCollI64:
    return visitInteger<PlainType<int64_t>, PlainType<uint64_t>>(reduction, visit);
  case kCollBool:
    return visitBoolean(reduction, visit);
  case kCollF8E4M3FN:
    return visitFloat<Float8E4M3FNType>(reduction, visit);
  case kCollF8E5M2:
    return visitFloat<Float8E5M2Type>(reduction, visit);
  case kCollU8: // all reductions but the sum are reductions of i8, too
    return visitInteger<PlainType<uint8_t>, PlainType<uint8_t>>(reduction, visit);
  default:
    return false;
  }
}

} // namespace coll::kernels::channel

#endif // COLL_RUNTIME_KERNELS_CHANNEL_TYPES_CUH
