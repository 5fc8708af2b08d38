// class_check.h - checks that the programs of several rank classes form one job.

#ifndef COLL_RUNTIME_STEP_CLASS_CHECK_H
#define COLL_RUNTIME_STEP_CLASS_CHECK_H

#include "runtime/base/status.h"
#include "runtime/program/program.h"

#include <vector>

namespace coll::rt {

struct Job {
  std::vector<int> classOfRank;
  // The arguments and results of all classes, by their numbers; the other fields are those of the
  // first class.
  Descriptor signature;
};

// Fails unless all classes have the same mesh, all or none have an @init, each rank is in exactly
// one class, and the classes agree in the arguments and results that several of them have. A class
// may lack arguments and results of the step (TensorInfo::index).
Result<Job> checkClasses(const std::vector<Program> &classes);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_CLASS_CHECK_H
