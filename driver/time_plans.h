//===- time_plans.h - plans of a search, measured ------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_TIME_PLANS_H
#define COLL_DRIVER_TIME_PLANS_H

#include "compiler/step_compiler.h"
#include "runtime/step/executor.h"

namespace coll::run {

/// The target that compiles to a plan that a search for `target` has found.
Target applyPlan(Target target, const PlanCandidate &plan);

/// Runs the first `count` plans that a search for `target` has found by turns, each for a fraction
/// of a second on made-up state and batches, and returns the median microseconds of their steps; 0
/// for a plan that does not compile or run. Plans beyond the search's memory limit are left out.
/// Ranks are threads of this process, and one plan takes its memory at a time.
std::vector<double> timePlans(const StepFile &file, const Target &target, const PlanSearch &search,
                              size_t count, const rt::ExecutorOptions &execution);

} // namespace coll::run

#endif // COLL_DRIVER_TIME_PLANS_H
