// optimizer_step.h - one rank's part of coll-perf root_update: an optimizer's step, fused with its
// communication or done after it.

#ifndef COLL_TOOLS_COLL_PERF_OP_OPTIMIZER_STEP_H
#define COLL_TOOLS_COLL_PERF_OP_OPTIMIZER_STEP_H

#include "tools/coll-perf/op/data.h"

#include <memory>

namespace coll::perf {

class OptimizerStep {
public:
  // Creates the first step of `count` parameters, which are those of the pattern. All ranks create
  // one, without waiting for each other. kCollUnsupported: the side cannot do it.
  static Result<std::unique_ptr<OptimizerStep>> create(const OpPlan &plan, const Side &side,
                                                       rt::Endpoint &endpoint,
                                                       rt::Communicator &group, int gpu,
                                                       int64_t count);
  virtual ~OptimizerStep() = default;
  virtual Status run(const void *gradients, void *parameters, void *stream) = 0;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_OPTIMIZER_STEP_H
