// data.h - the ranks' data, and the expected results.
//
// Element i of a rank is a pseudo-random number that every rank can compute. The numbers are so
// small that integers and products stay in range.

#ifndef COLL_TOOLS_COLL_PERF_OP_DATA_H
#define COLL_TOOLS_COLL_PERF_OP_DATA_H

#include "runtime/kernels/root_update/root_update.h"
#include "tools/coll-perf/op/plan.h"

namespace coll::perf {

// The step of root_update that is checked; the state before it is 0. The values are large, so that
// errors are visible in bf16.
inline constexpr kernels::UpdateStep kFirstStep = {0.25f, 1, 1};

// Elements of a rank's buffers in one call.
struct Extent {
  int64_t src = 0, dst = 0;
};

class Reference {
public:
  Reference(const OpPlan &plan, int64_t count) : plan_(plan), count_(count) {}

  int64_t count() const { return count_; }
  rt::Call call() const; // without buffers; not for send_recv
  Extent extent(int rank) const;

private:
  const OpPlan &plan_;
  const int64_t count_;
};

// The data of one rank, produced a part at a time. Computed values are kept, because the data is
// periodic.
class Pattern {
public:
  Pattern(const OpPlan &plan, int rank);

  // Elements [first, first + count) of the rank's source.
  void fill(int64_t first, int64_t count, void *src);
  // For root_update: writes such a part of the parameters, which are the same on all ranks; the
  // second function is for a master copy.
  void fillParameters(int64_t first, int64_t count, void *parameters);
  static void parameters(const OpPlan &plan, int64_t first, std::vector<float> &values);
  // Returns the number of wrong elements in such a part of the result. Copies are compared byte by
  // byte. Sums of floats may differ by the rounding of each addition. Up to 4 Mi sums in the whole
  // result, all are checked; of more, a selection that is evenly spread.
  int64_t wrong(const Reference &reference, int64_t first, int64_t count, const void *dst);

private:
  struct Sum {
    double value = 0, tolerance = 0;
  };

  double given(int rank, int64_t i) const;
  Sum combine(int64_t i) const;
  Sum update(int64_t i) const;
  const char *periodOf(int rank);
  void copyGiven(int rank, int64_t first, int64_t count, void *to);
  // Calls body(place in the period, place in the part, elements) for each run of elements.
  template <typename Body>
  static void eachRun(int64_t first, int64_t count, Body &&body);
  // `offset`: position of the result among all sums.
  int64_t wrongSums(int64_t offset, int64_t first, int64_t count, int64_t total, const char *dst);
  int64_t wrongCopies(int source, int64_t first, int64_t count, const char *dst);

  const OpPlan &plan_;
  const int rank_;
  std::vector<std::vector<char>> given_; // by rank, one period each; made when needed
  std::vector<Sum> sums_; // one period; made when needed. For root_update: parameters
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_DATA_H
