// cublaslt.h - a cuBLASLt for tests, over a fake driver: its products run on the fake's streams.
//
// Two algorithms are proposed for each product. They differ only in a number, and refuse operands
// whose alignment is less than that for which they were proposed. Sums are formed in f64 and
// rounded once. Only one FakeCublasLt at a time in a process, within the life of a FakeCuda.

#ifndef COLL_TEST_SUPPORT_FAKES_CUBLASLT_H
#define COLL_TEST_SUPPORT_FAKES_CUBLASLT_H

#include "runtime/dl/cublaslt.h"

#include <cstdint>
#include <string>

namespace coll::rt::dl {

class FakeCublasLt {
public:
  FakeCublasLt();
  ~FakeCublasLt();
  FakeCublasLt(const FakeCublasLt &) = delete;
  FakeCublasLt &operator=(const FakeCublasLt &) = delete;

  const CublasLt &table() const;
  // The next call of the function with this member name of CublasLt fails.
  void failNext(const std::string &function, LtResult result);
  int64_t calls(const std::string &function) const;
  // The number of handles, descriptions, layouts and preferences that were made and not destroyed.
  int64_t liveObjects() const;

private:
  friend struct FakeLtFunctions;
};

} // namespace coll::rt::dl

#endif // COLL_TEST_SUPPORT_FAKES_CUBLASLT_H
