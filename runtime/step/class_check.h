// class_check.h - checks that the programs of several rank classes form one job.

#ifndef COLL_RUNTIME_STEP_CLASS_CHECK_H
#define COLL_RUNTIME_STEP_CLASS_CHECK_H

#include "runtime/base/status.h"
#include "runtime/program/program.h"

#include <vector>

namespace coll::rt {

// The class of each rank 0 … N-1. Fails unless the classes have one mesh, the same
// arguments and results, all or none an @init, and together every rank once.
Result<std::vector<int>> checkClasses(const std::vector<Program> &classes);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_CLASS_CHECK_H
