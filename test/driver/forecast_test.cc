// What is said of a run before it, beside what the run does.

#include "compiler/step_compiler.h"
#include "driver/batches.h"
#include "driver/forecast/forecast.h"
#include "driver/launch.h"
#include "driver/trainer.h"
#include "runtime/base/memory_use.h"

#include <gtest/gtest.h>

namespace coll::run {
namespace {

struct Case {
  const char *step, *mesh, *strategy;
  int64_t stateArgs;
};

struct Compiled {
  mlir::coll::ObjectCode code;
  Forecast forecast;
};

llvm::Expected<Compiled> compileFor(const Case &test, bool narrowSums = false) {
  StepCompiler compiler(nullptr);
  auto file = compiler.open(std::string(COLL_TEST_DATA) + "/jax/" + test.step + "/step.mlir",
                            test.stateArgs);
  if (!file)
    return file.takeError();
  Target target;
  target.mesh = llvm::cantFail(parseMesh(test.mesh));
  target.ranks = countRanks(target.mesh);
  target.strategy = test.strategy;
  target.narrowSums = narrowSums;
  CompileDetails details;
  auto code = compiler.compile(*file, target, &details);
  if (!code)
    return code.takeError();
  auto forecast = makeForecast(*code, details.explanation);
  if (!forecast)
    return forecast.takeError();
  return Compiled{std::move(*code), std::move(*forecast)};
}

int64_t foreseenBytes(const Forecast &forecast) {
  int64_t bytes = 0;
  for (const rt::Descriptor &descriptor : forecast.classes)
    for (auto [first, last] : descriptor.ranks)
      bytes += (last - first + 1) * rt::memoryOf(descriptor).total();
  return bytes;
}

/// Runs two steps on made-up data, and returns the most that the ranks' buffers and collectives
/// took at once.
llvm::Expected<int64_t> measurePeak(mlir::coll::ObjectCode code) {
  const int64_t before = rt::MemoryUse::now();
  rt::MemoryUse::restartPeak();
  auto step = launchStep(std::move(code), {});
  if (!step)
    return step.takeError();
  std::vector<rt::TensorInfo> states, batches;
  for (const rt::TensorInfo &info : step->executor->descriptor().args)
    (info.isState() ? states : batches).push_back(info);
  auto source = makeRandomBatches(batches, 1);
  RunResult result;
  if (llvm::Error error = runSteps(*step->executor, makeRandomState(states, 1), *source, 2, result))
    return error;
  return rt::MemoryUse::peak() - before;
}

class ForecastTest : public testing::TestWithParam<Case> {};

TEST_P(ForecastTest, MemoryIsWhatTheRunTakes) {
  auto compiled = compileFor(GetParam());
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  const int64_t foreseen = foreseenBytes(compiled->forecast);
  auto measured = measurePeak(std::move(compiled->code));
  ASSERT_TRUE(bool(measured)) << llvm::toString(measured.takeError());
  EXPECT_EQ(*measured, foreseen);
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  std::string name = std::string(info.param.step) + "_" + info.param.strategy;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Steps, ForecastTest,
                         testing::Values(Case{"mlp_digits_momentum", "dp=4", "data", 8},
                                         Case{"mlp_digits_momentum", "dp=3", "zero1", 8},
                                         Case{"mlp_digits_momentum", "dp=2,tp=2", "fsdp,tensor", 8},
                                         Case{"mlp_digits_momentum", "tp=4", "tensor", 8},
                                         Case{"gpt_tiny_adamw", "dp=2,tp=2", "fsdp,tensor", 79},
                                         Case{"gpt_tiny_adamw", "dp=2,sp=2", "zero1,sequence", 79}),
                         nameOf);

TEST(Forecast, ALimitNamesTheNeedAndTheLargestBuffers) {
  auto compiled = compileFor({"mlp_digits_momentum", "dp=2", "data", 8});
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  const int64_t need = rt::memoryOf(compiled->forecast.descriptor()).total();
  EXPECT_FALSE(bool(checkMemoryLimit(compiled->forecast, need)));
  const std::string refused = llvm::toString(checkMemoryLimit(compiled->forecast, need - 1));
  EXPECT_NE(refused.find("a rank needs "), std::string::npos) << refused;
  EXPECT_NE(refused.find("state argument \"s[0]['w1']\" (f32[64, 128]) split [-, -]: "),
            std::string::npos)
      << refused;
}

TEST(Forecast, JsonHasTheDocumentedFields) {
  auto compiled = compileFor({"mlp_digits_momentum", "dp=2,tp=2", "fsdp,tensor", 8});
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  const llvm::json::Value value = toJSON(compiled->forecast);
  const llvm::json::Object &root = *value.getAsObject();
  EXPECT_EQ(root.getInteger("version"), 1);
  EXPECT_EQ(root.getInteger("ranks"), 4);
  EXPECT_EQ(root.getArray("mesh")->size(), 2u);
  EXPECT_EQ(root.getArray("arguments")->size(), 10u);
  const llvm::json::Object &memory = *root.getArray("memory")->front().getAsObject();
  int64_t sum = 0;
  for (const llvm::json::Value &buffer : *memory.getArray("buffers"))
    sum += *buffer.getAsObject()->getInteger("bytes");
  EXPECT_EQ(memory.getInteger("total_bytes"), sum);
  double us = 0, bytes = 0;
  for (const llvm::json::Value &entry : *root.getArray("collectives")) {
    const llvm::json::Object &collective = *entry.getAsObject();
    for (const char *field : {"kind", "reduction", "value", "source", "name", "why"})
      EXPECT_TRUE(collective.getString(field)) << field;
    EXPECT_FALSE(collective.getString("why")->empty());
    const llvm::json::Object *cause = collective.getObject("cause");
    ASSERT_TRUE(cause);
    EXPECT_TRUE(cause->getString("from") && cause->getString("to"));
    const double perCall = *collective.getNumber("bytes_per_call");
    EXPECT_GE(perCall, double(*cause->getInteger("bound_bytes")));
    EXPECT_EQ(perCall * double(*collective.getInteger("group_size")),
              double(*collective.getInteger("group_bytes_per_call")));
    EXPECT_FALSE(cause->getArray("uses")->empty());
    for (const llvm::json::Value &use : *cause->getArray("uses"))
      for (const char *field : {"operation", "source", "needs"})
        EXPECT_TRUE(use.getAsObject()->getString(field)) << field;
    EXPECT_TRUE(collective.get("runner_up") && collective.get("avoid"));
    const double calls = double(*collective.getInteger("calls_per_step"));
    us += calls * *collective.getNumber("us_per_call");
    bytes += calls * perCall;
  }
  const llvm::json::Object &predicted = *root.getObject("predicted");
  EXPECT_DOUBLE_EQ(*predicted.getNumber("communication_us"), us);
  EXPECT_DOUBLE_EQ(*predicted.getNumber("bytes_per_step"), bytes);
  EXPECT_GT(*predicted.getNumber("compute_us"), 0);
}

} // namespace
} // namespace coll::run
