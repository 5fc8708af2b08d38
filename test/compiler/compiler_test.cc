// The compiler as one call: its results, and its errors for a step that it refuses.

#include "compiler/compiler.h"

#include <gtest/gtest.h>
#include <thread>

using namespace coll::run;

namespace {

constexpr llvm::StringLiteral kStep = R"(
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
  %0 = arith.addf %w, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";

TEST(Compile, ReturnsCodeAndDescriptor) {
  Request request;
  request.text = kStep;
  auto made = compile(request);
  ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
  ASSERT_EQ(made->code.classes.size(), 1u);
  EXPECT_NE(made->code.classes[0].descriptor.find("\"args\""), std::string::npos);
  EXPECT_FALSE(made->isFromCache);
  EXPECT_TRUE(made->stages.empty());
}

TEST(Compile, KeepsTheStagesIfAsked) {
  Request request;
  request.text = kStep;
  request.target.ranks = 2;
  request.keepStages = true;
  auto made = compile(request);
  ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
  ASSERT_GT(made->stages.size(), 3u);
  EXPECT_EQ(made->stages.front().name, "00-input");
  EXPECT_NE(made->stages.back().text.find("llvm."), std::string::npos);
}

TEST(Compile, TellsTheLineOfASyntaxError) {
  std::vector<Message> said;
  Request request;
  request.name = "mine.mlir";
  request.text = "func.func @step(\n  %w: tensor<4xnothing>) { return }";
  request.onMessage = [&](Message message) { said.push_back(std::move(message)); };
  auto made = compile(request);
  ASSERT_FALSE(bool(made));
  EXPECT_NE(llvm::toString(made.takeError()).find("'mine.mlir' is not MLIR"), std::string::npos);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].severity, mlir::DiagnosticSeverity::Error);
  EXPECT_EQ(said[0].location.rfind("mine.mlir:2:", 0), 0u) << said[0].location;
  EXPECT_NE(said[0].rendered.find('^'), std::string::npos);
}

TEST(Compile, KeepsTheNotesOfADiagnosticWithTheirPlaces) {
  std::vector<Message> said;
  Request request;
  request.name = "mine.mlir";
  request.text = R"(func.func public @main(%x: tensor<4xf32>) -> tensor<3xcomplex<f32>> {
    %0 = "stablehlo.fft"(%x) {fft_length = array<i64: 4>}
        : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    return %0 : tensor<3xcomplex<f32>>
  })";
  request.stateArgs = 0;
  request.onMessage = [&](Message message) { said.push_back(std::move(message)); };
  auto made = compile(request);
  ASSERT_FALSE(bool(made));
  llvm::consumeError(made.takeError());
  ASSERT_FALSE(said.empty());
  const std::vector<Message> &notes = said[0].notes;
  auto isOfTransform = [](const Message &note) {
    return note.text.find("stablehlo.fft, 1 time") == 0;
  };
  const auto found = llvm::find_if(notes, isOfTransform);
  ASSERT_NE(found, notes.end()) << said[0].rendered;
  EXPECT_EQ(found->location.rfind("mine.mlir:2:", 0), 0u) << found->location;
  Message copy;
  llvm::json::Path::Root root;
  ASSERT_TRUE(fromJSON(toJSON(said[0]), copy, root));
  EXPECT_EQ(copy.notes.size(), notes.size());
  EXPECT_EQ(copy.notes.front().text, notes.front().text);
}

TEST(Compile, RefusesTextThatTheParserCannotTake) {
  Request request;
  std::string deep(2000, '(');
  request.text = deep;
  auto made = compile(request);
  ASSERT_FALSE(bool(made));
  EXPECT_NE(llvm::toString(made.takeError()).find("nest deeper"), std::string::npos);
}

TEST(Compile, AnswersEachOfManyThreads) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (std::string &error : errors)
    threads.emplace_back([&error] {
      Request request;
      request.text = kStep;
      if (auto made = compile(request); !made)
        error = llvm::toString(made.takeError());
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
}

} // namespace
