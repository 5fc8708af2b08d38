// Executors over hand-written entry points, which call the table as compiled code does.

#include "runtime/base/machine.h"
#include "runtime/base/memory_use.h"
#include "runtime/base/trace.h"
#include "runtime/step/rank_memory.h"
#include "test/runtime/fixtures.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace coll::rt::test {
namespace {

float *f32(void *buffer) { return static_cast<float *>(buffer); }

// w += sum over ranks of sum(x); loss = that sum. The arena holds the partial sum.
int32_t addStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                void *arena) {
  if (abi->version != kCollAbiVersion)
    return kCollInternal;
  int64_t position = 0, size = 0;
  if (int32_t code = abi->group_position(ctx, 0, &position, &size))
    return code;
  float *partial = f32(arena);
  *partial = 0;
  for (int64_t i = 0; i < (8 + size - 1) / size; ++i)
    *partial += f32(args[1])[i];
  if (int32_t code = abi->all_reduce(ctx, 0, partial, results[1], 1, kCollF32, kCollSum,
                                     kCollAccumulateAny, kCollOrderRank, 0, nullptr))
    return code;
  for (int i = 0; i < 4; ++i)
    f32(results[0])[i] = f32(args[0])[i] + f32(results[1])[0];
  return kCollOk;
}

int32_t broadcastInit(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                      void *) {
  if (int32_t code = abi->init(ctx, 1, 0))
    return code;
  return abi->broadcast(ctx, 1, args[0], results[0], 4, kCollF32, 0, 0, nullptr);
}

const HostTensor kState = floats({4}, {1, 2, 3, 4});
const HostTensor kBatch = floats({8}, {1, 2, 3, 4, 5, 6, 7, 8});

TEST(ExecutorTest, StepsKeepStateAndReturnResults) {
  for (int ranks : {1, 2, 3, 4, 8}) {
    for (CollEntry init : {CollEntry(nullptr), CollEntry(broadcastInit)}) {
      std::unique_ptr<Executor> executor = makeExecutor(ranks, addStep, init);
      ASSERT_TRUE(executor);
      EXPECT_EQ(executor->numRanks(), ranks);
      Status initialized = executor->initialize({kState});
      ASSERT_TRUE(initialized.ok()) << initialized.toString();
      for (int step = 0; step < 3; ++step) {
        Result<std::vector<HostTensor>> results = executor->step({kBatch});
        ASSERT_TRUE(results.ok()) << results.status().toString();
        ASSERT_EQ(results->size(), 1u);
        EXPECT_EQ(values((*results)[0]), (std::vector<float>{36}));
      }
      EXPECT_EQ(values((*executor->state())[0]), (std::vector<float>{109, 110, 111, 112}));
      EXPECT_EQ(values((*executor->stateOf(ranks - 1))[0]),
                (std::vector<float>{109, 110, 111, 112}));
      EXPECT_FALSE(executor->stateOf(ranks).ok());
    }
  }
}

TEST(ExecutorTest, CountsBytesAndCalls) {
  std::unique_ptr<Executor> executor = makeExecutor(4, addStep, broadcastInit);
  ASSERT_TRUE(executor && executor->initialize({kState}).ok());
  EXPECT_EQ(executor->stats().bytesPerStep, 16);
  EXPECT_EQ(executor->stats().collectivesPerStep, 8);
  ASSERT_TRUE(executor->step({kBatch}).ok());
  EXPECT_EQ(executor->stats().bytesPerStep, 16);
  EXPECT_EQ(executor->stats().collectivesPerStep, 4);
}

TEST(ExecutorTest, InputsAreCheckedByName) {
  std::unique_ptr<Executor> executor = makeExecutor(2, addStep);
  ASSERT_TRUE(executor);
  EXPECT_TRUE(contains(executor->step({kBatch}).status(), "not initialised"));
  EXPECT_TRUE(contains(executor->initialize({}), "takes 1 state arguments, got 0"));
  EXPECT_TRUE(contains(executor->initialize({kState, kState}), "got 2"));
  EXPECT_TRUE(contains(executor->initialize({floats({2, 2}, {1, 2, 3, 4})}),
                       "state argument 0 (\"w\") is f32[2, 2]"));
  EXPECT_TRUE(contains(executor->initialize({floats({4}, {1, 2})}), "expected f32[4]"));
  HostTensor integers = kState;
  integers.dtype = kCollI32;
  EXPECT_TRUE(contains(executor->initialize({integers}), "i32[4]"));
  // None of these ends the executor.
  ASSERT_TRUE(executor->initialize({kState}).ok());
  EXPECT_TRUE(contains(executor->step({kState}).status(), "batch argument 0 (\"x\")"));
  EXPECT_TRUE(executor->step({kBatch}).ok());
}

