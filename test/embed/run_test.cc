// Steps through the C API: state, batches, results, requests, cancelling.

#include "test/embed/fixture.h"

#include <atomic>
#include <thread>

namespace coll::embed {
namespace {

class EmbedRunTest : public EmbedTest, public testing::WithParamInterface<int32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EmbedRunTest, testing::Values(1, 2, 3));

TEST_P(EmbedRunTest, StateStaysInside) {
  coll_instance instance = makeInstance(GetParam());
  const std::vector<float> ones(32, 1);
  coll_tensor batch = wrap(ones, {8, 4});
  coll_tensor loss = {0};
  for (int i = 0; i < 3; ++i) {
    COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, &loss, 1));
    EXPECT_EQ(read(loss), std::vector<float>{32});
  }
  size_t index = 7;
  COLL_EXPECT_OK(coll_instance_find_state(instance, "w", &index));
  coll_tensor state = {0};
  COLL_EXPECT_OK(coll_instance_state(instance, index, &state));
  EXPECT_EQ(read(state), (std::vector<float>{24, 24, 24, 24}));
  COLL_EXPECT_OK(coll_tensor_free(batch));
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_P(EmbedRunTest, BatchIsReadAtEachStepWhereverItLies) {
  coll_instance instance = makeInstance(GetParam());
  alignas(64) float aligned[40] = {};
  for (size_t offset : {0, 1}) { // the first is read where it is
    coll_tensor_view view = viewOf(COLL_F32, {}, aligned + offset);
    const int64_t shape[] = {8, 4};
    view.num_dims = 2;
    view.shape = shape;
    coll_tensor batch = {0}, loss = {0};
    COLL_EXPECT_OK(coll_tensor_wrap(&view, nullptr, nullptr, &batch));
    for (float value : {1.0f, 2.0f}) {
      std::fill(aligned, aligned + 40, value);
      COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, &loss, 1));
      EXPECT_EQ(read(loss), std::vector<float>{32 * value});
    }
    COLL_EXPECT_OK(coll_tensor_free(batch));
  }
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_F(EmbedTest, StridedBatchIsReadInItsOrder) {
  coll_instance instance = makeInstance(1);
  std::vector<float> columns(32); // element (i, j) at j * 8 + i
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j)
      columns[static_cast<size_t>(j * 8 + i)] = static_cast<float>(j);
  const int64_t shape[] = {8, 4}, strides[] = {1, 8};
  coll_tensor_view view = viewOf(COLL_F32, {}, columns.data());
  view.num_dims = 2;
  view.shape = shape;
  view.strides = strides;
  coll_tensor batch = {0}, state = {0};
  COLL_EXPECT_OK(coll_tensor_wrap(&view, nullptr, nullptr, &batch));
  COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, nullptr, 0));
  COLL_EXPECT_OK(coll_instance_state(instance, 0, &state));
  EXPECT_EQ(read(state), (std::vector<float>{0, 8, 16, 24}));
  COLL_EXPECT_OK(coll_tensor_free(batch));
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_F(EmbedTest, QueuedStepsRunInOrderAndCallBack) {
  coll_instance instance = makeInstance(2);
  const std::vector<float> ones(32, 1);
  coll_tensor batch = wrap(ones, {8, 4});
  std::atomic<int> called = 0;
  auto count = [](void *user, coll_request) { ++*static_cast<std::atomic<int> *>(user); };
  std::vector<coll_request> requests(5);
  for (coll_request &request : requests)
    COLL_EXPECT_OK(coll_instance_start(instance, &batch, 1, count, &called, &request));
  COLL_EXPECT_OK(coll_tensor_free(batch)); // the requests still have it
  coll_tensor state = {0};
  COLL_EXPECT_OK(coll_instance_state(instance, 0, &state)); // after the queued ones
  EXPECT_EQ(read(state), std::vector<float>(4, 40));
  for (coll_request request : requests) {
    coll_tensor loss = {0};
    COLL_EXPECT_OK(coll_request_wait(request, -1, &loss, 1));
    EXPECT_EQ(read(loss), std::vector<float>{32});
    COLL_EXPECT_FAILS(coll_request_wait(request, -1, &loss, 1), COLL_INVALID_ARGUMENT,
                      "taken before");
    COLL_EXPECT_OK(coll_request_free(request));
  }
  COLL_EXPECT_OK(coll_instance_free(instance));
  EXPECT_EQ(called, 5);
}

