// The library without a compiler, in several threads: contexts, executables, instances, requests
// and errors of each, and some that they share. Intended for ThreadSanitizer.

#include "test/embed/fixture.h"

#include <atomic>
#include <thread>

namespace coll::embed {
namespace {

constexpr int kThreads = 2, kSteps = 50;

class ThreadsTest : public EmbedTest {
protected:
  // The step's library is loaded before there are threads: it writes its descriptor while it is
  // loaded, and the sanitizer does not know the loader's lock, which orders these writes before the
  // threads' reads.
  void SetUp() override {
    EmbedTest::SetUp();
    first_ = load(context);
  }
  void TearDown() override {
    COLL_EXPECT_OK(coll_executable_free(first_));
    EmbedTest::TearDown();
  }
  static coll_executable load(coll_context context) {
    coll_executable step = {0};
    COLL_EXPECT_OK(coll_load(context, COLL_SHARED_STEP, &step));
    return step;
  }
  static coll_instance start(coll_executable step) {
    coll_instance instance = {0};
    COLL_EXPECT_OK(coll_instance_create(step, nullptr, &instance));
    const std::vector<float> zeros(4);
    const coll_tensor state = wrap(zeros, {4});
    COLL_EXPECT_OK(coll_instance_set_state(instance, &state, 1));
    COLL_EXPECT_OK(coll_tensor_free(state));
    return instance;
  }
  static float firstOf(coll_instance instance) {
    coll_tensor w = {0};
    COLL_EXPECT_OK(coll_instance_state(instance, 0, &w));
    return read(w)[0];
  }
  template <typename Body>
  static void beside(Body body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back(body, t);
    for (std::thread &thread : threads)
      thread.join();
  }

  const std::vector<float> ones_ = std::vector<float>(32, 1);

private:
  coll_executable first_ = {0};
};

TEST_F(ThreadsTest, EachThreadHasAContextOfItsOwn) {
  beside([&](int) {
    coll_context own = {0};
    COLL_EXPECT_OK(coll_context_create(nullptr, &own));
    const coll_executable step = load(own);
    const coll_instance instance = start(step);
    const coll_tensor batch = wrap(ones_, {8, 4});
    for (int i = 0; i < kSteps; ++i) {
      coll_tensor loss = {0};
      COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, &loss, 1));
      EXPECT_EQ(read(loss)[0], 32);
      COLL_EXPECT_FAILS(coll_instance_step(instance, nullptr, 0, nullptr, 0), COLL_INVALID_ARGUMENT,
                        "takes 1 batch");
    }
    EXPECT_EQ(firstOf(instance), 8 * kSteps);
    COLL_EXPECT_OK(coll_tensor_free(batch));
    COLL_EXPECT_OK(coll_context_free(own));
    COLL_EXPECT_OK(coll_executable_free(step));
    COLL_EXPECT_OK(coll_instance_free(instance));
  });
}

TEST_F(ThreadsTest, ThreadsShareAnInstance) {
  const coll_executable step = load(context);
  const coll_instance instance = start(step);
  std::atomic<int> completed{0};
  beside([&](int t) {
    const coll_tensor batch = wrap(ones_, {8, 4});
    for (int i = 0; i < kSteps; ++i) {
      if (t == 0) {
        COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, nullptr, 0));
        continue;
      }
      coll_request request = {0};
      COLL_EXPECT_OK(coll_instance_start(
          instance, &batch, 1,
          [](void *count, coll_request) { ++*static_cast<std::atomic<int> *>(count); }, &completed,
          &request));
      COLL_EXPECT_OK(coll_request_wait(request, -1, nullptr, 0));
      COLL_EXPECT_OK(coll_request_free(request));
    }
    COLL_EXPECT_OK(coll_tensor_free(batch));
  });
  EXPECT_EQ(firstOf(instance), 8 * kThreads * kSteps);
  COLL_EXPECT_OK(coll_instance_free(instance)); // the last callback has returned
  EXPECT_EQ(completed, kSteps);
  COLL_EXPECT_OK(coll_executable_free(step));
}

TEST_F(ThreadsTest, OneThreadCancelsWhatAnotherRuns) {
  const coll_executable step = load(context);
  for (int round = 0; round < 10; ++round) {
    const coll_instance instance = start(step);
    std::atomic<bool> hasBegun{false};
    beside([&](int t) {
      if (t == 1) {
        while (!hasBegun)
          std::this_thread::yield();
        COLL_EXPECT_OK(coll_instance_cancel(instance));
        return;
      }
      const coll_tensor batch = wrap(ones_, {8, 4});
      Said said = {COLL_OK, "", "", {}};
      while (said.code == COLL_OK) {
        said = take(coll_instance_step(instance, &batch, 1, nullptr, 0));
        hasBegun = true;
      }
      EXPECT_EQ(said.code, COLL_CANCELLED) << said.message;
      COLL_EXPECT_OK(coll_tensor_free(batch));
    });
    COLL_EXPECT_OK(coll_instance_free(instance));
  }
  COLL_EXPECT_OK(coll_executable_free(step));
}

// All threads free the same handle; only one succeeds.
TEST_F(ThreadsTest, HandlesAreFreedOnce) {
  for (int round = 0; round < 100; ++round) {
    const coll_tensor tensor = wrap(ones_, {8, 4});
    std::atomic<int> freed{0};
    beside([&](int) { freed += take(coll_tensor_free(tensor)).code == COLL_OK; });
    EXPECT_EQ(freed, 1);
  }
}

} // namespace
} // namespace coll::embed
