#include "runtime/step/abi/gemm.h"

#include "runtime/base/dtype.h"
#include "runtime/base/log.h"
#include "runtime/base/machine.h"
#include "runtime/dl/blas.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <vector>

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

// Limits the number of threads that may be in the matrix library at once; it may be 0, with a
// reason.
class Turns {
public:
  void limit(int most, Status refusal = {}) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_ = most;
    refusal_ = std::move(refusal);
    isLimited_.store(true, std::memory_order_release);
  }
  void setUnlimited() { isLimited_.store(false, std::memory_order_release); }
  // Blocks until it is the caller's turn. end() ends the turn.
  Status begin() {
    if (!isLimited_.load(std::memory_order_acquire))
      return {};
    std::unique_lock<std::mutex> lock(mutex_);
    COLL_RETURN_IF_ERROR(refusal_);
    changed_.wait(lock, [&] { return free_ > 0; });
    --free_;
    return {};
  }
  void end() {
    if (!isLimited_.load(std::memory_order_acquire))
      return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++free_;
    }
    changed_.notify_one();
  }

private:
  std::atomic<bool> isLimited_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_ = 0;
  Status refusal_;
};

Turns &turnsOf(const dl::Blas &blas) {
  static Turns turns;
  static const bool isSet = [&] {
    if (!blas.concurrent)
      turns.limit(1);
    return true;
  }();
  (void)isSet;
  return turns;
}

template <typename T>
void libraryGemm(const dl::Blas &blas, const Gemm &g, const T *a, const T *b, T *c) {
  int transA = g.transA ? dl::Blas::kTrans : dl::Blas::kNoTrans;
  int transB = g.transB ? dl::Blas::kTrans : dl::Blas::kNoTrans;
  int m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
  int lda = static_cast<int>(g.lda), ldb = static_cast<int>(g.ldb);
  int ldc = static_cast<int>(g.ldc);
  T beta = g.accumulate ? T(1) : T(0);
  if constexpr (sizeof(T) == sizeof(float))
    blas.sgemm(dl::Blas::kRowMajor, transA, transB, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
  else
    blas.dgemm(dl::Blas::kRowMajor, transA, transB, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
}

// OpenBLAS uses its kernels for small matrices where B is not transposed, up to a million
// multiplications; where it is, only if the sums are long and C is small. Else each call takes a
// buffer under a lock, for which the threads of several ranks wait: 9 x 9 x 16 then take 0.9 us
// on two threads (EPYC with AVX-512), and 0.11 us with B transposed here.
constexpr int64_t kLibrarySmall = 1000000, kShortSum = 32, kSmallResult = 1200;
constexpr int64_t kMostTransposed = 4096; // elements, on the stack
constexpr int64_t kFewRows = 8;           // to transpose B costs more than it saves

bool transposesB(const dl::Blas &blas, const Gemm &g) {
  return blas.hasSmallKernels && g.transB && !g.transA && g.m >= kFewRows &&
         g.k <= kMostTransposed / g.n && g.m * g.n <= kLibrarySmall / g.k &&
         (g.k < kShortSum || g.m * g.n > kSmallResult);
}

template <typename T>
void transposedGemm(const dl::Blas &blas, Gemm g, const T *a, const T *b, T *c) {
  T columns[kMostTransposed];
  for (int64_t p = 0; p < g.k; ++p)
    for (int64_t j = 0; j < g.n; ++j)
      columns[p * g.n + j] = b[j * g.ldb + p];
  g.transB = false;
  g.ldb = g.n;
  libraryGemm(blas, g, a, columns, c);
}

bool fitsLibrary(const Gemm &g) {
  constexpr int64_t kMax = std::numeric_limits<int>::max();
  return std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc}) <= kMax;
}

template <typename T>
Status runTyped(const Gemm &g) {
  bool small = g.k == 0 || g.m * g.n <= kSmall / g.k || !fitsLibrary(g);
  const dl::Blas *library = small ? nullptr : dl::blas();
  const bool transposes = library && transposesB(*library, g);
  if (library)
    COLL_RETURN_IF_ERROR(turnsOf(*library).begin());
  for (int64_t i = 0; i < g.batch; ++i) {
    const T *a = static_cast<const T *>(g.a) + i * g.strideA;
    const T *b = static_cast<const T *>(g.b) + i * g.strideB;
    T *c = static_cast<T *>(g.c) + i * g.strideC;
    if (transposes)
      transposedGemm(*library, g, a, b, c);
    else if (library)
      libraryGemm(*library, g, a, b, c);
    else
      plainGemm(g, a, b, c);
  }
  if (library)
    turnsOf(*library).end();
  return {};
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

// The buffer of a thread in OpenBLAS for x86-64 and Arm, and the address space that must remain for
// stacks and for memory that operations allocate.
constexpr int64_t kBufferBytes = int64_t{128} << 20;
constexpr int64_t kReserveBytes = int64_t{32} << 20;

// Runs one product that maps a buffer: some processors have kernels for small matrices that map
// none.
void warmUp(const dl::Blas &blas) {
  constexpr int64_t kSize = 256;
  const std::vector<float> a(kSize * kSize, 1);
  std::vector<float> c(kSize * kSize);
  Gemm product;
  product.m = product.n = product.k = product.lda = product.ldb = product.ldc = kSize;
  libraryGemm(blas, product, a.data(), a.data(), c.data());
}

std::string inMiB(int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// "the matrix library needs …; raise …"
std::string shortage(int64_t left) {
  return "the matrix library needs " + inMiB(kBufferBytes) +
         " of address space for each rank, and " + inMiB(left) +
         " are left; raise ulimit -v and -d, or set COLL_BLAS=none to use built-in loops";
}

} // namespace

void prepareGemm() { dl::blas(); }

void reserveGemm(int numThreads) {
  const dl::Blas *library = dl::blas();
  if (!library)
    return;
  const int most = library->concurrent ? numThreads : 1;
  int64_t left = addressSpaceLeft();
  if (left == INT64_MAX)
    return most < numThreads ? turnsOf(*library).limit(most) : turnsOf(*library).setUnlimited();
  static bool isWarm = false; // a buffer is mapped
  if (!isWarm && left < kBufferBytes + kReserveBytes)
    return turnsOf(*library).limit(0, {kCollDevice, shortage(left)});
  if (!isWarm)
    warmUp(*library);
  isWarm = true;
  left = addressSpaceLeft();
  const int64_t others = std::max<int64_t>(left - kReserveBytes, 0) / kBufferBytes;
  const int fit = static_cast<int>(std::min<int64_t>(1 + others, most));
  if (fit < most)
    log(LogLevel::Warn, "products of " + std::to_string(numThreads) + " ranks take turns, " +
                            std::to_string(fit) + " at a time: " + shortage(left));
  turnsOf(*library).limit(fit);
}

Status runGemm(const Gemm &gemm) {
  COLL_RETURN_IF_ERROR(check(gemm));
  if (gemm.m == 0 || gemm.n == 0)
    return {};
  return gemm.dtype == kCollF32 ? runTyped<float>(gemm) : runTyped<double>(gemm);
}

} // namespace coll::rt
