// Faults of the root update: missing members, calls that differ, invalid arguments.

#include "runtime/kernels/error_word.h"
#include "test/kernels/root_update/root_update_rig.h"

namespace coll::kernels::test {
namespace {

constexpr uint64_t kSoonNs = 200ull * 1000 * 1000;
constexpr uint64_t kLateNs = 60ull * 1000 * 1000 * 1000;

// Calls of two members with `counts` elements each, on valid memory.
class Pair {
public:
  Pair(RootUpdateRig &rig, uint64_t timeoutNs) : rig_(rig), group(rig.makeGroup(2, timeoutNs)) {
    char *parameters[2];
    for (uint32_t r = 0; r < 2; ++r)
      parameters[r] = rig.allocate(r, kBytes);
    for (uint32_t r = 0; r < 2; ++r) {
      RootUpdate call;
      call.gradients = rig.allocate(r, kBytes);
      for (uint32_t peer = 0; peer < 2; ++peer)
        call.parameters[peer] = parameters[peer];
      for (float *&slot : call.slots)
        slot = reinterpret_cast<float *>(rig.allocate(r, kBytes));
      auto *step = reinterpret_cast<UpdateStep *>(rig.allocate(r, sizeof(UpdateStep)));
      const UpdateStep first{0.1f, 1, 1};
      rig.copyIn(r, step, &first, sizeof first);
      call.step = step;
      call.table = planShards(kCount, 2)->table;
      call.blocks = 1;
      call.threads = 32;
      calls.push_back(call);
    }
  }

  void run(bool first, bool second) {
    for (const rt::Status &status : rig_.run(
             group, {first ? &calls[0] : nullptr, second ? &calls[1] : nullptr}, optimizers, {}))
      EXPECT_TRUE(status.ok()) << status.toString();
  }
  // The error of a member, or none, without the detail.
  KernelError errorOf(uint32_t member) const {
    return static_cast<KernelError>(static_cast<uint32_t>(group[member].control->error));
  }

  static constexpr uint64_t kCount = 500;
  static constexpr size_t kBytes = kCount * sizeof(float);

private:
  RootUpdateRig &rig_;

public:
  std::vector<PeerGroup> group;
  std::vector<RootUpdate> calls;
  std::vector<TestOptimizer> optimizers = {AnyOptimizer(Adam{})}; // the last is the others', too
};

TEST_P(RootUpdateTest, AMemberThatDoesNotComeIsNamed) {
  Pair pair(rig(), kSoonNs);
  pair.run(true, false);
  EXPECT_EQ(pair.group[0].control->error, errorWord(KernelError::PeerTimeout, 1));
  // The group has failed, so a late member ends, too.
  pair.run(false, true);
  EXPECT_EQ(pair.errorOf(1) == KernelError::None || pair.errorOf(1) == KernelError::PeerFailed,
            true);
  pair.run(true, true);
  EXPECT_EQ(pair.group[0].control->error, errorWord(KernelError::PeerTimeout, 1));
}

TEST_P(RootUpdateTest, AbortEndsTheWait) {
  Pair pair(rig(), kLateNs);
  pair.group[1].control->abort = 1;
  pair.run(false, true);
  EXPECT_EQ(pair.group[1].control->error, errorWord(KernelError::PeerAborted, 1));
}

TEST_P(RootUpdateTest, CallsThatDifferAreFound) {
  const auto found = [&](Pair &pair) {
    pair.run(true, true);
    for (uint32_t r = 0; r < 2; ++r)
      EXPECT_TRUE(pair.errorOf(r) == KernelError::PeerMismatch ||
                  pair.errorOf(r) == KernelError::PeerFailed)
          << static_cast<uint32_t>(pair.errorOf(r));
    EXPECT_TRUE(pair.errorOf(0) == KernelError::PeerMismatch ||
                pair.errorOf(1) == KernelError::PeerMismatch);
  };
  const auto differ = [&](const std::function<void(RootUpdate &)> &change) {
    Pair pair(rig(), kLateNs);
    change(pair.calls[1]);
    found(pair);
  };
  differ([](RootUpdate &call) { call.table = planShards(Pair::kCount - 32, 2)->table; });
  differ([](RootUpdate &call) { call.table = planShards(0, 2)->table; });
  differ([](RootUpdate &call) { call.mean = true; });
  differ([](RootUpdate &call) { call.gradientType = kCollBf16; });
  const std::vector<TestOptimizer> unlike[] = {
      {AnyOptimizer(Adam{}), AnyOptimizer(AdamW{{0.9, 0.999, 1e-8f, 0.1f}})},
      {AnyOptimizer(Momentum{}), AnyOptimizer(Lion{})},
      {AnyOptimizer(Momentum{0.9f, 0, false}), AnyOptimizer(Momentum{0.9f, 0, true})},
      {AnyOptimizer(Adam{0.9, 0.999, 1e-8f, 0}), AnyOptimizer(Adam{0.9, 0.999, 1e-7f, 0})},
      {AnyOptimizer(Sgd{0}), AnyOptimizer(Sgd{0.01f})},
      {ClippedSgd{0.5f}, ClippedSgd{0.25f}},
  };
  for (const std::vector<TestOptimizer> &optimizers : unlike) {
    Pair pair(rig(), kLateNs);
    pair.optimizers = optimizers;
    found(pair);
  }
}

TEST_P(RootUpdateTest, ArgumentsThatCannotBeAreRefused) {
  Pair pair(rig(), kLateNs);
  const auto refused = [&](const std::function<void(RootUpdate &)> &change) {
    RootUpdate call = pair.calls[0];
    change(call);
    const auto outcome = rig().run(pair.group, {&call}, {AnyOptimizer(Adam{})}, {});
    EXPECT_EQ(outcome.at(0).code(), kCollInvalidCall) << outcome.at(0).toString();
    EXPECT_NE(outcome.at(0).message().find("root update on member 0"), std::string::npos);
  };
  const auto shift = [](auto *&pointer, ptrdiff_t bytes) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(
        reinterpret_cast<uintptr_t>(pointer) + static_cast<uintptr_t>(bytes));
  };
  refused([](RootUpdate &call) { call.gradients = nullptr; });
  refused([&](RootUpdate &call) { shift(call.gradients, 2); });
  refused([](RootUpdate &call) { call.parameters[1] = nullptr; });
  refused([&](RootUpdate &call) { shift(call.parameters[0], 1); });
  refused([](RootUpdate &call) { call.slots[1] = nullptr; });
  refused([&](RootUpdate &call) { shift(call.slots[0], 2); });
  refused([](RootUpdate &call) { call.step = nullptr; });
  refused([](RootUpdate &call) { call.gradientType = kCollF16; });
  refused([](RootUpdate &call) { call.parameterType = kCollBf16; }); // no master
  refused([](RootUpdate &call) { call.master = call.slots[3]; });
  refused([](RootUpdate &call) { call.threads = 48; });
  refused([](RootUpdate &call) { call.threads = 1024; });
  refused([](RootUpdate &call) { call.blocks = kRingBlocks + 1; });
  refused([](RootUpdate &call) { call.table.first[1] = 3; });
  refused([](RootUpdate &call) { call.table.elems[0] = 7; });
  refused([](RootUpdate &call) { call.table.first[2] = 1; });
}

} // namespace
} // namespace coll::kernels::test
