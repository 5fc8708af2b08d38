//===- place.h - this process among the processes of a job -------------*- C++ -*-===//

#ifndef COLL_DRIVER_PLACE_H
#define COLL_DRIVER_PLACE_H

#include "runtime/backend/backend.h"

#include <optional>
#include <string>

namespace coll::run {

/// The most ranks of backend net; kMaxRanks (compiler/target.h) of any.
inline constexpr int64_t kMaxNetRanks = 256;

/// Which rank this process is. Without `job` it runs all ranks itself.
struct Place {
  std::optional<rt::JobOptions> job;
  std::string launcher; // "coll-run", "mpirun", …; empty without a job
  int reportFd = -1;    // where the process that started this one reads errors
  std::string note;     // what the user may not expect of it; empty otherwise

  /// Whether this is the process that talks to the user and writes files.
  bool isRoot() const { return !job || job->rank == 0; }
};

} // namespace coll::run

#endif // COLL_DRIVER_PLACE_H
