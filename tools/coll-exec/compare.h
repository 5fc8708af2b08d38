// compare.h - the outcome of a run, and whether two outcomes agree.

#ifndef COLL_TOOLS_COLL_EXEC_COMPARE_H
#define COLL_TOOLS_COLL_EXEC_COMPARE_H

#include "runtime/program/host_tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace coll::exec {

struct Outcome {
  std::vector<rt::HostTensor> state; // after the last step
  std::vector<std::string> names;    // of the state
  // Of each step: the results that update no state.
  std::vector<std::vector<rt::HostTensor>> results;
  std::vector<double> seconds; // by step
};

// One element; 64-bit integers are rounded.
double element(const rt::HostTensor &tensor, int64_t index);

// Prints a line for each tensor that differs by more than `rtol` (absent: by its type) times the
// largest value of `expected`, then how many do not. Returns whether all are within it.
bool compare(const Outcome &got, const Outcome &expected, std::optional<double> rtol);

} // namespace coll::exec

#endif // COLL_TOOLS_COLL_EXEC_COMPARE_H
