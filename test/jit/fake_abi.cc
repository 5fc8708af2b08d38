#include "test/jit/fake_abi.h"

namespace {

int32_t record(CollContext *ctx, const char *name) {
  ctx->calls.push_back(name);
  return ctx->failAt == int32_t(ctx->calls.size()) - 1 ? kCollPeer : kCollOk;
}

// Returns a function of the type of the table's entry that records its name.
template <const char *Name, typename Entry>
struct Recorder;
template <const char *Name, typename... Args>
struct Recorder<Name, int32_t (*)(CollContext *, Args...)> {
  static int32_t call(CollContext *ctx, Args...) { return record(ctx, Name); }
};

#define COLL_ABI_FUNCTION(name, parameters) constexpr char k_##name[] = #name;
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION

int32_t allReduce(CollContext *ctx, int32_t, const void *src, void *dst, int64_t count, int32_t,
                  int32_t, int32_t, int32_t, int32_t, CollRequest **req) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<float *>(dst)[i] = 2 * static_cast<const float *>(src)[i];
  if (req)
    *req = nullptr;
  return record(ctx, req ? "start all_reduce" : "all_reduce");
}

int32_t rank(CollContext *ctx, int64_t *out) {
  *out = ctx->rank;
  return kCollOk;
}

// Only for profiles; it has no effect.
int32_t compute(CollContext *, int32_t) { return kCollOk; }

int32_t gemm(CollContext *ctx, int32_t, int32_t transA, int32_t transB, int64_t m, int64_t n,
             int64_t k, const void *a, int64_t lda, int64_t strideA, const void *b, int64_t ldb,
             int64_t strideB, void *c, int64_t ldc, int64_t strideC, int64_t batch,
             int32_t accumulate) {
  for (int64_t p = 0; p < batch; ++p) {
    const float *x = static_cast<const float *>(a) + p * strideA;
    const float *y = static_cast<const float *>(b) + p * strideB;
    float *z = static_cast<float *>(c) + p * strideC;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = accumulate ? z[i * ldc + j] : 0;
        for (int64_t l = 0; l < k; ++l)
          sum += (transA ? x[l * lda + i] : x[i * lda + l]) *
                 (transB ? y[j * ldb + l] : y[l * ldb + j]);
        z[i * ldc + j] = sum;
      }
  }
  return record(ctx, "gemm");
}

CollAbi makeTable() {
  CollAbi abi{};
  abi.version = kCollAbiVersion;
#define COLL_ABI_FUNCTION(name, parameters)                                                        \
  abi.name = Recorder<k_##name, decltype(CollAbi::name)>::call;
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION
  abi.all_reduce = allReduce;
  abi.rank = rank;
  abi.gemm = gemm;
  abi.compute = compute;
  return abi;
}

} // namespace

const CollAbi &fakeAbi() {
  static const CollAbi abi = makeTable();
  return abi;
}
