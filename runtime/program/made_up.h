// made_up.h - generated inputs for a step that comes without any: the same on every machine.

#ifndef COLL_RUNTIME_PROGRAM_MADE_UP_H
#define COLL_RUNTIME_PROGRAM_MADE_UP_H

#include "runtime/program/host_tensor.h"
#include "runtime/program/program.h"

#include <cstdint>
#include <vector>

namespace coll::rt {

// A small generator (splitmix64, public domain, by S. Vigna), the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // Uniform in [0, bound), bound > 0.
  uint64_t below(uint64_t bound);
  // Uniform in [0, 1).
  double uniform();

private:
  uint64_t state_;
};

// Global tensors: floats in [0, 0.1), so that second moments are valid, and integers 0.
std::vector<HostTensor> makeUpState(const std::vector<TensorInfo> &state, uint64_t seed);

// Global tensors of step number `step`: floats in [-1, 1), integers from 0 to 7.
std::vector<HostTensor> makeUpBatch(const std::vector<TensorInfo> &batch, int64_t step,
                                    uint64_t seed);

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_MADE_UP_H
