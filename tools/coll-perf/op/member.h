// member.h - one rank that measures.

#ifndef COLL_TOOLS_COLL_PERF_OP_MEMBER_H
#define COLL_TOOLS_COLL_PERF_OP_MEMBER_H

#include "tools/coll-perf/op/buffers.h"
#include "tools/coll-perf/op/data.h"
#include "tools/coll-perf/op/optimizer_step.h"

#include <functional>

namespace coll::perf {

// One rank's result of one task.
struct Seen {
  double us = 0;      // for one operation
  int64_t wrong = -1; // elements; -1: not checked
};

// Called from time to time with what a rank is doing; the name of a stage is a literal.
using Progress = std::function<void(const char *stage)>;

class Member {
public:
  // Blocks until all ranks have made their members. The endpoint must outlive the member.
  static Result<std::unique_ptr<Member>> create(const OpPlan &plan, const Side &side,
                                                rt::Endpoint &endpoint, int rank);

  // All ranks measure the same task together. kCollUnsupported if the side does not support the
  // timing. `progress` is called at least every few operations.
  Result<Seen> measure(const Task &task, const Progress &progress);

private:
  Member(const OpPlan &plan, const Side &side, rt::Endpoint &endpoint, int rank)
      : plan_(plan), side_(side), endpoint_(endpoint), rank_(rank), pattern_(plan, rank) {}

  // Makes one operation, on the stream if `streamed`.
  Status once(const Reference &reference, Placement place, bool streamed);
  Status sendRecv(const rt::Call &call);
  Status step(Placement place, bool streamed);
  Status check(const Reference &reference, Placement place, const Progress &progress, Seen &seen);
  Status compare(const Reference &reference, Placement place, const Progress &progress, Seen &seen);
  Status spoil(const Reference &reference, Placement place, const Progress &progress);
  Status meet();
  Status synchronize();
  Result<double> eager(const Reference &reference, Placement place, const Progress &progress);
  Result<double> graph(const Reference &reference, Placement place, const Progress &progress);
  Result<double> latency(const Reference &reference, Placement place, const Progress &progress);

  const OpPlan &plan_;
  const Side side_;
  rt::Endpoint &endpoint_;
  const int rank_;
  Pattern pattern_;
  std::unique_ptr<rt::Communicator> group_;
  std::unique_ptr<OptimizerStep> step_; // of root_update
  std::unique_ptr<Buffers> buffers_;    // last: may be registered with the group
  bool streams_ = false;                // the backend works on streams
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_MEMBER_H