TEST(ExecutorTest, OptionsAreChecked) {
  Result<Program> program = Program::create(descriptorText(2), addStep, nullptr);
  ASSERT_TRUE(program.ok());
  ExecutorOptions options;
  options.backend = "carrier pigeon";
  EXPECT_TRUE(contains(Executor::create({*program}, options).status(), "known: threads"));
  options = {};
  options.timeoutUs = -1;
  EXPECT_EQ(Executor::create({*program}, options).status().code(), kCollInvalidCall);
}

TEST(ExecutorTest, AbsurdSizesAreRefused) {
  std::string text = descriptorText(2);
  text.replace(text.find("\"arena_bytes\":256"), 17, "\"arena_bytes\":4000000000000000000");
  Result<Program> program = Program::create(text, addStep, nullptr);
  ASSERT_TRUE(program.ok());
  const Status refused = Executor::create({*program}).status();
  EXPECT_EQ(refused.code(), kCollDevice);
  EXPECT_TRUE(contains(refused, "2 ranks in one process, and " + memoryLimit().name + " is "))
      << refused.message();
  text = descriptorText(2);
  text.replace(text.find("\"size\":2"), 8, "\"size\":2000");
  text.replace(text.find("\"local\":[4],\"sharding\":[{\"axes\":[\"dp\"]"), 11, "\"local\":[1]");
  text.replace(text.find("[[0,1]],\"groups\""), 7, "[[0,1999]]");
  program = Program::create(text, addStep, nullptr);
  ASSERT_TRUE(program.ok()) << program.status().toString();
  EXPECT_EQ(Executor::create({*program}).status().code(), kCollUnsupported);
}

// Each buffer has its size in the descriptor plus alignment.
TEST(ExecutorTest, TheMemoryOfARankIsThatOfItsBuffers) {
  Result<Descriptor> descriptor = Descriptor::parse(descriptorText(4));
  ASSERT_TRUE(descriptor.ok());
  RankMemory memory = memoryOf(*descriptor);
  EXPECT_EQ(memory.state, 64); // its result is in the same place
  EXPECT_EQ(memory.batch, 64);
  EXPECT_EQ(memory.outputs, 64);
  EXPECT_EQ(memory.temporaries, 256 + 64);
  EXPECT_EQ(memory.total(), 3 * 64 + 320);
  descriptor->results[0].arg = -1; // a buffer of its own, which swaps with the argument's
  EXPECT_EQ(memoryOf(*descriptor).state, 2 * 64);
  descriptor->arenaBytes = INT64_MAX;
  EXPECT_EQ(memoryOf(*descriptor).total(), -1);
}

// Ranks allocate exactly what the descriptor says, and a step allocates nothing more.
TEST(ExecutorTest, TheMemoryOfARunIsThatOfItsRanks) {
  const int64_t before = MemoryUse::now();
  MemoryUse::restartPeak();
  Result<Program> program = Program::create(descriptorText(4), addStep, nullptr);
  ASSERT_TRUE(program.ok());
  Result<std::unique_ptr<Executor>> executor = Executor::create({*program});
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  const int64_t expected = 4 * memoryOf(program->descriptor).total();
  EXPECT_EQ(MemoryUse::now() - before, expected);
  EXPECT_EQ(MemoryUse::peak() - before, expected);
  executor->reset();
  EXPECT_EQ(MemoryUse::now(), before);
}

// Ranks 0 and 1 run one program, 2 and 3 another; their op tables differ.
int32_t otherStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                  void *) {
  f32(results[1])[0] = f32(args[1])[0] + f32(args[1])[1];
  int32_t code = abi->all_reduce(ctx, 1, results[1], results[1], 1, kCollF32, kCollSum,
                                 kCollAccumulateAny, kCollOrderRank, 0, nullptr);
  for (int i = 0; i < 4; ++i)
    f32(results[0])[i] += f32(results[1])[0];
  return code;
}

TEST(ExecutorTest, ClassesRunTheirOwnPrograms) {
  Result<Program> low = Program::create(descriptorText(4, 0, 1, defaultOps()), addStep, nullptr);
  Result<Program> high = Program::create(descriptorText(4, 2, 3, defaultOps()), otherStep, nullptr);
  ASSERT_TRUE(low.ok() && high.ok());
  Result<std::unique_ptr<Executor>> executor = Executor::create({*high, *low});
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  ASSERT_TRUE((*executor)->initialize({kState}).ok());
  Result<std::vector<HostTensor>> results = (*executor)->step({kBatch});
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(values((*results)[0]), (std::vector<float>{36}));
  EXPECT_EQ(values((*(*executor)->state())[0]), (std::vector<float>{37, 38, 39, 40}));
}

