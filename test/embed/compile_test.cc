// The C API's results and errors for a step that it compiles, and for one that it refuses.

#include "runtime/base/env.h"
#include "test/embed/fixture.h"

#include <fstream>
#include <malloc.h>
#include <unistd.h>

namespace coll::embed {
namespace {

template <typename Info>
Info sized() {
  Info info = {};
  info.struct_size = sizeof(info);
  return info;
}

TEST_F(EmbedTest, DescribesArgumentsResultsAndCollectives) {
  coll_executable step = compile(kStep, 2);
  auto info = sized<coll_executable_info>();
  COLL_EXPECT_OK(coll_executable_describe(step, &info));
  EXPECT_STREQ(info.mesh, "dp=2");
  EXPECT_EQ(info.num_ranks, 2);
  EXPECT_EQ(info.is_proved, 1);
  EXPECT_EQ(info.num_state, 1u);
  EXPECT_EQ(info.num_batch, 1u);
  EXPECT_EQ(info.num_outputs, 1u);
  auto x = sized<coll_value_info>();
  COLL_EXPECT_OK(coll_executable_arg(step, 1, &x));
  EXPECT_STREQ(x.name, "x");
  EXPECT_STREQ(x.role, "batch");
  EXPECT_STREQ(x.sharding, "[{\"dp\"}, {}]");
  EXPECT_EQ(x.dtype, COLL_F32);
  ASSERT_EQ(x.num_dims, 2);
  EXPECT_EQ(x.shape[0], 8);
  EXPECT_EQ(x.local_shape[0], 4);
  auto w = sized<coll_value_info>();
  COLL_EXPECT_OK(coll_executable_result(step, 0, &w));
  EXPECT_EQ(w.updates, 0);
  ASSERT_GE(info.num_collectives, 1u);
  auto op = sized<coll_collective_info>();
  COLL_EXPECT_OK(coll_executable_collective(step, 0, &op));
  EXPECT_STREQ(op.kind, "all_reduce");
  EXPECT_STREQ(op.reduction, "sum");
  EXPECT_EQ(op.group_size, 2);
  EXPECT_EQ(op.bytes, 16);
  EXPECT_STRNE(op.reason, "");
  EXPECT_NE(std::string(op.location).find("step:"), std::string::npos) << op.location;
  auto memory = sized<coll_memory_info>();
  COLL_EXPECT_OK(coll_executable_memory(step, 1, &memory));
  EXPECT_GE(memory.batch, 64);
  COLL_EXPECT_FAILS(coll_executable_memory(step, 2, &memory), COLL_INVALID_ARGUMENT, "no rank 2");
  COLL_EXPECT_FAILS(coll_executable_arg(step, 2, &x), COLL_INVALID_ARGUMENT, "has 2");
  auto stage = sized<coll_stage_info>();
  COLL_EXPECT_FAILS(coll_executable_stage(step, 0, &stage), COLL_INVALID_ARGUMENT, "keep_stages");
  COLL_EXPECT_OK(coll_executable_free(step));
}

// Compiles on any machine; without a GPU the ranks do not start, and the error says why.
TEST_F(EmbedTest, StepsForGpusAreCompiledAndNeedOne) {
  coll_compile_options options = {};
  COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
  options.device = "gpu:sm_90";
  options.ranks = 2;
  coll_executable step = {0};
  COLL_EXPECT_OK(coll_compile(context, kStep, strlen(kStep), &options, &step));
  auto info = sized<coll_executable_info>();
  COLL_EXPECT_OK(coll_executable_describe(step, &info));
  EXPECT_EQ(info.is_on_gpu, 1);
  coll_instance instance = {0};
  const Said said = take(coll_instance_create(step, nullptr, &instance));
  if (said.code != COLL_OK) {
    EXPECT_EQ(said.code, COLL_UNSUPPORTED) << said.message;
    EXPECT_NE(said.message.find("the step was compiled for GPUs"), std::string::npos)
        << said.message;
    EXPECT_EQ(instance.id, 0u);
  }
  COLL_EXPECT_OK(coll_instance_free(instance));
  COLL_EXPECT_OK(coll_executable_free(step));
}

TEST_F(EmbedTest, KeepsTheIrOfEachStage) {
  coll_compile_options options = {};
  COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
  options.mesh = "batch=2";
  options.keep_stages = 1;
  coll_executable step = {0};
  COLL_EXPECT_OK(coll_compile(context, kStep, strlen(kStep), &options, &step));
  auto info = sized<coll_executable_info>();
  COLL_EXPECT_OK(coll_executable_describe(step, &info));
  EXPECT_STREQ(info.mesh, "batch=2");
  std::string names;
  for (size_t i = 0; i < info.num_stages; ++i) {
    auto stage = sized<coll_stage_info>();
    COLL_EXPECT_OK(coll_executable_stage(step, i, &stage));
    EXPECT_EQ(strlen(stage.text), stage.bytes);
    names += std::string(stage.name) + " ";
  }
  EXPECT_NE(names.find("partition"), std::string::npos) << names;
  COLL_EXPECT_OK(coll_executable_free(step));
}

TEST_F(EmbedTest, ErrorsNameTheLine) {
  coll_compile_options options = {};
  COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
  options.name = "train.mlir";
  const std::string text = "func.func @step(\n    %w: tensor<4xnothing>) { return }";
  coll_executable step = {0};
  const Said said = take(coll_compile(context, text.data(), text.size(), &options, &step));
  EXPECT_EQ(said.code, COLL_COMPILE);
  EXPECT_EQ(said.location.rfind("train.mlir:2:", 0), 0u) << said.location;
  ASSERT_FALSE(said.notes.empty());
  EXPECT_NE(said.notes.back().find("not MLIR that can be read"), std::string::npos);
  EXPECT_EQ(step.id, 0u);
}

// The notes of one diagnostic say how each operation can be avoided.
TEST_F(EmbedTest, ErrorsListEachOperationThatCannotBeImported) {
  const std::string text = R"(func.func public @main(%x: tensor<4xf32>) -> tensor<3xcomplex<f32>> {
    %0 = "stablehlo.fft"(%x) {fft_length = array<i64: 4>}
        : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    return %0 : tensor<3xcomplex<f32>>
  })";
  coll_compile_options options = {};
  COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
  options.state_args = 0;
  coll_executable step = {0};
  const Said said = take(coll_compile(context, text.data(), text.size(), &options, &step));
  EXPECT_EQ(said.code, COLL_COMPILE);
  std::string notes;
  for (const std::string &note : said.notes)
    notes += note + "\n";
  EXPECT_NE(notes.find("stablehlo.fft, 1 time: Fourier transforms are not supported; multiply"),
            std::string::npos)
      << notes;
}

