// harness.h - what the conformance tests share: jobs of several ranks, test data,
// and the suites that every backend joins.
//
// A backend joins with one file that has one line: COLL_CONFORMANCE(name). A backend with variants
// adds COLL_CONFORMANCE_AS(label, "name/transport/algorithm/memory/path") for each; parts that are
// left out have their defaults.

#ifndef COLL_TEST_CONFORMANCE_HARNESS_H
#define COLL_TEST_CONFORMANCE_HARNESS_H

#include "runtime/backend/backend.h"
#include "test/conformance/gpu_memory.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace coll::rt::test {

// The ranks of a job, and how they are grouped. Every rank is in one group.
struct Layout {
  int ranks;
  std::vector<std::vector<int>> groups;
};

// Where the ranks of a job wait for each other by other means than what is tested.
class Meeting {
public:
  explicit Meeting(int ranks) : missing_(ranks), ranks_(ranks) {}
  // Returns when all have come that did not leave.
  void arrive();
  void leave();

private:
  void end();

  std::mutex mutex_;
  std::condition_variable changed_;
  int missing_, ranks_;
  int64_t meetings_ = 0;
};

// One rank of a job, and its group.
struct Member {
  Endpoint &endpoint;
  Communicator &group;
  int rank;
  int n;        // size of the group
  int position; // in the group

  int rankAt(int i) const { return group.ranks()[static_cast<size_t>(i)]; }
  // Makes the call blocking, or starts it and waits, depending on `async`.
  Status call(const Call &call);
  bool async = false;

  // Like the group's and the endpoint's functions, but on GPU memory if the backend's variant says
  // so.
  Status run(const Call &call) { return run(group, call); }
  Result<Request *> start(const Call &call) { return start(group, call); }
  Status run(Communicator &group, const Call &call);
  Result<Request *> start(Communicator &group, const Call &call);
  Status wait(Request *request);

  // Waits until all ranks of the job have come here, and frees what was staged for their calls,
  // which have to be over.
  void settle();

  GpuMemory *gpu = nullptr; // null: host memory
  Meeting *meeting = nullptr;
  std::map<Request *, std::unique_ptr<StagedCall>> staged = {};
  // Kept until the rank has left: freeing GPU memory waits until the GPU is idle, which may need
  // calls that this rank has yet to make.
  std::vector<std::unique_ptr<StagedCall>> spent = {};
};

inline constexpr int64_t kPatientUs = 120'000'000;

// Runs `body` on every rank of the layout concurrently, and returns when all have returned.
// `backend` is a name, or "name/transport/algorithm/memory/path": memory is empty or a kind of
// GpuMemory, path is a path of GPU memory, or "compress"; with "scattered-" before a path, data may
// arrive out of place. Skips the test if there is no such memory.
void runJob(const std::string &backend, const Layout &layout,
            const std::function<void(Member &)> &body, int64_t timeoutUs = kPatientUs);

// The layouts of `most` ranks or fewer on which every collective is tested, and element counts.
std::vector<Layout> layouts(int most);
const std::vector<int64_t> &counts();
// Returns true if the pair is to be tested: the large count is tested only with five ranks, or with
// as many as possible.
bool isTested(const Layout &layout, int64_t count, int most);
Layout oneGroup(int ranks);

// Elements of a type in memory, which are written and read as double. Integers up to 2^53.
class Elements {
public:
  Elements(CollDtype dtype, int64_t count);
  // Elements whose values are `value(i)`, which repeats itself after kPeriod elements.
  template <typename Value>
  static Elements repeated(CollDtype dtype, int64_t count, Value value) {
    Elements all(dtype, count);
    for (int64_t i = 0; i < std::min(count, kPeriod); ++i)
      all.set(i, value(i));
    all.repeat();
    return all;
  }
  // As sample(): number `from` of the rank and those that follow.
  static Elements samples(CollDtype dtype, int rank, int64_t from, int64_t count);

  void set(int64_t i, double value);
  double get(int64_t i) const;
  void copyFrom(const Elements &other) {
    std::copy(other.bytes_.begin(), other.bytes_.end(), bytes_.begin());
  }
  int64_t count() const { return count_; }
  void *data() { return bytes_.data(); }

  static constexpr int64_t kPeriod = 13 * 23;

  // Whether the elements from `at` on have the values of all of `expected`; says which one differs.
  testing::AssertionResult has(int64_t at, const Elements &expected) const;

private:
  void repeat();

  CollDtype dtype_;
  int64_t count_;
  std::vector<char> bytes_;
};

// A small number that every type represents exactly, different for most (rank, i). It is the same
// for i and i + Elements::kPeriod.
double sample(CollDtype dtype, int rank, int64_t i);
// The value of a number in the type: rounded, wrapped, or 0 and 1.
double rounded(CollDtype dtype, double value);

