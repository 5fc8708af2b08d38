#include "runtime/step/abi/gemm.h"

#include "runtime/base/dtype.h"
#include "runtime/dl/blas.h"

#include <algorithm>
#include <limits>
#include <mutex>

namespace coll::rt {

namespace {

// Below this many multiplications a call of the library costs more than it saves.
constexpr int64_t kSmall = 128;

// Row i of C accumulates row after row of op(B), which is contiguous if B is not transposed.
template <typename T>
void plainGemm(const Gemm &g, const T *a, const T *b, T *c) {
  int64_t aRow = g.transA ? 1 : g.lda, aCol = g.transA ? g.lda : 1;
  for (int64_t i = 0; i < g.m; ++i) {
    T *row = c + i * g.ldc;
    if (!g.accumulate)
      std::fill(row, row + g.n, T(0));
    if (g.transB) {
      for (int64_t j = 0; j < g.n; ++j) {
        T sum = 0;
        for (int64_t p = 0; p < g.k; ++p)
          sum += a[i * aRow + p * aCol] * b[j * g.ldb + p];
        row[j] += sum;
      }
      continue;
    }
    for (int64_t p = 0; p < g.k; ++p) {
      T factor = a[i * aRow + p * aCol];
      for (int64_t j = 0; j < g.n; ++j)
        row[j] += factor * b[p * g.ldb + j];
    }
  }
}

// Held during calls of a library that only one thread at a time may use.
std::mutex turn;

template <typename T>
void libraryGemm(const dl::Blas &blas, const Gemm &g, const T *a, const T *b, T *c) {
  int transA = g.transA ? dl::Blas::kTrans : dl::Blas::kNoTrans;
  int transB = g.transB ? dl::Blas::kTrans : dl::Blas::kNoTrans;
  int m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
  int lda = static_cast<int>(g.lda), ldb = static_cast<int>(g.ldb);
  int ldc = static_cast<int>(g.ldc);
  T beta = g.accumulate ? T(1) : T(0);
  std::unique_lock<std::mutex> lock(turn, std::defer_lock);
  if (!blas.concurrent)
    lock.lock();
  if constexpr (sizeof(T) == sizeof(float))
    blas.sgemm(dl::Blas::kRowMajor, transA, transB, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
  else
    blas.dgemm(dl::Blas::kRowMajor, transA, transB, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
}

bool fitsLibrary(const Gemm &g) {
  constexpr int64_t kMax = std::numeric_limits<int>::max();
  return std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc}) <= kMax;
}

template <typename T>
void runTyped(const Gemm &g) {
  bool small = g.k == 0 || g.m * g.n <= kSmall / g.k || !fitsLibrary(g);
  const dl::Blas *library = small ? nullptr : dl::blas();
  for (int64_t i = 0; i < g.batch; ++i) {
    const T *a = static_cast<const T *>(g.a) + i * g.strideA;
    const T *b = static_cast<const T *>(g.b) + i * g.strideB;
    T *c = static_cast<T *>(g.c) + i * g.strideC;
    if (library)
      libraryGemm(*library, g, a, b, c);
    else
      plainGemm(g, a, b, c);
  }
}

Status check(const Gemm &g) {
  constexpr int64_t kMax = int64_t(1) << 48;
  if (g.dtype != kCollF32 && g.dtype != kCollF64)
    return Status::invalid(std::string("element type ") + dtypeName(g.dtype) +
                           " is neither f32 nor f64");
  for (int64_t size : {g.m, g.n, g.k, g.batch})
    if (size < 0 || size > kMax)
      return Status::invalid("a size is " + std::to_string(size));
  if (g.m == 0 || g.n == 0 || g.batch == 0)
    return {};
  if (g.n > kMax / g.m)
    return Status::invalid("the product is too large");
  if (!g.c || (g.k > 0 && (!g.a || !g.b)))
    return Status::invalid("a matrix is null");
  if (g.lda < (g.transA ? g.m : g.k) || g.ldb < (g.transB ? g.k : g.n) || g.ldc < g.n)
    return Status::invalid("a row stride (" + std::to_string(g.lda) + ", " + std::to_string(g.ldb) +
                           ", " + std::to_string(g.ldc) + ") is shorter than its row");
  return {};
}

} // namespace

void prepareGemm() { dl::blas(); }

Status runGemm(const Gemm &gemm) {
  COLL_RETURN_IF_ERROR(check(gemm));
  if (gemm.m == 0 || gemm.n == 0)
    return {};
  if (gemm.dtype == kCollF32)
    runTyped<float>(gemm);
  else
    runTyped<double>(gemm);
  return {};
}

} // namespace coll::rt