TEST_F(EmbedTest, HostileTextIsRefused) {
  coll_executable step = {0};
  auto refuses = [&](const std::string &text, const char *why) {
    COLL_EXPECT_FAILS(coll_compile(context, text.data(), text.size(), nullptr, &step), COLL_COMPILE,
                      why);
  };
  refuses(std::string(5000, '('), "nest deeper");
  refuses(std::string("module\0 {}", 10), "zero bytes");
  refuses("ML\xefRstablehlo", "bytecode");
  refuses("module {}", "is empty");
  refuses("func.func @other() { return }", "no function @step");
}

TEST_F(EmbedTest, TextsMayEndWithAZero) {
  coll_executable step = {0};
  COLL_EXPECT_OK(coll_compile(context, kStep, sizeof(kStep), nullptr, &step));
  COLL_EXPECT_OK(coll_executable_free(step));
}

TEST_F(EmbedTest, LogCallbackHearsTheCompiler) {
  std::string heard;
  coll_context_options options = {};
  options.struct_size = sizeof(options);
  options.log = [](void *user, int32_t, const char *text) {
    *static_cast<std::string *>(user) += text;
  };
  options.log_user = &heard;
  coll_context listening = {0};
  COLL_EXPECT_OK(coll_context_create(&options, &listening));
  coll_executable step = {0};
  (void)take(coll_compile(listening, "nonsense", 8, nullptr, &step));
  EXPECT_NE(heard.find("step:1:1: error:"), std::string::npos) << heard;
  COLL_EXPECT_OK(coll_context_free(listening));
}

TEST_F(EmbedTest, CachedStepIsFoundAgain) {
  const std::string folder = testing::TempDir() + "coll-embed-" + std::to_string(getpid());
  coll_context_options options = {};
  options.struct_size = sizeof(options);
  options.cache_folder = folder.c_str();
  coll_context caching = {0};
  COLL_EXPECT_OK(coll_context_create(&options, &caching));
  for (int expected : {0, 1}) {
    coll_executable step = {0};
    COLL_EXPECT_OK(coll_compile(caching, kStep, strlen(kStep), nullptr, &step));
    auto info = sized<coll_executable_info>();
    COLL_EXPECT_OK(coll_executable_describe(step, &info));
    EXPECT_EQ(info.is_from_cache, expected);
    COLL_EXPECT_OK(coll_executable_free(step));
  }
  COLL_EXPECT_OK(coll_context_free(caching));
  (void)!system(("rm -rf '" + folder + "'").c_str());
}

// The allocator's bytes in use; memory that it caches is not a leak.
size_t bytesInUse() { return mallinfo2().uordblks; }

// COLL_EMBED_CYCLES is the number of cycles.
TEST_F(EmbedTest, CompileRunFreeDoesNotGrow) {
  const int cycles = std::stoi(rt::foreignEnv("COLL_EMBED_CYCLES").value_or("1000"));
  size_t before = 0;
  for (int i = 0; i < cycles; ++i) {
    if (i == cycles / 5) // caches of the libraries are filled
      before = bytesInUse();
    coll_executable step = compile(kEmptyStep, 1 + i % 2);
    coll_instance instance = {0};
    COLL_EXPECT_OK(coll_instance_create(step, nullptr, &instance));
    const std::vector<float> zeros(4);
    coll_tensor state = wrap(zeros, {4});
    COLL_EXPECT_OK(coll_instance_set_state(instance, &state, 1));
    COLL_EXPECT_OK(coll_instance_step(instance, nullptr, 0, nullptr, 0));
    COLL_EXPECT_OK(coll_tensor_free(state));
    COLL_EXPECT_OK(coll_instance_free(instance));
    COLL_EXPECT_OK(coll_executable_free(step));
  }
  const size_t after = bytesInUse();
  EXPECT_LT(after, before + (size_t(1) << 20)) << "in " << cycles << " cycles";
}

} // namespace
} // namespace coll::embed