TEST_F(EmbedTest, CallbackMayFreeItsOwnInstance) {
  struct Host {
    coll_instance instance;
    std::atomic<bool> done = false;
  } host;
  host.instance = makeInstance(1);
  const std::vector<float> ones(32, 1);
  coll_tensor batch = wrap(ones, {8, 4});
  auto end = [](void *user, coll_request request) {
    Host &self = *static_cast<Host *>(user);
    COLL_EXPECT_OK(coll_instance_free(self.instance));
    COLL_EXPECT_OK(coll_request_free(request));
    self.done = true;
  };
  coll_request request = {0};
  COLL_EXPECT_OK(coll_instance_start(host.instance, &batch, 1, end, &host, &request));
  while (!host.done)
    std::this_thread::yield();
  COLL_EXPECT_OK(coll_tensor_free(batch));
}

TEST_F(EmbedTest, CallbackThatWouldWaitForItsInstanceIsRefused) {
  struct Host {
    coll_instance instance;
    std::atomic<int> code = -1;
  } host;
  host.instance = makeInstance(1);
  const std::vector<float> ones(32, 1);
  coll_tensor batch = wrap(ones, {8, 4});
  auto ask = [](void *user, coll_request) {
    Host &self = *static_cast<Host *>(user);
    coll_tensor state = {0};
    self.code = take(coll_instance_state(self.instance, 0, &state)).code;
  };
  coll_request request = {0};
  COLL_EXPECT_OK(coll_instance_start(host.instance, &batch, 1, ask, &host, &request));
  while (host.code < 0)
    std::this_thread::yield();
  EXPECT_EQ(host.code, COLL_INVALID_ARGUMENT);
  COLL_EXPECT_OK(coll_request_free(request));
  COLL_EXPECT_OK(coll_tensor_free(batch));
  COLL_EXPECT_OK(coll_instance_free(host.instance));
}

TEST_F(EmbedTest, CancelledInstanceRunsNoMoreSteps) {
  coll_instance instance = makeInstance(2);
  const std::vector<float> ones(32, 1);
  coll_tensor batch = wrap(ones, {8, 4});
  COLL_EXPECT_OK(coll_instance_cancel(instance));
  COLL_EXPECT_FAILS(coll_instance_step(instance, &batch, 1, nullptr, 0), COLL_CANCELLED,
                    "cancelled");
  coll_request request = {0};
  COLL_EXPECT_OK(coll_instance_start(instance, &batch, 1, nullptr, nullptr, &request));
  COLL_EXPECT_FAILS(coll_request_wait(request, -1, nullptr, 0), COLL_CANCELLED, "cancelled");
  COLL_EXPECT_OK(coll_request_free(request));
  COLL_EXPECT_OK(coll_tensor_free(batch));
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_F(EmbedTest, StepsThatAreRunningAreCancelled) {
  coll_instance instance = makeInstance(2);
  const std::vector<float> ones(32, 1);
  coll_tensor batch = wrap(ones, {8, 4});
  std::vector<coll_request> requests(2000);
  for (coll_request &request : requests)
    COLL_EXPECT_OK(coll_instance_start(instance, &batch, 1, nullptr, nullptr, &request));
  COLL_EXPECT_OK(coll_instance_cancel(instance));
  int cancelled = 0;
  for (coll_request request : requests) {
    const int32_t code = take(coll_request_wait(request, -1, nullptr, 0)).code;
    EXPECT_TRUE(code == COLL_OK || code == COLL_CANCELLED) << code;
    cancelled += code == COLL_CANCELLED;
    COLL_EXPECT_OK(coll_request_free(request));
  }
  EXPECT_GT(cancelled, 0);
  COLL_EXPECT_OK(coll_tensor_free(batch));
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_F(EmbedTest, ContextsAndInstancesWorkSideBySide) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([t, this] {
      coll_context own = {0};
      COLL_EXPECT_OK(coll_context_create(nullptr, &own));
      coll_instance instance = makeInstance(t + 1);
      const std::vector<float> ones(32, 1);
      coll_tensor batch = wrap(ones, {8, 4}), state = {0};
      for (int i = 0; i < 100; ++i)
        COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, nullptr, 0));
      COLL_EXPECT_OK(coll_instance_state(instance, 0, &state));
      EXPECT_EQ(read(state), std::vector<float>(4, 800));
      COLL_EXPECT_OK(coll_tensor_free(batch));
      COLL_EXPECT_OK(coll_instance_free(instance));
      COLL_EXPECT_OK(coll_context_free(own));
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
} // namespace coll::embed
