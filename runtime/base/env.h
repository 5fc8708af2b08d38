// env.h - the environment variables that the runtime reads.
//
// This is the one table of them; env.cc alone calls getenv. Values are read at each
// call, so tests may change them.

#ifndef COLL_RUNTIME_BASE_ENV_H
#define COLL_RUNTIME_BASE_ENV_H

#include <cstdint>
#include <string>
#include <vector>

namespace coll::rt {

enum class EnvVar {
  TimeoutUs,         // COLL_TIMEOUT_US
  Log,               // COLL_LOG
  FlightRecorderOps, // COLL_FLIGHT_RECORDER_OPS
  SpinUs,            // COLL_SPIN_US
};

struct EnvInfo {
  EnvVar var;
  const char *name;
  const char *defaultValue;
  const char *help;
};

// All variables, for documentation and `coll-info`.
const std::vector<EnvInfo> &envTable();

// The value, or the default where the variable is unset or empty.
std::string envString(EnvVar var);
// As a number >= 0; the default (with a logged warning) where it is none.
int64_t envInt(EnvVar var);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_ENV_H
