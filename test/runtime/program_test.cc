#include "runtime/step/class_check.h"
#include "test/runtime/fixtures.h"

#include <random>

namespace coll::rt::test {
namespace {

int32_t noStep(const CollAbi *, CollContext *, void *const *, void *const *, void *) { return 0; }

// The default descriptor with the first occurrence of `from` replaced.
std::string edited(const std::string &from, const std::string &to) {
  std::string text = descriptorText(2);
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expectRejected(const std::string &from, const std::string &to, const std::string &message) {
  Result<Descriptor> parsed = Descriptor::parse(edited(from, to));
  ASSERT_FALSE(parsed.ok()) << to;
  EXPECT_EQ(parsed.status().code(), kCollInvalidCall);
  EXPECT_TRUE(contains(parsed.status(), message)) << parsed.status().message();
}

TEST(ProgramTest, ReadsEveryField) {
  Result<Descriptor> parsed = Descriptor::parse(descriptorText(2));
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(parsed->name, "step");
  EXPECT_EQ(parsed->numRanks(), 2);
  EXPECT_TRUE(parsed->hasRank(1));
  EXPECT_FALSE(parsed->hasRank(2));
  ASSERT_EQ(parsed->groups.size(), 1u);
  EXPECT_EQ(parsed->groups[0][0], (std::vector<int>{0, 1}));
  EXPECT_EQ(parsed->findOp(0)->loc, "train.py:12:3");
  EXPECT_EQ(parsed->findOp(0)->name, "grad");
  EXPECT_EQ(parsed->findOp(2), nullptr);
  EXPECT_EQ(parsed->findOp(-1), nullptr);
  EXPECT_TRUE(parsed->args[0].isState());
  EXPECT_EQ(parsed->args[1].local, (std::vector<int64_t>{4}));
  EXPECT_EQ(parsed->args[1].sharding[0].axes, (std::vector<std::string>{"dp"}));
  EXPECT_EQ(parsed->results[0].arg, 0);
  EXPECT_EQ(parsed->results[1].arg, -1);
  EXPECT_EQ(parsed->arenaBytes, 256);
}

TEST(ProgramTest, RejectsWhatIsInconsistent) {
  expectRejected(R"("abi":9)", R"("abi":5)", "compiled for 5");
  expectRejected(R"("abi":9)", R"("abi":9,"device":"tpu")", "device");
  expectRejected(R"("abi":9)", R"("abi":9,"reached":1)", "reached");
  expectRejected(R"("size":2)", R"("size":0)", "mesh.axes[0].size");
  expectRejected(R"("size":2)", R"("size":99999999999)", "mesh.axes[0].size");
  expectRejected(R"("ranks":[[0,1]])", R"("ranks":[[0,2]])", "ranks[0][1]");
  expectRejected(R"("ranks":[[0,1]])", R"("ranks":[[1,0]])", "expected [first, last]");
  expectRejected(R"("ranks":[[0,1]])", R"("ranks":[[0,1],[1,1]])", "rank 1 occurs twice");
  expectRejected(R"("ranks":[[0,1]])", R"("ranks":[])", "no rank");
  expectRejected(R"("groups":[[[0,1]]])", R"("groups":[[[0,2]]])", "groups[0][0][1]");
  expectRejected(R"("groups":[[[0,1]]])", R"("groups":[[[0],[0]]])", "occurs twice");
  expectRejected(R"("groups":[[[0,1]]])", R"("groups":[[[]]])", "empty list");
  expectRejected(R"("group":0)", R"("group":1)", "ops[0].group");
  expectRejected(R"("dtype":"f32","shape":[4])", R"("dtype":"f99","shape":[4])", "f99");
  expectRejected(R"("shape":[4])", R"("shape":[-4])", "args[0].shape[0]");
  expectRejected(R"("shape":[4])", R"("shape":[4.5])", "args[0].shape[0]");
  expectRejected(R"("shape":[4])", R"("shape":[1099511627776,1099511627776])", "too many");
  expectRejected(R"("shape":[8],"local":[4])", R"("shape":[8],"local":[3])", "blocks of 4");
  expectRejected(R"(["dp"])", R"(["tp"])", "no axis \"tp\"");
  expectRejected(R"(["dp"])", R"(["dp","dp"])", "occurs twice");
  expectRejected(R"("arg":0)", R"("arg":2)", "results[0].arg");
  expectRejected(R"("arg":0)", R"("arg":1)", "type of argument 1");
  expectRejected(R"("arena_bytes":256)", R"("arena_bytes":-1)", "arena_bytes");
  expectRejected(R"("arena_bytes":256)", R"("arena_bytes":"many")", "arena_bytes");
}

std::string withParts(const std::string &parts) {
  return R"("role":"state","parts":[)" + parts + "]";
}

TEST(ProgramTest, StatesMayBePartsOfAnArgument) {
  Result<Descriptor> parsed = Descriptor::parse(
      edited(R"("role":"state")", withParts(R"({"name":"a","shape":[2],"state":1,"offset":0},)"
                                            R"({"name":"b","shape":[],"state":0,"offset":3})")));
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  ASSERT_EQ(parsed->states.size(), 2u);
  EXPECT_EQ(parsed->states[0].info.name, "b");
  EXPECT_EQ(parsed->states[0].offset, 3);
  EXPECT_EQ(parsed->states[1].info.shape, (std::vector<int64_t>{2}));
  EXPECT_TRUE(parsed->states[1].isPart);
}

TEST(ProgramTest, StateWithNoPartsIsInternal) {
  Result<Descriptor> parsed = Descriptor::parse(edited(R"("role":"state")", withParts("")));
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_TRUE(parsed->args[0].isInternal);
  EXPECT_TRUE(parsed->states.empty());
  expectRejected(R"("role":"batch")", R"("role":"batch","parts":[])", "only a state argument");
}

TEST(ProgramTest, RejectsPartsThatDoNotFit) {
  auto rejects = [](const std::string &parts, const std::string &message) {
    expectRejected(R"("role":"state")", withParts(parts), message);
  };
  rejects(R"({"name":"a","shape":[2],"state":0,"offset":3})", "must lie within");
  rejects(R"({"name":"a","shape":[2],"state":0,"offset":0},)"
          R"({"name":"b","shape":[2],"state":1,"offset":1})",
          "in order and without overlap");
  rejects(R"({"name":"a","shape":[2],"state":1,"offset":0})", "state 1, which does not exist");
  rejects(R"({"name":"a","shape":[2],"state":0,"offset":0},)"
          R"({"name":"b","shape":[1],"state":0,"offset":2})",
          "occurs twice");
  rejects(R"({"name":"a","shape":[2],"state":-1,"offset":0})", "args[0].parts[0].state");
}

TEST(ProgramTest, RejectsWhatIsNoDescriptor) {
  for (const char *text : {"", "{", "[]", "null", "17", "\"x\"", "{}", "{\"abi\":6}", "\xff\xfe"})
    EXPECT_FALSE(Descriptor::parse(text).ok()) << text;
  EXPECT_TRUE(contains(Descriptor::parse("{\"abi\": }").status(), "near byte"));
  EXPECT_FALSE(Descriptor::parse(std::string(100'000, '[')).ok());
  EXPECT_FALSE(Program::create(descriptorText(2), nullptr, nullptr).ok());
}

TEST(ProgramTest, ReadsGpuKernels) {
  Result<std::vector<GpuKernel>> kernels = GpuKernel::parse(
      R"([{"name":"k0","grid":[7,2],"block":[32,4,1],"shared":64,"loc":"train.py:3:1"},
          {"name":"k1","grid":5,"block":256}])");
  ASSERT_TRUE(kernels.ok()) << kernels.status().toString();
  ASSERT_EQ(kernels->size(), 2u);
  const GpuKernel &first = (*kernels)[0], &second = (*kernels)[1];
  EXPECT_EQ(first.name, "k0");
  EXPECT_EQ(std::vector<unsigned>(first.grid, first.grid + 3), (std::vector<unsigned>{7, 2, 1}));
  EXPECT_EQ(std::vector<unsigned>(first.block, first.block + 3), (std::vector<unsigned>{32, 4, 1}));
  EXPECT_EQ(first.sharedBytes, 64u);
  EXPECT_EQ(first.loc, "train.py:3:1");
  EXPECT_EQ(second.block[0], 256u);
}

TEST(ProgramTest, RejectsGpuKernelsThatNoGpuRuns) {
  auto expectRefused = [](const char *text, const char *message) {
    Result<std::vector<GpuKernel>> kernels = GpuKernel::parse(text);
    ASSERT_FALSE(kernels.ok()) << text;
    EXPECT_TRUE(contains(kernels.status(), message)) << kernels.status().message();
  };
  expectRefused("[", "near byte");
  expectRefused("{}", "expected an array");
  expectRefused(R"([{"grid":1,"block":1}])", "kernels[0].name");
  expectRefused(R"([{"name":"k","block":1}])", "kernels[0].grid: missing");
  expectRefused(R"([{"name":"k","grid":0,"block":1}])", "kernels[0].grid");
  expectRefused(R"([{"name":"k","grid":1,"block":[64,64]}])", "more than 1024 threads");
  expectRefused(R"([{"name":"k","grid":[1,1,1,1],"block":1}])", "kernels[0].grid[3]");
}

TEST(ProgramTest, GpuKernelsNeedAnImage) {
  std::string text = descriptorText(1);
  text.insert(1, R"("device":"gpu",)");
  Result<Program> created =
      Program::create(text, noStep, nullptr, {nullptr, R"([{"name":"k","grid":1,"block":1}])"});
  ASSERT_FALSE(created.ok());
  EXPECT_TRUE(contains(created.status(), "no image")) << created.status().message();
  EXPECT_TRUE(Program::create(text, noStep, nullptr).ok());
}

// Damaged texts must be refused or accepted, without a crash.
TEST(ProgramTest, SurvivesRandomDamage) {
  std::mt19937 random(1);
  const std::string text = descriptorText(4);
  const std::string alphabet = "{}[]\",:0123456789-.eabdp \n";
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = text;
    for (unsigned edit = 0; edit <= random() % 4; ++edit) {
      size_t at = random() % damaged.size();
      switch (random() % 3) {
      case 0:
        damaged[at] = alphabet[random() % alphabet.size()];
        break;
      case 1:
        damaged.erase(at, 1 + random() % 20);
        break;
      default:
        damaged.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
      if (damaged.empty())
        break;
    }
    Result<Descriptor> parsed = Descriptor::parse(damaged);
    if (parsed)
      EXPECT_LE(parsed->numRanks(), 1 << 24);
    else
      EXPECT_FALSE(parsed.status().message().empty());
  }
}

Program program(const std::string &text, CollEntry init = nullptr) {
  Result<Program> created = Program::create(text, noStep, init);
  EXPECT_TRUE(created.ok()) << created.status().toString();
  return created ? created.take() : Program();
}

TEST(ClassCheckTest, ClassesCoverEveryRankOnce) {
  Program low = program(descriptorText(4, 0, 1, "[]")),
          high = program(descriptorText(4, 2, 3, "[]"));
  Result<Job> job = checkClasses({low, high});
  ASSERT_TRUE(job.ok()) << job.status().toString();
  EXPECT_EQ(job->classOfRank, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_TRUE(contains(checkClasses({low}).status(), "rank 2 is in no rank class"));
  EXPECT_TRUE(
      contains(checkClasses({low, high, low}).status(), "rank 0 is in rank classes 0 and 2"));
  EXPECT_FALSE(checkClasses({}).ok());
}

TEST(ClassCheckTest, ClassesAgree) {
  std::string other = descriptorText(4, 2, 3, "[]");
  other.replace(other.find("\"w\",\"role\":\"state\""), 17, "\"w\",\"role\":\"batch");
  Program low = program(descriptorText(4, 0, 1, "[]"));
  EXPECT_FALSE(checkClasses({low, program(other)}).ok());
  EXPECT_TRUE(contains(checkClasses({low, program(descriptorText(4, 2, 3, "[]"), noStep)}).status(),
                       "init"));
  EXPECT_TRUE(
      contains(checkClasses({low, program(descriptorText(2, 0, 1, "[]"))}).status(), "mesh"));
}

// A program of one stage: its own state, numbered as in the step.
std::string stageText(int rank, int index, const std::string &name) {
  const std::string number = std::to_string(index), self = std::to_string(rank);
  return R"({"abi":)" + std::to_string(kCollAbiVersion) +
         R"(,"name":"step","mesh":{"name":"m","axes":[{"name":"pp","size":2}]},"ranks":[[)" + self +
         "," + self + R"(]],"args":[{"name":")" + name +
         R"(","role":"state","dtype":"f32","shape":[2],"index":)" + number +
         R"(}],"results":[{"name":")" + name +
         R"(","role":"state","dtype":"f32","shape":[2],"arg":0,"index":)" + number + "}]}";
}

TEST(ClassCheckTest, ClassesMayHaveDifferentArguments) {
  const Program first = program(stageText(0, 0, "a")), second = program(stageText(1, 1, "b"));
  Result<Job> job = checkClasses({first, second});
  ASSERT_TRUE(job.ok()) << job.status().toString();
  ASSERT_EQ(job->signature.args.size(), 2u);
  EXPECT_EQ(job->signature.args[1].name, "b");
  EXPECT_EQ(job->signature.results[1].arg, 1);
  EXPECT_TRUE(contains(
      checkClasses({program(stageText(0, 0, "a")), program(stageText(1, 2, "b"))}).status(),
      "no rank class has argument 1"));
}

} // namespace
} // namespace coll::rt::test
