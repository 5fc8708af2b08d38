// An optimizer's step as a call of backend direct: compared with the reference, in a captured
// graph, with checkpoints, and with wrong members, plans or memory. Over a fake driver and emulated
// kernels; the kernels' own tests are test/kernels/root_update/.

#include "runtime/backend/direct/root_update.h"

#include "runtime/backend/nccl/platform.h"
#include "runtime/base/narrow.h"
#include "test/conformance/emulated_peers.h"
#include "test/kernels/root_update/clipped_sgd.h"
#include "test/runtime/gpu_ranks.h"
#include "test/runtime/scoped_routes.h"
#include "test/support/emulation/root_update.h"
#include "test/support/fakes/nccl.h"

#include <cstring>
#include <future>
#include <gtest/gtest.h>
#include <string_view>
#include <thread>

namespace coll::rt {
namespace {

using direct::RootUpdate;
using direct::RootUpdateOptions;
using kernels::UpdateStep;
using test::contains;
using test::Rank;

float gradientOf(int rank, int step, int64_t i) {
  return static_cast<float>((i * 7 + rank * 3 + step * 5) % 17 - 8) / 8;
}
float parameterOf(int64_t i) { return static_cast<float>(i % 23 - 11) / 16; }

int64_t sizeOf(CollDtype type) { return type == kCollF32 ? 4 : 2; }

void store(CollDtype type, void *buffer, int64_t i, float value) {
  if (type == kCollF32)
    static_cast<float *>(buffer)[i] = value;
  else
    static_cast<uint16_t *>(buffer)[i] = f32ToBf16(value);
}

// Computes on the host what all ranks of a job should have.
class Expected {
public:
  Expected(const RootUpdateOptions &options, int ranks) : options_(options), calls_(ranks) {
    const size_t elems = static_cast<size_t>(options.parameterElems);
    for (int r = 0; r < ranks; ++r) {
      gradients_.emplace_back(static_cast<size_t>(options.gradientElems * 4));
      parameters_.emplace_back(elems * 4);
      for (size_t i = 0; i < elems; ++i)
        store(options.parameterType, parameters_.back().data(), static_cast<int64_t>(i),
              parameterOf(static_cast<int64_t>(i)));
      state_.emplace_back(3, std::vector<float>(options.plan.stateElems(r)));
    }
    const kernels::UpdateSpan *spans =
        options.plan.spans.empty() ? options.plan.table.shards : options.plan.spans.data();
    for (int r = 0; r < ranks; ++r)
      for (uint32_t s = options.plan.table.first[r]; s < options.plan.table.first[r + 1]; ++s)
        for (uint64_t i = 0; i < spans[s].count; ++i)
          state_[static_cast<size_t>(r)][2][spans[s].state + i] =
              parameterOf(static_cast<int64_t>(spans[s].parameter + i));
  }

  void step(const UpdateStep &now, int number, int numSlots, const kernels::ElementUpdate &apply) {
    for (size_t r = 0; r < calls_.size(); ++r) {
      kernels::RootUpdate &call = calls_[r];
      call.gradientType = options_.gradientType;
      call.parameterType = options_.parameterType;
      for (int64_t i = 0; i < options_.gradientElems; ++i)
        store(call.gradientType, gradients_[r].data(), i,
              gradientOf(static_cast<int>(r), number, i));
      call.gradients = gradients_[r].data();
      for (size_t peer = 0; peer < calls_.size(); ++peer)
        call.parameters[peer] = parameters_[peer].data();
      call.slots[0] = state_[r][0].data();
      call.slots[1] = state_[r][1].data();
      call.master = options_.parameterType == kCollF32 ? nullptr : state_[r][2].data();
      call.step = &now;
      call.table = options_.plan.table;
      call.mean = options_.mean;
    }
    for (size_t r = 0; r < calls_.size(); ++r)
      calls_[r].parameters[r] = parameters_[r].data();
    kernels::rootUpdateReference(calls_, options_.plan.spans, numSlots, apply);
  }

