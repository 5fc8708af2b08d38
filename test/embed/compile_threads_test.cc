// The compiler in several threads at once, each with its own context. Intended for ThreadSanitizer,
// which reports a race even if it does no harm in this run.

#include "test/embed/fixture.h"

#include <thread>

namespace coll::embed {
namespace {

constexpr int kThreads = 2, kRounds = 3;

struct Heard {
  std::string text;
  static void hear(void *user, int32_t, const char *text) {
    static_cast<Heard *>(user)->text += text;
  }
};

coll_executable compileFor(coll_context context, int32_t ranks) {
  coll_compile_options options = {};
  COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
  options.ranks = ranks;
  options.keep_stages = 1;
  coll_executable step = {0};
  COLL_EXPECT_OK(coll_compile(context, kStep, strlen(kStep), &options, &step));
  return step;
}

// The sum of the batch's rows after two steps.
float train(coll_executable step) {
  coll_instance instance = {0};
  COLL_EXPECT_OK(coll_instance_create(step, nullptr, &instance));
  const std::vector<float> zeros(4), ones(32, 1);
  const coll_tensor state = wrap(zeros, {4}), batch = wrap(ones, {8, 4});
  COLL_EXPECT_OK(coll_instance_set_state(instance, &state, 1));
  for (int i = 0; i < 2; ++i)
    COLL_EXPECT_OK(coll_instance_step(instance, &batch, 1, nullptr, 0));
  coll_tensor w = {0};
  COLL_EXPECT_OK(coll_instance_state(instance, 0, &w));
  COLL_EXPECT_OK(coll_tensor_free(state));
  COLL_EXPECT_OK(coll_tensor_free(batch));
  COLL_EXPECT_OK(coll_instance_free(instance));
  return read(w)[0];
}

void compileAndTrain(int thread) {
  Heard heard;
  coll_context_options options = {};
  options.struct_size = sizeof(options);
  options.log = &Heard::hear;
  options.log_user = &heard;
  coll_context own = {0};
  COLL_EXPECT_OK(coll_context_create(&options, &own));
  for (int round = 0; round < kRounds; ++round) {
    const coll_executable step = compileFor(own, 1 + (thread + round) % 2);
    EXPECT_EQ(train(step), 16);
    COLL_EXPECT_OK(coll_executable_free(step));
    coll_executable none = {0};
    COLL_EXPECT_FAILS(coll_compile(own, "nonsense", 8, nullptr, &none), COLL_COMPILE, "unknown");
  }
  EXPECT_NE(heard.text.find("step:1:1: error:"), std::string::npos) << heard.text;
  COLL_EXPECT_OK(coll_context_free(own));
}

TEST(CompileThreadsTest, ContextsOfTwoThreadsCompileAndRunAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back(compileAndTrain, t);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
} // namespace coll::embed
