// Matrix products when the address space has no room for the buffers of the matrix library:
// OpenBLAS retries forever to map one, so runGemm() must prevent that.

#include "runtime/base/machine.h"
#include "runtime/dl/blas.h"
#include "runtime/step/abi/gemm.h"
#include "runtime/step/crew.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace coll::rt {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasShadow = true; // which needs all of the address space
#else
constexpr bool kHasShadow = false;
#endif

constexpr int kThreads = 4;
constexpr int64_t kSize = 160; // long enough for several at a time

// Limits the process to so much more address space.
void leave(int64_t bytes) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto limit = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
  const rlimit space = {limit, limit};
  if (setrlimit(RLIMIT_AS, &space) != 0)
    std::_Exit(3);
}

// A product of matrices of ones; every element of the result is kSize.
Status product() {
  std::vector<float> a(kSize * kSize, 1), c(kSize * kSize);
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = gemm.lda = gemm.ldb = gemm.ldc = kSize;
  gemm.a = gemm.b = a.data();
  gemm.c = c.data();
  Status status = runGemm(gemm);
  if (status.ok() && std::any_of(c.begin(), c.end(), [](float x) { return x != kSize; }))
    return Status::internal("a wrong product");
  return status;
}

// Ends this process: with 0 if every thread has computed its products, with 1 after the first
// failure.
[[noreturn]] void multiplyWithin(int64_t bytes) {
  alarm(30); // instead of for ever
  auto crew = Crew::create(kThreads).take();
  std::vector<std::vector<char>> kept(kThreads);
  crew->run([&](int i) { kept[static_cast<size_t>(i)].resize(1000); }); // so each has its arena
  prepareGemm();
  leave(bytes);
  reserveGemm(kThreads);
  reserveGemm(kThreads); // as a second executor of the process does
  std::vector<Status> outcomes(kThreads);
  crew->run([&](int i) {
    Status &outcome = outcomes[static_cast<size_t>(i)];
    for (int round = 0; round < 200 && outcome.ok(); ++round)
      outcome = product();
  });
  for (const Status &outcome : outcomes)
    if (!outcome.ok()) {
      std::fprintf(stderr, "%s\n", outcome.toString().c_str());
      std::_Exit(1);
    }
  std::_Exit(0);
}

class GemmSpaceTest : public testing::Test {
protected:
  void SetUp() override {
    if (kHasShadow)
      GTEST_SKIP() << "a sanitizer needs all of the address space";
    if (!dl::blas())
      GTEST_SKIP() << "there is no matrix library";
    unsetenv("OPENBLAS_CORETYPE"); // the kernels are those of this processor
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(GemmSpaceTest, ProductsFailWhereNoBufferFits) {
  EXPECT_EXIT(
      multiplyWithin(100 << 20), testing::ExitedWithCode(1),
      "device failure: the matrix library needs 128 MiB of address space for each rank, and "
      ".* MiB are left; raise ulimit -v");
}

TEST_F(GemmSpaceTest, ThreadsTakeTurnsWhereSomeBuffersFit) {
  EXPECT_EXIT(multiplyWithin(320 << 20), testing::ExitedWithCode(0),
              "products of 4 ranks take turns, 2 at a time");
}

TEST_F(GemmSpaceTest, OneBufferServesAllThreadsInTurn) {
  EXPECT_EXIT(multiplyWithin(200 << 20), testing::ExitedWithCode(0),
              "products of 4 ranks take turns, 1 at a time");
}

TEST_F(GemmSpaceTest, ThreadsDoNotTakeTurnsWhereAllBuffersFit) {
  EXPECT_EXIT(multiplyWithin(700 << 20), testing::ExitedWithCode(0), "^$");
}

} // namespace
} // namespace coll::rt