  const std::vector<char> &parameters() const { return parameters_[0]; }

private:
  const RootUpdateOptions options_;
  std::vector<kernels::RootUpdate> calls_;
  std::vector<std::vector<char>> gradients_, parameters_;
  std::vector<std::vector<std::vector<float>>> state_; // by rank: two slots, the master copy
};

// A rank's buffers and update.
struct Step {
  std::unique_ptr<Registration> memory;
  std::unique_ptr<RootUpdate> update;
  char *gradients = nullptr, *parameters = nullptr;
};

class DirectRootUpdate : public test::GpuRanks {
protected:
  DirectRootUpdate() : GpuRanks("direct"), platform(test::emulatedPeers(cuda.table())) {}

  static RootUpdateOptions shards(int64_t count, int ranks) {
    RootUpdateOptions options;
    options.plan = kernels::planShards(static_cast<uint64_t>(count), ranks).take();
    options.gradientElems = options.parameterElems = count;
    return options;
  }

  // The parameters begin `skipped` bytes into memory of the group.
  Result<Step> make(Rank &me, const RootUpdateOptions &options, int64_t skipped = 0) {
    Step step;
    Result<std::unique_ptr<Registration>> memory =
        me.group.allocate(skipped + options.parameterElems * 4);
    if (!memory)
      return memory.status();
    step.memory = memory.take();
    step.parameters = static_cast<char *>(step.memory->data()) + skipped;
    step.gradients = static_cast<char *>(
        cuda.allocate(static_cast<size_t>(options.gradientElems * 4 + 4), me.rank % kGpus));
    Result<std::unique_ptr<RootUpdate>> update =
        RootUpdate::create(me.group, me.rank % kGpus, options);
    if (!update)
      return update.status();
    step.update = update.take();
    std::vector<float> all;
    for (int64_t i = 0; i < options.parameterElems; ++i) {
      all.push_back(parameterOf(i));
      store(options.parameterType, step.parameters, i, all.back());
    }
    if (step.update->hasMaster())
      COLL_RETURN_IF_ERROR(step.update->writeState(RootUpdate::kMaster, all.data(), nullptr));
    return step;
  }

  static void giveGradients(const Rank &me, Step &step, const RootUpdateOptions &options,
                            int number) {
    for (int64_t i = 0; i < options.gradientElems; ++i)
      store(options.gradientType, step.gradients, i, gradientOf(me.rank, number, i));
  }

  // Makes so many steps on all ranks, and compares each with the reference on each rank.
  void expectSteps(const RootUpdateOptions &options, int ranks, int64_t skipped = 0,
                   const char *backend = "direct") {
    Expected expected(options, ranks);
    constexpr int kSteps = 3;
    std::vector<std::vector<char>> wanted;
    for (int number = 1; number <= kSteps; ++number) {
      const UpdateStep now = {0.0625f, 0.5f, static_cast<uint64_t>(number)};
      expected.step(now, number, kernels::optimizerSlots(options.optimizer),
                    kernels::elementUpdate(options.optimizer, now));
      wanted.push_back(expected.parameters());
    }
    expectAll(runOn(backend, GpuRanks::options(ranks), [&](Rank &me) -> Status {
      Result<Step> made = make(me, options, skipped);
      if (!made)
        return made.status();
      dl::CudaStream on = stream();
      for (int number = 1; number <= kSteps; ++number) {
        giveGradients(me, *made, options, number);
        COLL_RETURN_IF_ERROR(
            made->update->setStep({0.0625f, 0.5f, static_cast<uint64_t>(number)}, on));
        COLL_RETURN_IF_ERROR(
            me.group.run(made->update->call(made->gradients, made->parameters, on)));
        COLL_RETURN_IF_ERROR(me.endpoint.synchronize(on));
        const std::string_view now(
            made->parameters,
            static_cast<size_t>(options.parameterElems * sizeOf(options.parameterType)));
        const std::vector<char> &right = wanted[static_cast<size_t>(number - 1)];
        EXPECT_TRUE(now == std::string_view(right.data(), now.size()))
            << "rank " << me.rank << ", step " << number;
        COLL_RETURN_IF_ERROR(me.group.run(Call())); // a peer may be a step ahead
      }
      (void)cuda.table().streamDestroy(on);
      return {};
    }));
  }

