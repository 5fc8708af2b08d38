// data.h - what the ranks give, and what they should get.
//
// Element i of a rank is a pseudo-random number that anyone can compute, small enough that
// integers and products stay in range.

#ifndef COLL_TOOLS_COLL_PERF_OP_DATA_H
#define COLL_TOOLS_COLL_PERF_OP_DATA_H

#include "tools/coll-perf/op/plan.h"

namespace coll::perf {

// Elements of a rank's buffers in one call.
struct Extent {
  int64_t src = 0, dst = 0;
};

class Reference {
public:
  Reference(const OpPlan &plan, int64_t count) : plan_(plan), count_(count) {}

  rt::Call call() const; // without buffers; not for send_recv
  Extent extent(int rank) const;
  void fill(int rank, void *src) const;
  // How many elements of the rank's result are wrong: floats may differ by what rounding
  // each sum does. All are looked at up to 4 Mi elements, evenly spread ones beyond.
  int64_t wrong(int rank, const void *dst) const;

private:
  double given(int rank, int64_t i) const;
  // The result's element, and by how much it may differ.
  double expected(int rank, int64_t i, double &tolerance) const;
  double combined(int64_t i, double &tolerance) const;

  const OpPlan &plan_;
  const int64_t count_;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_DATA_H