Call makeCall(OpKind kind, CollDtype dtype, int64_t count, void *src, void *dst);

// The parameters are the backend's name and what the suite varies in one job for each layout: to
// make a job takes longer than most calls.
using TypedReduction = std::pair<CollDtype, CollReduction>;
// Returns why a backend cannot be tested on this machine; empty if it can.
std::string whyNotHere(const std::string &backend);
// The largest number of ranks that it supports here: with nccl each rank needs its own GPU.
// runJob() with more ranks skips the test; a test that does anything else must first check with
// COLL_NEEDS_RANKS.
int mostRanks(const std::string &backend);

// Returns true if it supports calls with `order = rank`.
bool takesOrders(const std::string &backend);

// Returns true if it supports floats of fewer than 32 bits.
bool takesNarrowFloats(const std::string &backend);

// Returns true if its errors show the place of each call in the program. A plugin shows what its
// author chose.
bool showsCalls(const std::string &backend);

#define COLL_NEEDS_RANKS(ranks)                                                                    \
  if (mostRanks(GetParam()) < (ranks))                                                             \
  GTEST_SKIP() << "needs " << (ranks) << " GPUs"

template <typename Param>
class BackendTest : public testing::TestWithParam<Param> {
protected:
  void SetUp() override {
    std::string backend;
    if constexpr (std::is_same_v<Param, std::string>)
      backend = this->GetParam();
    else
      backend = std::get<0>(this->GetParam());
    if (std::string why = whyNotHere(backend); !why.empty())
      GTEST_SKIP() << why;
  }
};

class Reductions : public BackendTest<std::tuple<std::string, std::vector<TypedReduction>>> {};
class Arithmetic : public BackendTest<std::string> {};
class Movements : public BackendTest<std::tuple<std::string, std::vector<CollDtype>>> {};
class Transfers : public BackendTest<std::string> {};
class Asynchrony : public BackendTest<std::string> {};
class Failures : public BackendTest<std::string> {};
// Supports host memory only, so it is instantiated where it is tested (tokens_test.cc).
class Tokens : public BackendTest<std::string> {};

std::vector<CollDtype> movedDtypes();
// Every type with every reduction that it supports.
std::vector<TypedReduction> allReductions();
// One combination of each kind of arithmetic.
std::vector<TypedReduction> someReductions();

// What moves data, of these types.
#define COLL_CONFORMANCE_IN(label, backend, reductions, dtypes)                                    \
  INSTANTIATE_TEST_SUITE_P(label, Reductions,                                                      \
                           testing::Values(std::tuple(std::string(backend), reductions)));         \
  INSTANTIATE_TEST_SUITE_P(label, Movements,                                                       \
                           testing::Values(std::tuple(std::string(backend), dtypes)))

// What does not depend on types.
#define COLL_CONFORMANCE_OF_CALLS(label, backend)                                                  \
  INSTANTIATE_TEST_SUITE_P(label, Transfers, testing::Values(backend));                            \
  INSTANTIATE_TEST_SUITE_P(label, Asynchrony, testing::Values(backend));                           \
  INSTANTIATE_TEST_SUITE_P(label, Failures, testing::Values(backend))

#define COLL_CONFORMANCE_AS(label, backend)                                                        \
  namespace coll::rt::test {                                                                       \
  COLL_CONFORMANCE_IN(label, backend, allReductions(), movedDtypes());                             \
  INSTANTIATE_TEST_SUITE_P(label, Arithmetic, testing::Values(backend));                           \
  COLL_CONFORMANCE_OF_CALLS(label, backend);                                                       \
  }                                                                                                \
  static_assert(true, "")

// For a variant that differs only in its algorithms: what depends on them, for a few types.
#define COLL_CONFORMANCE_OF_DATA(label, backend)                                                   \
  namespace coll::rt::test {                                                                       \
  COLL_CONFORMANCE_IN(label, backend, someReductions(), std::vector{kCollI16});                    \
  INSTANTIATE_TEST_SUITE_P(label, Arithmetic, testing::Values(backend));                           \
  }                                                                                                \
  static_assert(true, "")

#define COLL_CONFORMANCE_OF_TRANSFERS(label, backend)                                              \
  namespace coll::rt::test {                                                                       \
  INSTANTIATE_TEST_SUITE_P(label, Transfers, testing::Values(backend));                            \
  }                                                                                                \
  static_assert(true, "")

#define COLL_CONFORMANCE(backend) COLL_CONFORMANCE_AS(backend, #backend)

} // namespace coll::rt::test

#endif // COLL_TEST_CONFORMANCE_HARNESS_H
