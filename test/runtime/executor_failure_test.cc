// What an executor does when a rank's program misbehaves.

#include "runtime/step/failure_report.h"
#include "test/runtime/fixtures.h"

namespace coll::rt::test {
namespace {

const HostTensor kState = floats({4}, {1, 2, 3, 4});
const HostTensor kBatch = floats({8}, {1, 2, 3, 4, 5, 6, 7, 8});

int32_t sum(const CollAbi *abi, CollContext *ctx, void *data, int64_t count,
            CollRequest **req = nullptr) {
  return abi->all_reduce(ctx, 0, data, data, count, kCollF32, kCollSum, kCollAccumulateAny,
                         kCollOrderAny, 0, req);
}

int64_t rankOf(const CollAbi *abi, CollContext *ctx) {
  int64_t rank = -1;
  EXPECT_EQ(abi->rank(ctx, &rank), kCollOk);
  return rank;
}

// Runs one step of 4 ranks that must fail, and checks that the executor has ended.
Status failingStep(CollEntry step, int64_t timeoutUs = 60'000'000) {
  ExecutorOptions options;
  options.timeoutUs = timeoutUs;
  std::unique_ptr<Executor> executor = makeExecutor(4, step, nullptr, options);
  if (!executor || !executor->initialize({kState}).ok())
    return {};
  Status failure = executor->step({kBatch}).status();
  EXPECT_FALSE(failure.ok());
  EXPECT_EQ(executor->step({kBatch}).status().message(), failure.message());
  EXPECT_FALSE(executor->initialize({kState}).ok());
  EXPECT_FALSE(executor->state().ok());
  EXPECT_FALSE(executor->stateOf(0).ok());
  return failure;
}

int32_t returnsEarly(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                     void *arena) {
  return rankOf(abi, ctx) == 2 ? int32_t(kCollOk) : sum(abi, ctx, arena, 4);
}

// The report of a rank that has lost a peer says more than that of a rank that was only told to
// end.
TEST(FailureReportTest, ALostPeerIsNearerToTheCauseThanAnAbort) {
  const FlightRecorder recorder(0);
  const Status aborted(kCollAborted, "told"), lost(kCollPeer, "rank 2 is gone");
  EXPECT_EQ(reportFailure("step", {{0, aborted, &recorder}, {1, lost, &recorder}}).code(),
            kCollPeer);
  EXPECT_EQ(reportFailure("step", {{0, {}, &recorder}, {1, aborted, &recorder}}).code(),
            kCollAborted);
}

TEST(ExecutorFailureTest, RankThatReturnsEarly) {
  Status failure = failingStep(returnsEarly);
  EXPECT_EQ(failure.code(), kCollPeer) << failure.toString();
  EXPECT_TRUE(contains(failure, "rank 2 has ended without the matching call")) << failure.message();
  EXPECT_TRUE(contains(failure, "op 0 \"grad\" at train.py:12:3")) << failure.message();
}

int32_t gives77(const CollAbi *abi, CollContext *ctx, void *const *, void *const *, void *arena) {
  return rankOf(abi, ctx) == 1 ? 77 : sum(abi, ctx, arena, 4);
}

TEST(ExecutorFailureTest, RankThatFailsOnItsOwn) {
  Status failure = failingStep(gives77);
  EXPECT_EQ(failure.code(), kCollInternal) << failure.toString();
  EXPECT_TRUE(contains(failure, "rank 1: the program returned 77")) << failure.message();
  EXPECT_TRUE(contains(failure, "rank 3: aborted")) << failure.message();
}

int32_t mismatches(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                   void *arena) {
  return sum(abi, ctx, arena, rankOf(abi, ctx) == 3 ? 5 : 4);
}

TEST(ExecutorFailureTest, Mismatch) {
  Status failure = failingStep(mismatches);
  EXPECT_EQ(failure.code(), kCollMismatch);
  EXPECT_TRUE(contains(failure, "counts differ")) << failure.message();
  EXPECT_TRUE(contains(failure, "rank 3 calls all_reduce sum f32 x 5")) << failure.message();
}

int32_t neverMeets(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                   void *arena) {
  int64_t rank = rankOf(abi, ctx);
  return abi->recv(ctx, 1, arena, 4, kCollF32, (rank + 1) % 4, 9, 0, nullptr);
}

TEST(ExecutorFailureTest, DeadlockEndsAtTheDeadline) {
  Status failure = failingStep(neverMeets, 50'000);
  EXPECT_EQ(failure.code(), kCollTimeout) << failure.toString();
  EXPECT_TRUE(contains(failure, "within 50 ms")) << failure.message();
  EXPECT_TRUE(contains(failure, "at train.py:5:1")) << failure.message();
  EXPECT_TRUE(contains(failure, "tag 9")) << failure.message();
}

int32_t leavesInFlight(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                       void *arena) {
  CollRequest *req = nullptr;
  return sum(abi, ctx, arena, 4, &req);
}

TEST(ExecutorFailureTest, RequestNeverWaitedFor) {
  Status failure = failingStep(leavesInFlight);
  EXPECT_EQ(failure.code(), kCollInvalidCall) << failure.toString();
  EXPECT_TRUE(contains(failure, "in flight")) << failure.message();
}

int32_t waitsTwice(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                   void *arena) {
  CollRequest *req = nullptr;
  int32_t code = sum(abi, ctx, arena, 4, &req);
  if (code == kCollOk)
    code = abi->wait(ctx, 0, req);
  return code == kCollOk ? abi->wait(ctx, 0, req) : code;
}

TEST(ExecutorFailureTest, RequestWaitedForTwice) {
  Status failure = failingStep(waitsTwice);
  EXPECT_EQ(failure.code(), kCollInvalidCall);
  EXPECT_TRUE(contains(failure, "not in flight")) << failure.message();
}

int32_t ignoresFailure(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                       void *arena) {
  (void)sum(abi, ctx, arena, -4);
  return kCollOk;
}

TEST(ExecutorFailureTest, IgnoredFailure) {
  Status failure = failingStep(ignoresFailure);
  EXPECT_EQ(failure.code(), kCollInvalidCall);
  EXPECT_TRUE(contains(failure, "ignored a failure")) << failure.message();
  EXPECT_TRUE(contains(failure, "negative")) << failure.message();
}

int32_t failsOtherwise(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                       void *arena) {
  if (rankOf(abi, ctx) != 1)
    return sum(abi, ctx, arena, 4);
  EXPECT_EQ(sum(abi, ctx, arena, -1), kCollInvalidCall);
  return kCollDevice;
}

TEST(ExecutorFailureTest, ACodeThatIsNotThatOfTheFailedCallIsSaid) {
  Status failure = failingStep(failsOtherwise);
  EXPECT_EQ(failure.code(), kCollDevice) << failure.toString();
  EXPECT_TRUE(contains(failure, "rank 1: the program returned ")) << failure.message();
}

int32_t fewThenFail(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                    void *arena) {
  for (int i = 0; i < 100; ++i)
    if (int32_t code = sum(abi, ctx, arena, 4))
      return code;
  return abi->barrier(ctx, 1, 7, nullptr);
}

TEST(ExecutorFailureTest, FlightRecorderTellsTheLastOperations) {
  Status failure = failingStep(fewThenFail);
  EXPECT_TRUE(contains(failure, "the program has no group 7")) << failure.message();
  EXPECT_TRUE(contains(failure, "#99 all_reduce sum f32 x 4")) << failure.message();
  EXPECT_TRUE(contains(failure, "16 bytes: ok after")) << failure.message();
  EXPECT_FALSE(contains(failure, "#96 ")) << failure.message();
}

int32_t failingInit(const CollAbi *abi, CollContext *ctx, void *const *, void *const *, void *) {
  return abi->init(ctx, 1, rankOf(abi, ctx) == 0 ? 0 : -1);
}

TEST(ExecutorFailureTest, FailingInit) {
  std::unique_ptr<Executor> executor = makeExecutor(2, returnsEarly, failingInit);
  ASSERT_TRUE(executor);
  Status failure = executor->initialize({kState});
  EXPECT_EQ(failure.code(), kCollInvalidCall);
  EXPECT_TRUE(contains(failure, "initialisation failed")) << failure.message();
}

} // namespace
} // namespace coll::rt::test