  direct::ScopedPlatform platform;
};

//===-- steps -------------------------------------------------------------------===//

TEST_F(DirectRootUpdate, StepsOfShardsAreThoseOfTheReference) {
  for (int ranks : {1, 2, 3, 4, 6})
    for (int64_t count : {1, 1000, 4099})
      expectSteps(shards(count, ranks), ranks);
}

TEST_F(DirectRootUpdate, EveryPairOfTypes) {
  for (CollDtype gradients : {kCollF32, kCollBf16})
    for (CollDtype parameters : {kCollF32, kCollBf16}) {
      RootUpdateOptions options = shards(1777, 3);
      options.gradientType = gradients;
      options.parameterType = parameters;
      options.optimizer = kernels::Adam{0.9, 0.99, 1e-6f, 0.01f};
      expectSteps(options, 3);
    }
}

TEST_F(DirectRootUpdate, EveryOptimizer) {
  const kernels::AnyOptimizer all[] = {kernels::Sgd{},   kernels::Momentum{}, kernels::Adam{},
                                       kernels::AdamW{}, kernels::Lion{},     kernels::RmsProp{}};
  for (const kernels::AnyOptimizer &one : all) {
    RootUpdateOptions options = shards(333, 2);
    options.optimizer = one;
    options.mean = one.index() % 2 == 0;
    expectSteps(options, 2);
  }
}

// Gradients and parameters are in different orders, with holes, and not at multiples of 16 bytes.
TEST_F(DirectRootUpdate, WholeParametersAtTheirRoots) {
  RootUpdateOptions options;
  options.plan = kernels::planRoots({{1000, 2, 700, 3},
                                     {77, 0, 1, 1100},
                                     {0, 1, 0, 0},
                                     {600, 1, 90, 1200},
                                     {5, 2, 1702, 1801}},
                                    3)
                     .take();
  options.gradientElems = 1707;
  options.parameterElems = 1806;
  for (CollDtype type : {kCollF32, kCollBf16}) {
    options.gradientType = options.parameterType = type;
    expectSteps(options, 3, /*skipped=*/12);
  }
}

TEST_F(DirectRootUpdate, NothingToUpdateIsACallAllTheSame) { expectSteps(shards(0, 3), 3); }

TEST_F(DirectRootUpdate, AnOptimizerOfOnesOwn) {
  RootUpdateOptions options = shards(500, 2);
  const kernels::test::ClippedSgd clipped;
  options.own = {"clipped_sgd", 1, 7,
                 [clipped](const kernels::PeerGroup &group, const kernels::RootUpdate &update,
                           void *stream) -> Status {
                   auto grid = kernels::emulatedRootUpdate(group, update, clipped);
                   if (!grid)
                     return grid.status();
                   return test::onStream(
                       stream, [grid = grid.take()] { kernels::simt::runBeside({{grid}}, 0); });
                 }};
  const UpdateStep now = {0.25f, 1, 4};
  Expected expected(options, 2);
  expected.step(now, 1, 1, kernels::elementUpdate(clipped, now));
  expectAll(run(GpuRanks::options(2), [&](Rank &me) -> Status {
    Result<Step> made = make(me, options);
    if (!made)
      return made.status();
    EXPECT_STREQ(made->update->optimizer(), "clipped_sgd");
    giveGradients(me, *made, options, 1);
    COLL_RETURN_IF_ERROR(made->update->setStep(now, nullptr));
    // Without a stream the parameters are updated when the call returns.
    Status stepped = me.group.run(made->update->call(made->gradients, made->parameters, nullptr));
    EXPECT_EQ(std::memcmp(made->parameters, expected.parameters().data(), 500 * 4), 0);
    return stepped;
  }));
}

TEST_F(DirectRootUpdate, AGraphIsReplayedWithTheStepOfTheStream) {
  const RootUpdateOptions options = shards(900, 3);
  Expected expected(options, 3);
  std::vector<std::vector<char>> wanted;
  for (uint64_t number : {1, 2}) {
    const UpdateStep now = {0.125f / static_cast<float>(number), 1, number};
    expected.step(now, 1, 2, kernels::elementUpdate(options.optimizer, now));
    wanted.push_back(expected.parameters());
  }
  expectAll(run(GpuRanks::options(3), [&](Rank &me) -> Status {
    const dl::Cuda &driver = cuda.table();
    Result<Step> made = make(me, options);
    if (!made)
      return made.status();
    giveGradients(me, *made, options, 1);
    dl::CudaStream on = stream();
    dl::CudaGraph graph = nullptr;
    dl::CudaGraphExec replay = nullptr;
    EXPECT_EQ(driver.streamBeginCapture(on, dl::kCudaCaptureThreadLocal), 0);
    Status captured = me.group.run(made->update->call(made->gradients, made->parameters, on));
    EXPECT_EQ(driver.streamEndCapture(on, &graph), 0);
    EXPECT_EQ(driver.graphInstantiate(&replay, graph, 0), 0);
    for (uint64_t number : {1, 2}) {
      COLL_RETURN_IF_ERROR(
          made->update->setStep({0.125f / static_cast<float>(number), 1, number}, on));
      EXPECT_EQ(driver.graphLaunch(replay, on), 0);
      COLL_RETURN_IF_ERROR(me.endpoint.synchronize(on));
      EXPECT_EQ(std::memcmp(made->parameters, wanted[number - 1].data(), 900 * 4), 0) << number;
      COLL_RETURN_IF_ERROR(me.group.run(Call()));
    }
    (void)driver.graphExecDestroy(replay);
    (void)driver.graphDestroy(graph);
    (void)driver.streamDestroy(on);
    return captured;
  }));
}

// State that was read on all ranks and written to others continues without a difference.
TEST_F(DirectRootUpdate, ACheckpointIsOneArrayOfAllRanks) {
  RootUpdateOptions options = shards(700, 2);
  options.parameterType = options.gradientType = kCollBf16;
  std::vector<std::vector<float>> saved(3, std::vector<float>(700, 99));
  expectAll(run(GpuRanks::options(2), [&](Rank &me) -> Status {
    Result<Step> made = make(me, options);
    if (!made)
      return made.status();
    giveGradients(me, *made, options, 1);
    COLL_RETURN_IF_ERROR(made->update->setStep({0.5f, 1, 1}, nullptr));
    COLL_RETURN_IF_ERROR(
        me.group.run(made->update->call(made->gradients, made->parameters, nullptr)));
    // Each rank writes its own part.
    for (int state : {-1, 0, 1})
      COLL_RETURN_IF_ERROR(
          made->update->readState(state, saved[static_cast<size_t>(state + 1)].data(), nullptr));
    Result<std::unique_ptr<RootUpdate>> other =
        RootUpdate::create(me.group, me.rank % kGpus, options);
    if (!other)
      return other.status();
    COLL_RETURN_IF_ERROR(me.group.run(Call()));
    for (int state : {-1, 0, 1}) {
      COLL_RETURN_IF_ERROR(
          (*other)->writeState(state, saved[static_cast<size_t>(state + 1)].data(), nullptr));
      std::vector<float> read(700, 99);
      COLL_RETURN_IF_ERROR((*other)->readState(state, read.data(), nullptr));
      for (size_t i = 0; i < 700; ++i)
        EXPECT_TRUE(read[i] == 99 || read[i] == saved[static_cast<size_t>(state + 1)][i]) << i;
    }
    EXPECT_TRUE(contains((*other)->readState(2, nullptr, nullptr), "adamw has 2 slots"));
    return {};
  }));
  for (int64_t i = 0; i < 700; ++i) {
    EXPECT_NE(saved[0][static_cast<size_t>(i)], 99) << i;
    EXPECT_NEAR(saved[0][static_cast<size_t>(i)], parameterOf(i), 1) << i;
  }
}

//===-- refusals ----------------------------------------------------------------===//

TEST_F(DirectRootUpdate, PlansThatReachOutsideAreRefused) {
  struct Case {
    kernels::RootPlan plan;
    int64_t gradients, parameters;
    const char *why;
  };
  kernels::RootPlan shifted = kernels::planShards(100, 2).take();
  shifted.table.shards[1].position = 8;
  kernels::RootPlan disordered = kernels::planShards(100, 2).take();
  disordered.table.first[1] = 3;
  const std::vector<Case> cases = {
      {kernels::planShards(100, 2).take(), 99, 100, "is outside 99 gradients"},
      {kernels::planShards(100, 2).take(), 100, 99, "and 99 parameters"},
      {kernels::planShards(100, 4).take(), 100, 100, ""},
      {kernels::planRoots({{10, 0, 0, 0}, {10, 1, 10, 9}}, 2).take(), 20, 20,
       "span 1 of the plan has parameters of span 0"},
      {shifted, 100, 100, "is not at its place in the list of root 1"},
      {disordered, 100, 100, "are not those of 2 roots"},
  };
  expectAll(run(options(2), [&](Rank &me) -> Status {
    for (const Case &c : cases) {
      RootUpdateOptions update;
      update.plan = c.plan;
      update.gradientElems = c.gradients;
      update.parameterElems = c.parameters;
      const Status refused = RootUpdate::create(me.group, me.rank, update).status();
      if (*c.why) {
        EXPECT_EQ(refused.code(), kCollInvalidCall);
        EXPECT_TRUE(contains(refused, c.why)) << refused.toString();
      }
    }
    RootUpdateOptions update = shards(100, 2);
    update.gradientType = kCollF16;
    EXPECT_TRUE(
        contains(RootUpdate::create(me.group, me.rank, update).status(), "f32 or bf16, not f16"));
    update = shards(100, 2);
    EXPECT_EQ(RootUpdate::create(me.group, 99, update).status().code(), kCollDevice);
    cuda.failNext("memAlloc", dl::kCudaOutOfMemory);
    const Status full = RootUpdate::create(me.group, me.rank, update).status();
    EXPECT_TRUE(full.ok() || contains(full, "the state of a root update")) << full.toString();
    return me.group.run(Call());
  }));
}

// An argument that is wrong on all members fails the call, not the job.
TEST_F(DirectRootUpdate, WrongArgumentsAreRefusedBeforeAnythingIsDone) {
  const RootUpdateOptions update = shards(100, 2);
  expectAll(run(options(2), [&](Rank &me) -> Status {
    Result<Step> made = make(me, update);
    if (!made)
      return made.status();
    const Call good = made->update->call(made->gradients, made->parameters, nullptr);
    auto refused = [&](auto &&change, const char *why) {
      Call call = good;
      change(call);
      const Status status = me.group.run(call);
      EXPECT_EQ(status.code(), kCollInvalidCall) << status.toString();
      EXPECT_TRUE(contains(status, why)) << status.toString();
      EXPECT_TRUE(contains(status, "root_update")) << status.toString();
    };
    float *elsewhere = floats(me.rank, std::vector<float>(100));
    refused([&](Call &c) { c.dst = elsewhere; }, "not in memory that the whole group knows");
    refused([](Call &c) { c.dstCount = 99; }, "it was made for 100 gradients in f32");
    refused([](Call &c) { c.update = nullptr; }, "not made for backend direct");
    refused([](Call &c) { c.src = static_cast<const char *>(c.src) + 2; },
            "begins 2 bytes after a multiple of 4");
    static float host[100];
    refused([](Call &c) { c.src = host; }, "source");
    std::unique_ptr<Communicator> alone = me.endpoint.communicator({me.rank}).take();
    EXPECT_TRUE(contains(alone->run(good), "it was made for member"));
    return me.group.run(good);
  }));
}

TEST_F(DirectRootUpdate, MembersThatDifferAreFound) {
  const auto differ = [&](const std::function<void(RootUpdateOptions &)> &change) {
    for (const Status &status : run(options(2), [&](Rank &me) -> Status {
           RootUpdateOptions mine = shards(200, 2);
           if (me.rank == 1)
             change(mine);
           Result<Step> made = make(me, mine);
           if (!made)
             return made.status();
           return me.group.run(made->update->call(made->gradients, made->parameters, nullptr));
         })) {
      EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
      EXPECT_TRUE(contains(status, "plans, types or optimizers of the update differ"))
          << status.toString();
      EXPECT_TRUE(contains(status, "rank 1 calls root_update")) << status.toString();
    }
  };
  differ([](RootUpdateOptions &o) { o.optimizer = kernels::AdamW{0.9, 0.98}; });
  differ([](RootUpdateOptions &o) { o.optimizer = kernels::Adam{}; });
  differ([](RootUpdateOptions &o) { o.mean = false; });
  differ([](RootUpdateOptions &o) {
    o.plan = kernels::planRoots({{100, 1, 0, 0}, {100, 0, 100, 100}}, 2).take();
  });
}

TEST_F(DirectRootUpdate, AMemberThatDoesNotComeEndsAtTheDeadline) {
  ScopedEnv unchecked("COLL_DIRECT_CHECK", "0");
  const RootUpdateOptions update = shards(300, 2);
  std::promise<void> ended;
  std::vector<Status> all = run(options(2, 3'000'000), [&](Rank &me) -> Status {
    Result<Step> made = make(me, update);
    if (!made)
      return made.status();
    COLL_RETURN_IF_ERROR(me.group.run(Call()));
    if (me.rank == 1) {
      (void)ended.get_future().wait_for(std::chrono::minutes(1));
      return {};
    }
    Status status = me.group.run(made->update->call(made->gradients, made->parameters, nullptr));
    ended.set_value();
    return status;
  });
  EXPECT_EQ(all[0].code(), kCollTimeout) << all[0].toString();
  EXPECT_TRUE(contains(all[0], "root_update")) << all[0].toString();
}

// Even with a route to another backend for all other calls, the group's memory is direct's.
TEST_F(DirectRootUpdate, AutoTakesItWhereATableSaysSo) {
  dl::FakeNccl nccl;
  nccl::ScopedPlatform ncclPlatform({&cuda.table(), &nccl.table()});
  for (const char *of : {"", R"("dtype": "f32", )", R"("max_bytes": 65536, )"}) {
    test::ScopedRoutes routes(R"({"op": "root_update", )" + std::string(of) +
                              R"("backend": "direct"}, {"memory": "gpu", "backend": "nccl"})");
    expectSteps(shards(1777, 3), 3, 0, "auto");
  }
  EXPECT_EQ(nccl.misuse(), "");
}

TEST_F(DirectRootUpdate, OtherBackendsRefuseIt) {
  const RootUpdateOptions update = shards(64, 2);
  for (const char *backend : {"threads", "net", "auto"})
    for (const Status &status : runOn(backend, options(2), [&](Rank &me) -> Status {
           Result<std::unique_ptr<RootUpdate>> made = RootUpdate::create(me.group, me.rank, update);
           if (!made)
             return made.status();
           float *data = floats(me.rank, std::vector<float>(128));
           return me.group.run((*made)->call(data, data + 64, nullptr));
         })) {
      EXPECT_EQ(status.code(), kCollUnsupported) << backend << ": " << status.toString();
      EXPECT_TRUE(contains(status, "root_update")) << backend << ": " << status.toString();
      EXPECT_EQ(contains(status, "COLL_ROUTES"), backend == std::string_view("auto"))
          << status.toString();
    }
}

} // namespace
} // namespace coll::rt
