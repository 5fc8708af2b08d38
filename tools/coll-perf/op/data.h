// data.h - what the ranks give, and what they should get.
//
// Element i of a rank is a pseudo-random number that anyone can compute, small enough that
// integers and products stay in range.

#ifndef COLL_TOOLS_COLL_PERF_OP_DATA_H
#define COLL_TOOLS_COLL_PERF_OP_DATA_H

#include "runtime/kernels/root_update/root_update.h"
#include "tools/coll-perf/op/plan.h"

namespace coll::perf {

// Of root_update: what is checked, with state that is 0. Large, so that bf16 shows it.
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

// The data of one rank, a part at a time. What is computed is kept: it repeats itself.
class Pattern {
public:
  Pattern(const OpPlan &plan, int rank);

  // Elements [first, first + count) of the rank's source.
  void fill(int64_t first, int64_t count, void *src);
  // Of root_update: such a part of the parameters, alike on all ranks; the second for a master
  // copy.
  void fillParameters(int64_t first, int64_t count, void *parameters);
  static void parameters(const OpPlan &plan, int64_t first, std::vector<float> &values);
  // How many elements of such a part of its result are wrong. Copies are compared byte by byte;
  // sums of floats may differ by what rounding each does, and of sums, all are looked at up to
  // 4 Mi in the whole result, evenly spread ones beyond.
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
  // body(place in the period, place in the part, elements) for each stretch of the part.
  template <typename Body>
  static void eachRun(int64_t first, int64_t count, Body &&body);
  // `offset`: of the result among all sums.
  int64_t wrongSums(int64_t offset, int64_t first, int64_t count, int64_t total, const char *dst);
  int64_t wrongCopies(int source, int64_t first, int64_t count, const char *dst);

  const OpPlan &plan_;
  const int rank_;
  std::vector<std::vector<char>> given_; // by rank, one period of each; made when needed
  std::vector<Sum> sums_;                // one period; likewise. Of root_update: parameters
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_DATA_H
