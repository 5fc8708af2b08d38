// reduce.cuh - combines one vector of each member, in rank order.
//
// A Reducer has `reduce<N>(const Vec16 (&)[N], n, plan)`. Sums of the types that training uses have
// separate Reducers; AnyReducer serves all types and reductions by calling a function.

#ifndef COLL_RUNTIME_KERNELS_PEER_REDUCE_CUH
#define COLL_RUNTIME_KERNELS_PEER_REDUCE_CUH

#include "runtime/kernels/channel/types.cuh"
#include "runtime/kernels/peer/place.cuh"

#include <cstring>

namespace coll::kernels::peer {

template <typename Type>
struct VectorOf {
  using Stored = typename Type::Stored;
  static constexpr uint32_t kElems = kVec / sizeof(Stored);
  Stored at[kElems];

  COLL_DEVICE explicit VectorOf(const Vec16 &v) { memcpy(at, &v, sizeof at); }
};

template <typename Type, typename Op>
struct Combine {
  using Acc = typename Type::Acc;
  static constexpr uint32_t kElems = VectorOf<Type>::kElems;

  COLL_DEVICE static Vec16 finish(const Acc (&acc)[kElems], uint32_t divisor) {
    VectorOf<Type> result(Vec16{});
    COLL_UNROLL()
    for (uint32_t e = 0; e < kElems; ++e) {
      Acc value = acc[e];
      if constexpr (std::is_same_v<Op, channel::SumOp>)
        value = divisor != 0 ? channel::divide(value, divisor) : value;
      result.at[e] = Type::store(value);
    }
    Vec16 v;
    memcpy(&v, result.at, sizeof v);
    return v;
  }

  COLL_DEVICE static void begin(Acc (&acc)[kElems], const Vec16 &v) {
    const VectorOf<Type> first(v);
    COLL_UNROLL()
    for (uint32_t e = 0; e < kElems; ++e)
      acc[e] = Type::load(first.at[e]);
  }
  COLL_DEVICE static void add(Acc (&acc)[kElems], const Vec16 &v) {
    const VectorOf<Type> next(v);
    COLL_UNROLL()
    for (uint32_t e = 0; e < kElems; ++e)
      acc[e] = Op::apply(acc[e], Type::load(next.at[e]));
  }
};

template <typename Type>
struct SumReducer {
  template <uint32_t N>
  COLL_DEVICE static Vec16 reduce(const Vec16 (&v)[N], uint32_t n, const SlicePlan &plan) {
    using Sum = Combine<Type, channel::SumOp>;
    typename Type::Acc acc[Sum::kElems];
    Sum::begin(acc, v[0]);
    COLL_UNROLL()
    for (uint32_t p = 1; p < N; ++p)
      if (p < n)
        Sum::add(acc, v[p]);
    return Sum::finish(acc, plan.divisor);
  }
};

// One function per type and reduction, not inline.
template <typename Type, typename Op>
COLL_DEVICE_CALL void combineAs(const Vec16 *v, uint32_t n, uint32_t divisor, Vec16 *result) {
  using All = Combine<Type, Op>;
  typename Type::Acc acc[All::kElems];
  All::begin(acc, v[0]);
  COLL_NO_UNROLL()
  for (uint32_t p = 1; p < n; ++p)
    All::add(acc, v[p]);
  *result = All::finish(acc, divisor);
}

// The only function that selects among all of them, so it is long.
COLL_DEVICE_CALL void combineAny(const Vec16 *v, uint32_t n, const SlicePlan &plan, Vec16 *result) {
  (void)channel::visitReduction(plan.dtype, plan.reduction, [&](auto type, auto op) {
    combineAs<decltype(type), decltype(op)>(v, n, plan.divisor, result);
  });
}

struct AnyReducer {
  template <uint32_t N>
  COLL_DEVICE static Vec16 reduce(const Vec16 (&v)[N], uint32_t n, const SlicePlan &plan) {
    Vec16 result = v[0];
    combineAny(v, n, plan, &result);
    return result;
  }
};

// For a single contributor: its data unchanged.
struct FirstReducer {
  template <uint32_t N>
  COLL_DEVICE static Vec16 reduce(const Vec16 (&v)[N], uint32_t, const SlicePlan &plan) {
    Vec16 result = v[0];
    COLL_UNROLL()
    for (uint32_t p = 1; p < N; ++p)
      if (plan.contributors >> p & 1u)
        result = v[p];
    return result;
  }
};

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_REDUCE_CUH
