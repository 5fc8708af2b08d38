// What only GPU buffers of backend net can get wrong: operations under way at once share
// slots of staging memory, and must not starve each other.

#include "test/conformance/harness.h"

#include <gtest/gtest.h>

namespace coll::rt::test {

namespace {

constexpr int64_t kElems = 2 << 20; // more segments than a lane has under way at once

class GpuBuffers : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (std::string whyNot = whyNotHere(GetParam()); !whyNot.empty())
      GTEST_SKIP() << whyNot;
  }
};

// Starts `left` sums one after the other, then waits for them in the opposite order.
void sumMany(Member &m, int left) {
  if (left == 0)
    return;
  Elements data(kCollF32, kElems);
  for (int64_t i = 0; i < kElems; i += 101)
    data.set(i, sample(kCollF32, m.rank + left, i));
  Call call = makeCall(OpKind::AllReduce, kCollF32, kElems, data.data(), data.data());
  Result<Request *> request = m.start(call);
  sumMany(m, left - 1);
  Status outcome = request ? m.wait(*request) : request.status();
  ASSERT_TRUE(outcome.ok()) << outcome.toString();
  for (int64_t i = 0; i < kElems; i += 101)
    ASSERT_EQ(data.get(i), sample(kCollF32, left, i) + sample(kCollF32, 1 + left, i)) << i;
}

} // namespace

TEST_P(GpuBuffers, OperationsUnderWayAtOnceDoNotStarveEachOther) {
  runJob(GetParam(), oneGroup(2), [](Member &m) { sumMany(m, 6); });
}

INSTANTIATE_TEST_SUITE_P(fake, GpuBuffers,
                         testing::Values("net/tcp//fake/kernel", "net/tcp//fake/unpack",
                                         "net/tcp//fake/copy"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuBuffers,
                         testing::Values("net/tcp//gpu/kernel", "net/tcp//gpu/unpack",
                                         "net/tcp//gpu/copy"));

} // namespace coll::rt::test
