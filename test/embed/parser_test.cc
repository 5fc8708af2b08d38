// Texts that are parsed by another process, which may crash, hang, give wrong answers or be
// missing.

#include "test/embed/fixture.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace coll::embed {
namespace {

class ParserTest : public EmbedTest {
protected:
  void SetUp() override {
    EmbedTest::SetUp();
    folder = testing::TempDir() + "coll-parser-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    COLL_EXPECT_OK(coll_compile_options_init(&options, sizeof(options)));
    options.parse_apart = 1;
    options.name = "train.mlir";
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    EmbedTest::TearDown();
  }

  // Replaces the parser by a script.
  void useScript(const std::string &body) {
    script = folder + "/parser";
    std::ofstream(script) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    options.parser = script.c_str();
  }
  Said compileApart(const std::string &text) {
    coll_executable step = {0};
    const Said said = take(coll_compile(context, text.data(), text.size(), &options, &step));
    EXPECT_EQ(step.id != 0, said.code == COLL_OK);
    COLL_EXPECT_OK(coll_executable_free(step));
    return said;
  }

  std::string folder, script;
  coll_compile_options options = {};
};

// Returns the collectives of a step on two ranks, with their places in the text.
std::string collectivesOf(coll_context context, const coll_compile_options &options) {
  coll_executable step = {0};
  COLL_EXPECT_OK(coll_compile(context, kStep, strlen(kStep), &options, &step));
  coll_executable_info info = {};
  info.struct_size = sizeof(info);
  COLL_EXPECT_OK(coll_executable_describe(step, &info));
  std::string text;
  for (size_t i = 0; i < info.num_collectives; ++i) {
    coll_collective_info op = {};
    op.struct_size = sizeof(op);
    COLL_EXPECT_OK(coll_executable_collective(step, i, &op));
    text += std::string(op.kind) + " at " + op.location + "\n";
  }
  COLL_EXPECT_OK(coll_executable_free(step));
  return text;
}

TEST_F(ParserTest, StepsCompileAsTheyDoHere) {
  options.ranks = 2;
  const std::string apart = collectivesOf(context, options);
  EXPECT_NE(apart.find("all_reduce at train.mlir:"), std::string::npos) << apart;
  options.parse_apart = 0;
  EXPECT_EQ(apart, collectivesOf(context, options));
}

TEST_F(ParserTest, ErrorsNameTheLine) {
  const Said said = compileApart("func.func @step(\n    %w: tensor<4xnothing>) { return }");
  EXPECT_EQ(said.code, COLL_COMPILE);
  EXPECT_EQ(said.location.rfind("train.mlir:2:", 0), 0u) << said.location;
  ASSERT_FALSE(said.notes.empty());
  EXPECT_NE(said.notes.back().find("not MLIR that can be read"), std::string::npos);
}

TEST_F(ParserTest, HostileTextsAreRefused) {
  for (const std::string &text :
       {std::string(5000, '('), std::string("module\0 {}", 10), std::string("ML\xefR"),
        std::string("ML\xefR\x06\x00garbage and more of it, without an end", 45),
        std::string("#a = #a\nmodule {}"), std::string("func.func @other() { return }")}) {
    const Said said = compileApart(text);
    EXPECT_EQ(said.code, COLL_COMPILE) << said.message;
    EXPECT_NE(said.message, "");
  }
}

TEST_F(ParserTest, CrashIsAnError) {
  useScript("kill -SEGV $$");
  const Said said = compileApart(kStep);
  EXPECT_EQ(said.code, COLL_COMPILE);
  EXPECT_NE(said.message.find("gave no answer (Segmentation fault)"), std::string::npos)
      << said.message;
}

TEST_F(ParserTest, HangEndsByDeadline) {
  useScript("exec sleep 60");
  options.parser_timeout_us = 200'000;
  const Said said = compileApart(kStep);
  EXPECT_EQ(said.code, COLL_TIMEOUT);
  EXPECT_NE(said.message.find("no answer in 200 ms"), std::string::npos) << said.message;
}

TEST_F(ParserTest, AnswersThatAreNoneAreRefused) {
  for (const char *body : {"exit 0", "exit 3", "echo hello >&0", "head -c 100000 /dev/zero >&0",
                           "printf 'ClParse1\\377\\377\\377\\377\\377\\377\\377\\377' >&0"}) {
    useScript(body);
    const Said said = compileApart(kStep);
    EXPECT_EQ(said.code, COLL_COMPILE) << body;
    EXPECT_NE(said.message.find("gave no answer"), std::string::npos) << said.message;
  }
}

TEST_F(ParserTest, MemoryIsLimited) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer takes the memory itself";
#endif
  options.parser_memory = 8 << 20;
  const Said said = compileApart(std::string(32 << 20, ' '));
  EXPECT_EQ(said.code, COLL_COMPILE);
  EXPECT_NE(said.message.find("more than the 8 MiB"), std::string::npos) << said.message;
}

TEST_F(ParserTest, MissingParserIsNamed) {
  const std::string missing = folder + "/nothing";
  options.parser = missing.c_str();
  Said said = compileApart(kStep);
  EXPECT_EQ(said.code, COLL_UNSUPPORTED);
  EXPECT_NE(said.message.find(missing), std::string::npos) << said.message;
  useScript("");
  std::ofstream(script) << "\x7f" << "ELF of another machine";
  said = compileApart(kStep);
  EXPECT_EQ(said.code, COLL_UNSUPPORTED);
  EXPECT_NE(said.message.find("cannot start"), std::string::npos) << said.message;
  options.parser_timeout_us = -1;
  EXPECT_EQ(compileApart(kStep).code, COLL_INVALID_ARGUMENT);
}

} // namespace
} // namespace coll::embed
