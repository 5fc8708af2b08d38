// fixtures.h - programs and executors for the runtime's tests, without a compiler.

#ifndef COLL_TEST_RUNTIME_FIXTURES_H
#define COLL_TEST_RUNTIME_FIXTURES_H

#include "runtime/step/executor.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace coll::rt::test {

// Descriptor text of a program on `ranks` ranks of one axis "dp". The state is one
// f32[4] "w"; the batch one f32[8] "x", split over the ranks; the results are the
// state and a scalar "loss". Groups: 0 is all ranks. Operations: see `ops`.
std::string defaultOps();
std::string descriptorText(int ranks, const std::string &ops = defaultOps());
std::string descriptorText(int ranks, int firstRank, int lastRank, const std::string &ops);

HostTensor floats(std::vector<int64_t> shape, std::vector<float> values);
std::vector<float> values(const HostTensor &tensor);

// Returns an executor with one class of ranks; on an error the test fails.
std::unique_ptr<Executor> makeExecutor(int ranks, CollEntry step, CollEntry init = nullptr,
                                       ExecutorOptions options = {});

// Returns true if the status's message contains the text.
inline bool contains(const Status &status, const std::string &text) {
  return status.message().find(text) != std::string::npos;
}

} // namespace coll::rt::test

#endif // COLL_TEST_RUNTIME_FIXTURES_H