TEST(ExecutorTest, ClassesMustAgreeOnTheUnitOfAShard) {
  Result<Program> low = Program::create(descriptorText(4, 0, 1, defaultOps()), addStep, nullptr);
  std::string text = descriptorText(4, 2, 3, defaultOps());
  const std::string sharding = "\"sharding\":[{\"axes\":[\"dp\"],\"unit\":";
  text.replace(text.find(sharding + "1"), sharding.size() + 1, sharding + "2");
  Result<Program> high = Program::create(text, otherStep, nullptr);
  ASSERT_TRUE(low.ok() && high.ok());
  const Status status = Executor::create({*low, *high}).status();
  EXPECT_EQ(status.code(), kCollInvalidCall);
  EXPECT_TRUE(contains(status, "(\"x\") is sharded differently")) << status.message();
}

// A state result that names no argument: the buffers are swapped after each step.
int32_t pingPongStep(const CollAbi *, CollContext *, void *const *args, void *const *results,
                     void *) {
  for (int i = 0; i < 4; ++i)
    f32(results[0])[i] = 2 * f32(args[0])[i];
  f32(results[1])[0] = results[0] == args[0] ? 1.0f : 0.0f;
  return kCollOk;
}

TEST(ExecutorTest, StateMayAlternateBetweenBuffers) {
  std::string text = descriptorText(2);
  text.replace(text.find("\"arg\":0"), 7, "\"arg\":-1");
  Result<Program> program = Program::create(text, pingPongStep, nullptr);
  ASSERT_TRUE(program.ok());
  Result<std::unique_ptr<Executor>> executor = Executor::create({*program});
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  ASSERT_TRUE((*executor)->initialize({kState}).ok());
  for (int step = 0; step < 3; ++step) {
    Result<std::vector<HostTensor>> results = (*executor)->step({kBatch});
    ASSERT_TRUE(results.ok());
    ASSERT_EQ(results->size(), 1u);
    EXPECT_EQ(values((*results)[0])[0], 0);
  }
  EXPECT_EQ(values((*(*executor)->stateOf(1))[0]), (std::vector<float>{8, 16, 24, 32}));
}

// All buffers are aligned and the results that name an argument are its buffer.
int32_t addressStep(const CollAbi *, CollContext *, void *const *args, void *const *results,
                    void *arena) {
  bool aligned = reinterpret_cast<uintptr_t>(arena) % 64 == 0;
  for (void *buffer : {args[0], args[1], results[1]})
    aligned &= reinterpret_cast<uintptr_t>(buffer) % 64 == 0;
  f32(results[1])[0] = aligned && results[0] == args[0] ? 1.0f : 0.0f;
  return kCollOk;
}

TEST(ExecutorTest, BuffersAreAlignedAndDonated) {
  std::unique_ptr<Executor> executor = makeExecutor(3, addressStep);
  ASSERT_TRUE(executor && executor->initialize({kState}).ok());
  Result<std::vector<HostTensor>> results = executor->step({kBatch});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(values((*results)[0])[0], 1);
}

class CountingSink : public TraceSink {
public:
  void onEvent(const TraceEvent &event) override {
    counts[static_cast<size_t>(event.level)][static_cast<size_t>(event.phase)].fetch_add(1);
    bytes.fetch_add(event.bytes);
    failures.fetch_add(event.failed ? 1 : 0);
  }
  int count(TraceLevel level, TracePhase phase) const {
    return counts[static_cast<size_t>(level)][static_cast<size_t>(phase)];
  }

  std::array<std::array<std::atomic<int>, 8>, kNumTraceLevels> counts{};
  std::atomic<int64_t> bytes{0};
  std::atomic<int> failures{0};
};

std::atomic<const void *> batchSeen = nullptr;

int32_t noteBatch(const CollAbi *, CollContext *, void *const *args, void *const *results, void *) {
  batchSeen = args[1];
  f32(results[1])[0] = f32(args[1])[7];
  return kCollOk;
}

TEST(ExecutorTest, ARankThatHoldsAllOfAnAlignedBatchReadsItInPlace) {
  alignas(64) float batch[9] = {};
  const int64_t shape[] = {8};
  for (int ranks : {1, 2})
    for (int offset : {0, 1}) {
      std::unique_ptr<Executor> executor = makeExecutor(ranks, noteBatch);
      ASSERT_TRUE(executor && executor->initialize({kState}).ok());
      batch[7 + offset] = 5;
      const TensorView view{kCollF32, shape, 1, reinterpret_cast<const char *>(batch + offset), 32};
      Result<std::vector<HostTensor>> results = executor->stepFrom({view});
      ASSERT_TRUE(results.ok()) << results.status().toString();
      EXPECT_EQ(batchSeen == batch + offset, ranks == 1 && offset == 0) << ranks << " " << offset;
      if (ranks == 1) {
        EXPECT_EQ(values((*results)[0]), std::vector<float>{5});
      }
    }
}

