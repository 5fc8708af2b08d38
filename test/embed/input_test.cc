// Bad input to the C API: each gives an error value, and the library continues to work.

#include "test/embed/fixture.h"

namespace coll::embed {
namespace {

TEST_F(EmbedTest, FreedAndWrongHandlesAreRefused) {
  coll_executable step = compile(kEmptyStep, 1);
  COLL_EXPECT_OK(coll_executable_free(step));
  COLL_EXPECT_FAILS(coll_executable_free(step), COLL_INVALID_HANDLE, "freed before");
  coll_instance instance = {0};
  COLL_EXPECT_FAILS(coll_instance_create(step, nullptr, &instance), COLL_INVALID_HANDLE,
                    "executable");
  const coll_executable wrong = {context.id};
  COLL_EXPECT_FAILS(coll_instance_create(wrong, nullptr, &instance), COLL_INVALID_HANDLE,
                    "executable");
  for (uint64_t id : {uint64_t(1), ~uint64_t(0), context.id + 1, context.id ^ uint64_t(1) << 30}) {
    coll_executable made = {0};
    COLL_EXPECT_FAILS(coll_compile({id}, kStep, 1, nullptr, &made), COLL_INVALID_HANDLE, "context");
  }
  COLL_EXPECT_OK(coll_executable_free({0}));
}

TEST_F(EmbedTest, FreedHandlesStayRefusedAfterTheirSlotIsUsedAgain) {
  const std::vector<float> one(1);
  coll_tensor first = wrap(one, {1});
  COLL_EXPECT_OK(coll_tensor_free(first));
  for (int i = 0; i < 1000; ++i)
    COLL_EXPECT_OK(coll_tensor_free(wrap(one, {1})));
  COLL_EXPECT_FAILS(coll_tensor_free(first), COLL_INVALID_HANDLE, "freed before");
}

TEST_F(EmbedTest, ErrorsMayBeFreedTwice) {
  coll_error error = coll_compile(context, nullptr, 0, nullptr, nullptr);
  EXPECT_EQ(coll_error_code(error), COLL_INVALID_ARGUMENT);
  coll_error_free(error);
  coll_error_free(error);
  EXPECT_EQ(coll_error_code(error), COLL_INVALID_HANDLE);
  EXPECT_STREQ(coll_error_message(error), "");
  EXPECT_EQ(coll_error_num_notes(error), 0u);
}

TEST_F(EmbedTest, NullPointersAreRefused) {
  coll_executable step = compile(kStep, 1);
  coll_instance instance = makeInstance(1);
  COLL_EXPECT_FAILS(coll_context_create(nullptr, nullptr), COLL_INVALID_ARGUMENT, "null");
  COLL_EXPECT_FAILS(coll_compile_options_init(nullptr, 64), COLL_INVALID_ARGUMENT, "null");
  COLL_EXPECT_FAILS(coll_compile(context, kStep, strlen(kStep), nullptr, nullptr),
                    COLL_INVALID_ARGUMENT, "executable is null");
  COLL_EXPECT_FAILS(coll_executable_describe(step, nullptr), COLL_INVALID_ARGUMENT, "null");
  COLL_EXPECT_FAILS(coll_instance_create(step, nullptr, nullptr), COLL_INVALID_ARGUMENT, "null");
  COLL_EXPECT_FAILS(coll_instance_set_state(instance, nullptr, 1), COLL_INVALID_ARGUMENT,
                    "state is null");
  COLL_EXPECT_FAILS(coll_instance_step(instance, nullptr, 1, nullptr, 0), COLL_INVALID_ARGUMENT,
                    "batch is null");
  COLL_EXPECT_FAILS(coll_instance_step(instance, nullptr, 0, nullptr, 1), COLL_INVALID_ARGUMENT,
                    "results is null");
  COLL_EXPECT_FAILS(coll_instance_state(instance, 0, nullptr), COLL_INVALID_ARGUMENT, "null");
  COLL_EXPECT_FAILS(coll_instance_find_state(instance, nullptr, nullptr), COLL_INVALID_ARGUMENT,
                    "null");
  COLL_EXPECT_FAILS(coll_tensor_wrap(nullptr, nullptr, nullptr, nullptr), COLL_INVALID_ARGUMENT,
                    "null");
  COLL_EXPECT_FAILS(coll_tensor_from_dlpack(nullptr, nullptr), COLL_INVALID_ARGUMENT, "null");
  COLL_EXPECT_OK(coll_executable_free(step));
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_F(EmbedTest, StructSizesAreChecked) {
  coll_compile_options options = {};
  coll_executable step = {0};
  COLL_EXPECT_FAILS(coll_compile(context, kStep, strlen(kStep), &options, &step),
                    COLL_INVALID_ARGUMENT, "set it to sizeof(coll_compile_options)");
  // A caller with a newer header: its additional fields must be zero.
  struct Newer {
    coll_compile_options known;
    uint64_t added;
  } newer = {};
  COLL_EXPECT_OK(coll_compile_options_init(&newer.known, sizeof(newer)));
  COLL_EXPECT_OK(coll_compile(context, kEmptyStep, strlen(kEmptyStep), &newer.known, &step));
  COLL_EXPECT_OK(coll_executable_free(step));
  newer.added = 1;
  COLL_EXPECT_FAILS(coll_compile(context, kEmptyStep, strlen(kEmptyStep), &newer.known, &step),
                    COLL_UNSUPPORTED, "does not have");
  // A caller with an older header: only its fields are written.
  step = compile(kEmptyStep, 1);
  struct {
    coll_executable_info info;
    uint64_t guard;
  } older = {{}, 42};
  older.info.struct_size = sizeof(size_t) + sizeof(void *);
  older.info.num_ranks = 77;
  COLL_EXPECT_OK(coll_executable_describe(step, &older.info));
  EXPECT_EQ(older.info.num_ranks, 77);
  COLL_EXPECT_OK(coll_executable_free(step));
}

TEST_F(EmbedTest, OptionsThatMakeNoSenseAreRefused) {
  coll_executable step = {0};
  auto refuses = [&](auto change, const char *text) {
    coll_compile_options options = {};
    COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
    change(options);
    COLL_EXPECT_FAILS(coll_compile(context, kStep, strlen(kStep), &options, &step),
                      COLL_INVALID_ARGUMENT, text);
  };
  refuses([](auto &options) { options.ranks = -1; }, "ranks is -1");
  refuses([](auto &options) { options.ranks = 1 << 20; }, "expected 0 to");
  refuses([](auto &options) { options.mesh = "dp"; }, "AXIS=SIZE");
  refuses([](auto &options) { options.mesh = "dp=0"; }, "from 1 to");
  refuses([](auto &options) { options.mesh = "a=99999999999999999999"; }, "AXIS=SIZE");
  refuses(
      [](auto &options) {
        options.mesh = "dp=2";
        options.ranks = 3;
      },
      "the mesh has 2");
  refuses([](auto &options) { options.num_shards = 1; }, "shards[0] is null");
  refuses([](auto &options) { options.root = "banyan"; }, "expected hash, balanced or shard");
  refuses([](auto &options) { options.route = "ring"; }, "route needs root");
  refuses([](auto &options) { options.stages = -1; }, "stages is -1");
  refuses([](auto &options) { options.micro_batches = 2; }, "need stages");
  refuses([](auto &options) { options.num_stage_meshes = 1; }, "need stages");
  refuses(
      [](auto &options) {
        options.stages = 2;
        options.num_stage_meshes = 1;
      },
      "stage_meshes[0] is null");
  refuses([](auto &options) { options.staleness = -1; }, "staleness is -1: expected 0 to 64 steps");
  refuses([](auto &options) { options.staleness = 65; }, "expected 0 to 64 steps");
  refuses([](auto &options) { options.device = "tpu"; }, "device \"tpu\": expected cpu, gpu");
  refuses([](auto &options) { options.matmul_precision = "tf32"; }, "needs a GPU as device");
  refuses(
      [](auto &options) {
        options.device = "gpu";
        options.matmul_precision = "f16";
      },
      "matmul_precision \"f16\": expected highest, tf32 or bf16");
  refuses([](auto &options) { options.route = "scenic"; }, "expected direct or ring");
  refuses([](auto &options) { options.accumulate = -1; }, "accumulate is -1");
  refuses(
      [](auto &options) {
        options.root = "hash";
        options.strategy = "none";
      },
      "strategy none excludes root, accumulate and staleness");
  coll_compile_options options = {};
  COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
  options.ranks = 2;
  options.strategy = "magic";
  COLL_EXPECT_FAILS(coll_compile(context, kStep, strlen(kStep), &options, &step), COLL_COMPILE,
                    "magic");
}

TEST_F(EmbedTest, BatchesOfTheWrongTypeAreRefusedAndTheStateStays) {
  coll_instance instance = makeInstance(2);
  const std::vector<float> ones(32, 1);
  coll_tensor wrongShape = wrap(ones, {4, 8}), right = wrap(ones, {8, 4});
  COLL_EXPECT_FAILS(coll_instance_step(instance, &wrongShape, 1, nullptr, 0), COLL_INVALID_ARGUMENT,
                    "\"x\") is f32[4, 8]");
  const coll_tensor two[] = {right, right};
  COLL_EXPECT_FAILS(coll_instance_step(instance, two, 2, nullptr, 0), COLL_INVALID_ARGUMENT,
                    "takes 1 batch arguments");
  const coll_tensor none = {0};
  COLL_EXPECT_FAILS(coll_instance_step(instance, &none, 1, nullptr, 0), COLL_INVALID_HANDLE,
                    "batch[0]");
  coll_tensor results[2];
  COLL_EXPECT_FAILS(coll_instance_step(instance, &right, 1, results, 2), COLL_INVALID_ARGUMENT,
                    "a step has 1 results");
  COLL_EXPECT_OK(coll_instance_step(instance, &right, 1, nullptr, 0));
  COLL_EXPECT_FAILS(coll_instance_state(instance, 1, results), COLL_INVALID_ARGUMENT,
                    "the step has 1");
  size_t index = 0;
  COLL_EXPECT_FAILS(coll_instance_find_state(instance, "nothing", &index), COLL_INVALID_ARGUMENT,
                    "\"nothing\"");
  COLL_EXPECT_OK(coll_tensor_free(wrongShape));
  COLL_EXPECT_OK(coll_tensor_free(right));
  COLL_EXPECT_OK(coll_instance_free(instance));
}

TEST_F(EmbedTest, TensorsThatMakeNoSenseAreRefused) {
  const float value = 0;
  coll_tensor tensor = {0};
  auto refuses = [&](int32_t dtype, std::vector<int64_t> shape, const void *data,
                     const char *text) {
    coll_tensor_view view = viewOf(dtype, shape, data);
    COLL_EXPECT_FAILS(coll_tensor_wrap(&view, nullptr, nullptr, &tensor), COLL_INVALID_ARGUMENT,
                      text);
  };
  refuses(99, {1}, &value, "dtype 99");
  refuses(COLL_F32, {-1}, &value, "negative");
  refuses(COLL_F32, {int64_t(1) << 40, int64_t(1) << 40}, &value,
          "more elements than can be counted");
  refuses(COLL_F32, {1}, nullptr, "data is null");
  refuses(COLL_F32, std::vector<int64_t>(65, 1), &value, "64 dimensions");
  coll_tensor_view view = viewOf(COLL_F32, {}, &value);
  view.num_dims = 2;
  view.shape = nullptr;
  COLL_EXPECT_FAILS(coll_tensor_wrap(&view, nullptr, nullptr, &tensor), COLL_INVALID_ARGUMENT,
                    "shape is null");
}

TEST_F(EmbedTest, StateIsNeededBeforeAStep) {
  coll_executable step = compile(kEmptyStep, 1);
  coll_instance instance = {0};
  COLL_EXPECT_OK(coll_instance_create(step, nullptr, &instance));
  COLL_EXPECT_FAILS(coll_instance_step(instance, nullptr, 0, nullptr, 0), COLL_INVALID_ARGUMENT,
                    "not initialised");
  COLL_EXPECT_OK(coll_instance_free(instance));
  coll_instance_options options = {};
  options.struct_size = sizeof(options);
  options.backend = "telepathy";
  COLL_EXPECT_FAILS(coll_instance_create(step, &options, &instance), COLL_INVALID_ARGUMENT,
                    "telepathy");
  options.backend = nullptr;
  options.world_size = 2;
  COLL_EXPECT_FAILS(coll_instance_create(step, &options, &instance), COLL_INVALID_ARGUMENT,
                    "bootstrap");
  COLL_EXPECT_OK(coll_executable_free(step));
}

} // namespace
} // namespace coll::embed
