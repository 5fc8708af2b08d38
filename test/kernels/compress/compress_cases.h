// compress_cases.h - data of several kinds for the tests of compressed messages.

#ifndef COLL_TEST_KERNELS_COMPRESS_CASES_H
#define COLL_TEST_KERNELS_COMPRESS_CASES_H

#include <cstdint>
#include <random>
#include <vector>

namespace coll::kernels::test {

struct CompressCase {
  const char *name;
  void (*fill)(std::mt19937 &random, std::vector<uint8_t> &bytes);
  // The bytes of a long message divided by those of the buffer, to within 0.005.
  double ratio;
};

const std::vector<CompressCase> &compressCases();

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_COMPRESS_CASES_H