TEST(ExecutorTest, OneStateArgumentIsFoundByItsPlace) {
  std::unique_ptr<Executor> executor = makeExecutor(2, addStep);
  ASSERT_TRUE(executor && executor->initialize({kState}).ok());
  Result<std::vector<HostTensor>> state = executor->stateAt(0);
  ASSERT_TRUE(state.ok()) << state.status().toString();
  EXPECT_EQ(values((*state)[0]), values(kState));
  EXPECT_TRUE(contains(executor->stateAt(1).status(), "no such state argument"));
}

std::atomic<bool> isReducing = false;

int32_t reduceForEver(const CollAbi *abi, CollContext *ctx, void *const *, void *const *results,
                      void *arena) {
  int32_t code = kCollOk;
  while (code == kCollOk) {
    isReducing = true;
    code = abi->all_reduce(ctx, 0, arena, results[1], 1, kCollF32, kCollSum, kCollAccumulateAny,
                           kCollOrderRank, 0, nullptr);
  }
  return code;
}

TEST(ExecutorTest, CancelEndsARunningStep) {
  isReducing = false;
  std::unique_ptr<Executor> executor = makeExecutor(2, reduceForEver);
  ASSERT_TRUE(executor && executor->initialize({kState}).ok());
  std::thread other([&] {
    while (!isReducing)
      std::this_thread::yield();
    executor->cancel();
  });
  const Status status = executor->step({kBatch}).status();
  other.join();
  EXPECT_EQ(status.code(), kCollAborted) << status.toString();
  EXPECT_TRUE(contains(status, "cancelled"));
  EXPECT_TRUE(contains(executor->step({kBatch}).status(), "cancelled"));
}

TEST(ExecutorTest, TraceSinkSeesEveryOperation) {
  CountingSink sink;
  ScopedTraceSink listen(&sink);
  std::unique_ptr<Executor> executor = makeExecutor(4, addStep);
  ASSERT_TRUE(executor && executor->initialize({kState}).ok());
  EXPECT_TRUE(executor->step({kBatch}).ok());
  for (TraceLevel level : {TraceLevel::Function, TraceLevel::Call}) {
    EXPECT_EQ(sink.count(level, TracePhase::Begin), 4);
    EXPECT_EQ(sink.count(level, TracePhase::End), 4);
  }
  EXPECT_EQ(sink.count(TraceLevel::ProxyOp, TracePhase::Begin), 0); // threads has no messages
  EXPECT_EQ(sink.bytes, 4 * 4);
}

// Computes two operations, the first in two parts, and then calls.
int32_t computeThenCall(const CollAbi *abi, CollContext *ctx, void *const *args,
                        void *const *results, void *arena) {
  for (int32_t op : {0, 0, 1})
    if (int32_t code = abi->compute(ctx, op))
      return code;
  return addStep(abi, ctx, args, results, arena);
}

TEST(ExecutorTest, EachComputationEndsWhereTheNextThingBegins) {
  CountingSink sink;
  ScopedTraceSink listen(&sink);
  std::unique_ptr<Executor> executor = makeExecutor(2, computeThenCall);
  ASSERT_TRUE(executor && executor->initialize({kState}).ok());
  EXPECT_TRUE(executor->step({kBatch}).ok());
  EXPECT_EQ(sink.count(TraceLevel::Compute, TracePhase::Begin), 4);
  EXPECT_EQ(sink.count(TraceLevel::Compute, TracePhase::End), 4);
}

int32_t failAtOnce(const CollAbi *, CollContext *, void *const *, void *const *, void *) {
  return kCollDevice;
}

TEST(ExecutorTest, TraceSinksHearWhatFailed) {
  CountingSink sink;
  ScopedTraceSink listen(&sink);
  std::unique_ptr<Executor> executor = makeExecutor(2, failAtOnce);
  ASSERT_TRUE(executor && executor->initialize({kState}).ok());
  EXPECT_FALSE(executor->step({kBatch}).ok());
  EXPECT_EQ(sink.failures, 2); // the functions of both ranks
}

TEST(ExecutorTest, TraceSinksAreFew) {
  CountingSink sinks[kMaxTraceSinks + 1];
  for (int i = 0; i < kMaxTraceSinks; ++i)
    EXPECT_TRUE(addTraceSink(&sinks[i]));
  EXPECT_FALSE(addTraceSink(&sinks[kMaxTraceSinks]));
  trace(TraceEvent());
  for (int i = 0; i < kMaxTraceSinks; ++i) {
    EXPECT_EQ(sinks[i].count(TraceLevel::Function, TracePhase::Begin), 1);
    removeTraceSink(&sinks[i]);
  }
  removeTraceSink(&sinks[0]); // not listening any more
  EXPECT_FALSE(tracing());
}

} // namespace
} // namespace coll::rt::test
