// hand_on.h - simulates ranks that send gradients before the backward pass has ended.
//
// The papers' schedules, and simulate(), send gradients at the end of a whole backward pass.
// Compiled stages first compute and send the gradients that other stages wait for, then compute
// those of their weights, and so are idle for less time.

#ifndef COLL_PLAN_SCHEDULE_HAND_ON_H
#define COLL_PLAN_SCHEDULE_HAND_ON_H

#include "plan/schedule/simulate.h"

namespace coll::plan {

// As simulate().
std::optional<Timeline> simulateCompiled(const Schedule &schedule,
                                         const std::vector<WorkTimes> &times);

} // namespace coll::plan

#endif // COLL_PLAN_SCHEDULE_HAND_ON_H
