// reshard_cases.h - random reshards, and the content of their buffers before and after, computed
// element by element without a plan.

#ifndef COLL_TEST_EXCHANGE_RESHARD_CASES_H
#define COLL_TEST_EXCHANGE_RESHARD_CASES_H

#include "runtime/exchange/reshard_plan.h"

#include <random>
#include <string>
#include <vector>

namespace coll::rt::exchange::test {

using Random = std::mt19937_64;
// Returns a number from 0 to bound - 1; 0 if bound is 0.
int64_t below(Random &random, int64_t bound);

struct CaseLimits {
  int64_t elems = 2000;     // of the tensor, at most
  int ranks = 4;            // of a side
  bool alignedRows = false; // innermost extents that 16-byte accesses like, now and then
};
// The sides tile the tensor unevenly, by a mesh with padding and replicas, or overlap; ranks are on
// one side or both; buffers are dense, have gaps, or have permuted dimensions.
ReshardSpec randomSpec(Random &random, const CaseLimits &limits = {});
std::string describe(const ReshardSpec &spec);

using Bytes = std::vector<char>;
inline constexpr char kUntouched = 0x5e;

// A sender's buffer; bytes between elements are junk.
Bytes sourceOf(const ReshardSpec &spec, size_t sender, int64_t bytes);
// The expected content of a receiver's buffer that was full of kUntouched.
Bytes expectedOf(const ReshardSpec &spec, size_t receiver, int64_t bytes);

} // namespace coll::rt::exchange::test

#endif // COLL_TEST_EXCHANGE_RESHARD_CASES_H
