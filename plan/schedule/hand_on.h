// hand_on.h - simulation of ranks that send what a backward pass makes before it ends.
//
// The papers' schedules hand gradients on at the end of a whole backward pass, and so does
// simulate(). Compiled stages send the gradients that other stages wait for first, and compute
// those of their weights behind them: they are idle for less time.

#ifndef COLL_PLAN_SCHEDULE_HAND_ON_H
#define COLL_PLAN_SCHEDULE_HAND_ON_H

#include "plan/schedule/simulate.h"

namespace coll::plan {

// As simulate().
std::optional<Timeline> simulateCompiled(const Schedule &schedule,
                                         const std::vector<WorkTimes> &times);

} // namespace coll::plan

#endif // COLL_PLAN_SCHEDULE_HAND_ON_H
