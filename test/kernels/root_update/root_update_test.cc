// The root update on 1 to 8 members compared with the reference, bit by bit.

#include "runtime/base/narrow.h"
#include "test/kernels/root_update/root_update_rig.h"
#include "test/kernels/rounds.h"

#include <cmath>
#include <cstring>
#include <random>

namespace coll::kernels::test {
namespace {

constexpr uint64_t kTimeoutNs = 60ull * 1000 * 1000 * 1000;
constexpr size_t kGuardBytes = 64;
constexpr uint8_t kGuard = 0xA5;

size_t bytesOf(CollDtype type) { return type == kCollF32 ? 4 : 2; }

// A buffer on a member's GPU and its host copy, which the reference changes. It begins `misalign`
// elements after a multiple of 512 bytes, and is guarded on both sides.
class Buffer {
public:
  Buffer(RootUpdateRig &rig, uint32_t member, CollDtype type, uint64_t count, uint64_t misalign)
      : rig_(rig), member_(member), type_(type), before_(kGuardBytes + misalign * bytesOf(type)),
        bytes_(count * bytesOf(type)), host_(before_ + bytes_ + kGuardBytes, kGuard),
        gpu_(rig.allocate(member, host_.size())) {}

  uint64_t count() const { return bytes_ / bytesOf(type_); }
  void *gpu() const { return gpu_ + before_; }
  void *host() { return host_.data() + before_; }
  void set(uint64_t index, float value) {
    if (type_ == kCollF32) {
      static_cast<float *>(host())[index] = value;
    } else {
      static_cast<uint16_t *>(host())[index] = rt::f32ToBf16(value);
    }
  }
  void upload() { rig_.copyIn(member_, gpu_, host_.data(), host_.size()); }
  // Returns a copy to be made on the GPU's stream, which shows what the next kernel there would
  // see.
  Copy snapshot() {
    if (!seen_)
      seen_ = rig_.allocate(member_, host_.size());
    return {seen_, gpu_, host_.size()};
  }

  // The first element that differs from the reference's, or "". Not exactly: to rounding.
  std::string difference(bool exactly) const {
    std::vector<uint8_t> seen(host_.size());
    rig_.copyOut(member_, seen.data(), seen_ ? seen_ : gpu_, seen.size());
    for (size_t i = 0; i < kGuardBytes; ++i)
      if (seen[before_ - 1 - i] != kGuard || seen[before_ + bytes_ + i] != kGuard)
        return "a byte beside the buffer was written";
    for (uint64_t i = 0; i < count(); ++i) {
      const float ours = at(seen, i), right = at(host_, i);
      if (!same(ours, right, exactly ? 0 : type_ == kCollF32 ? 1e-6f : 1e-2f))
        return "element " + std::to_string(i) + " of " + std::to_string(count()) + " is " +
               std::to_string(ours) + ", not " + std::to_string(right);
    }
    return "";
  }

private:
  float at(const std::vector<uint8_t> &bytes, uint64_t index) const {
    const uint8_t *from = bytes.data() + before_ + index * bytesOf(type_);
    if (type_ == kCollBf16) {
      uint16_t narrow;
      std::memcpy(&narrow, from, sizeof narrow);
      return rt::bf16ToF32(narrow);
    }
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  // With tolerance 0, the bits must be equal.
  static bool same(float a, float b, float tolerance) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && std::isnan(b);
    if (tolerance != 0)
      return a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b));
    return std::memcmp(&a, &b, sizeof a) == 0;
  }

  RootUpdateRig &rig_;
  uint32_t member_;
  CollDtype type_;
  size_t before_, bytes_;
  std::vector<uint8_t> host_;
  char *gpu_;
  char *seen_ = nullptr;
};

struct Case {
  uint32_t ranks = 2;
  TestOptimizer optimizer = AnyOptimizer(Adam{});
  CollDtype gradientType = kCollF32, parameterType = kCollF32;
  std::vector<uint64_t> counts = {1000}; // of parameters; one: shards
  std::vector<int> roots = {};           // empty: shards
  uint64_t misalign[3] = {};             // gradients, parameters (times the rank), state
  bool mean = true;
  bool wild = false; // gradients of any bits
  uint32_t blocks = 1, threads = 32, chunkElems = 0;
  int steps = 2;
};

int slotsOf(const TestOptimizer &optimizer) {
  if (std::holds_alternative<ClippedSgd>(optimizer))
    return ClippedSgd::kSlots;
  return std::visit([](const auto &o) { return o.kSlots; }, std::get<AnyOptimizer>(optimizer));
}

ElementUpdate elementOf(const TestOptimizer &optimizer, const UpdateStep &now) {
  return std::visit([&](const auto &o) { return elementUpdate(o, now); }, optimizer);
}

// All members' buffers of a case, and their calls: on the GPUs, and for the reference.
class Trial {
public:
  Trial(RootUpdateRig &rig, const Case &c, uint64_t seed) : rig_(rig), case_(c), random_(seed) {
    makePlan();
    for (uint32_t r = 0; r < c.ranks; ++r)
      addMember(r);
    for (uint32_t r = 0; r < c.ranks; ++r)
      for (uint32_t peer = 0; peer < c.ranks; ++peer) {
        onGpu_[r].parameters[peer] = parameters_[peer]->gpu();
        onHost_[r].parameters[peer] = parameters_[peer]->host();
      }
  }

  // Makes a step on the GPUs and one of the reference, with new gradients.
  void step(const std::vector<PeerGroup> &group, uint64_t number) {
    now_ = {0.05f / static_cast<float>(number), case_.mean ? 1.0f : 0.25f, number};
    std::vector<const RootUpdate *> calls;
    std::vector<Copy> copies;
    for (uint32_t r = 0; r < case_.ranks; ++r) {
      fillGradients(*gradients_[r]);
      rig_.copyIn(r, steps_[r], &now_, sizeof now_);
      calls.push_back(&onGpu_[r]);
      copies.push_back(parameters_[r]->snapshot());
    }
    for (const rt::Status &status : rig_.run(group, calls, {case_.optimizer}, copies))
      ASSERT_TRUE(status.ok()) << status.toString();
    for (const PeerGroup &member : group)
      ASSERT_EQ(member.control->error, 0u) << "member " << member.rank;
    rootUpdateReference(onHost_, plan_.spans, slotsOf(case_.optimizer),
                        elementOf(case_.optimizer, now_));
  }

  void expectEqual() {
    const bool exactly = !std::holds_alternative<ClippedSgd>(case_.optimizer);
    for (uint32_t r = 0; r < case_.ranks; ++r) {
      ASSERT_EQ(parameters_[r]->difference(exactly), "") << "parameters of member " << r;
      ASSERT_EQ(gradients_[r]->difference(true), "") << "gradients of member " << r;
      for (const auto &state : states_[r])
        ASSERT_EQ(state->difference(exactly), "") << "state of member " << r;
    }
  }

private:
  void makePlan() {
    std::vector<RootedParameter> parameters;
    for (size_t i = 0; i < case_.counts.size(); ++i) {
      const uint64_t gap = case_.roots.empty() ? 0 : random_() % 40;
      const int root = case_.roots.empty() ? 0 : case_.roots[i];
      parameters.push_back({case_.counts[i], root, total_ + gap, total_ + gap / 2});
      total_ += case_.counts[i] + gap;
    }
    const int ranks = static_cast<int>(case_.ranks);
    plan_ = (case_.roots.empty() ? planShards(total_, ranks) : planRoots(parameters, ranks)).take();
  }

  void addMember(uint32_t r) {
    const Case &c = case_;
    RootUpdate call;
    call.gradientType = c.gradientType;
    call.parameterType = c.parameterType;
    call.table = plan_.table;
    call.mean = c.mean;
    call.blocks = c.blocks;
    call.threads = c.threads;
    call.chunkElems = c.chunkElems;
    gradients_.push_back(std::make_unique<Buffer>(rig_, r, c.gradientType, total_, c.misalign[0]));
    parameters_.push_back(
        std::make_unique<Buffer>(rig_, r, c.parameterType, total_, c.misalign[1] * r));
    steps_.push_back(rig_.allocate(r, sizeof(UpdateStep)));
    for (uint64_t i = 0; i < total_; ++i)
      parameters_[r]->set(i, startOf(i));
    parameters_[r]->upload();
    onHost_.push_back(call);
    onHost_[r].gradients = gradients_[r]->host();
    onHost_[r].step = &now_;
    call.gradients = gradients_[r]->gpu();
    call.step = reinterpret_cast<UpdateStep *>(steps_[r]);
    if (!plan_.spans.empty()) {
      const size_t bytes = plan_.spans.size() * sizeof(UpdateSpan);
      char *spans = rig_.allocate(r, bytes);
      rig_.copyIn(r, spans, plan_.spans.data(), bytes);
      call.table.spans = reinterpret_cast<UpdateSpan *>(spans);
    }
    onGpu_.push_back(call);
    addState(r);
  }

  void addState(uint32_t r) {
    states_.emplace_back();
    const auto add = [&](auto value, float *&onGpu, float *&onHost) {
      auto buffer = std::make_unique<Buffer>(
          rig_, r, kCollF32, plan_.stateElems(static_cast<int>(r)), case_.misalign[2]);
      for (uint64_t i = 0; i < buffer->count(); ++i)
        buffer->set(i, value(i));
      buffer->upload();
      onGpu = static_cast<float *>(buffer->gpu());
      onHost = static_cast<float *>(buffer->host());
      states_[r].push_back(std::move(buffer));
    };
    if (case_.parameterType != kCollF32)
      add([](uint64_t i) { return 0.3f * startOf(i + 1); }, onGpu_[r].master, onHost_[r].master);
    for (int k = 0; k < slotsOf(case_.optimizer); ++k)
      add([](uint64_t i) { return 0.01f * static_cast<float>(i % 5); }, onGpu_[r].slots[k],
          onHost_[r].slots[k]);
  }

  void fillGradients(Buffer &buffer) {
    if (case_.wild) {
      auto *bytes = static_cast<uint8_t *>(buffer.host());
      for (uint64_t i = 0; i < buffer.count() * bytesOf(case_.gradientType); ++i)
        bytes[i] = static_cast<uint8_t>(random_() % 4 == 0 ? 0xFF : random_());
    } else {
      std::normal_distribution<float> normal(0, 1);
      for (uint64_t i = 0; i < buffer.count(); ++i)
        buffer.set(i, normal(random_));
    }
    buffer.upload();
  }

  static float startOf(uint64_t i) {
    return static_cast<float>(i * 2654435761u % 2000) / 1000.0f - 1.0f;
  }

  RootUpdateRig &rig_;
  Case case_;
  std::mt19937_64 random_;
  UpdateStep now_{};
  uint64_t total_ = 0;
  RootPlan plan_;
  std::vector<std::unique_ptr<Buffer>> gradients_, parameters_;
  std::vector<std::vector<std::unique_ptr<Buffer>>> states_;
  std::vector<char *> steps_;
  std::vector<RootUpdate> onGpu_, onHost_;
};

void check(RootUpdateRig &rig, const std::vector<PeerGroup> &group, const Case &c, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Trial trial(rig, c, seed);
  for (int t = 1; t <= c.steps; ++t) {
    trial.step(group, static_cast<uint64_t>(t));
    if (testing::Test::HasFatalFailure())
      return;
  }
  trial.expectEqual();
}

const std::vector<TestOptimizer> &optimizers() {
  static const std::vector<TestOptimizer> all = {AnyOptimizer(Sgd{0.01f}),
                                                 AnyOptimizer(Momentum{0.9f, 0.01f, false}),
                                                 AnyOptimizer(Momentum{0.8f, 0, true}),
                                                 AnyOptimizer(Adam{}),
                                                 AnyOptimizer(AdamW{{0.9, 0.99, 1e-6f, 0.1f}}),
                                                 AnyOptimizer(Lion{0.9, 0.99, 0.1f}),
                                                 AnyOptimizer(RmsProp{0.9, 1e-6f, 0.01f}),
                                                 ClippedSgd{}};
  return all;
}

constexpr CollDtype kTypes[][2] = {
    {kCollF32, kCollF32}, {kCollBf16, kCollBf16}, {kCollF32, kCollBf16}, {kCollBf16, kCollF32}};

TEST_P(RootUpdateTest, EveryOptimizerAndTypeByShard) {
  for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
    const auto group = rig().makeGroup(ranks, kTimeoutNs);
    for (const TestOptimizer &optimizer : optimizers())
      for (const auto &types : kTypes) {
        Case c;
        c.ranks = ranks;
        c.optimizer = optimizer;
        c.gradientType = types[0];
        c.parameterType = types[1];
        c.counts = {777};
        check(rig(), group, c, ranks);
      }
  }
}

TEST_P(RootUpdateTest, EveryOptimizerAndTypeByTable) {
  for (uint32_t ranks : {2u, 4u}) {
    const auto group = rig().makeGroup(ranks, kTimeoutNs);
    for (const TestOptimizer &optimizer : optimizers())
      for (const auto &types : kTypes) {
        Case c;
        c.ranks = ranks;
        c.optimizer = optimizer;
        c.gradientType = types[0];
        c.parameterType = types[1];
        c.counts = {64, 1, 300, 17, 5, 96};
        c.roots = balanceRoots(c.counts, static_cast<int>(ranks));
        check(rig(), group, c, ranks);
      }
  }
}

Case randomCase(std::mt19937_64 &random, uint32_t ranks, uint32_t maxBlocks) {
  Case c;
  c.ranks = ranks;
  c.optimizer = optimizers()[random() % optimizers().size()];
  const auto &types = kTypes[random() % 4];
  c.gradientType = types[0];
  c.parameterType = types[1];
  const bool table = random() % 2;
  c.counts.assign(table ? random() % 12 : 1, 0);
  for (uint64_t &count : c.counts)
    count = random() % (table ? 400 : 6000);
  for (size_t k = 0; table && k < c.counts.size(); ++k)
    c.roots.push_back(static_cast<int>(random() % c.ranks));
  if (random() % 2)
    for (uint64_t &misalign : c.misalign)
      misalign = random() % 4;
  c.mean = random() % 2;
  c.wild = random() % 4 == 0;
  c.blocks = 1 + static_cast<uint32_t>(random() % std::min(3u, maxBlocks));
  c.threads = 32 * (1 + static_cast<uint32_t>(random() % 3));
  c.chunkElems = random() % 2 ? 0 : 16 + static_cast<uint32_t>(random() % 600);
  c.steps = 1 + static_cast<int>(random() % 3);
  return c;
}

TEST_P(RootUpdateTest, RandomCases) {
  std::mt19937_64 random(11);
  std::vector<std::vector<PeerGroup>> groups(kMaxPeers + 1);
  const int cases = roundsOr(rig().cases());
  for (int i = 0; i < cases; ++i) {
    const uint32_t ranks = 1 + static_cast<uint32_t>(random() % (i % 8 == 0 ? kMaxPeers : 4));
    if (groups[ranks].empty())
      groups[ranks] = rig().makeGroup(ranks, kTimeoutNs);
    check(rig(), groups[ranks], randomCase(random, ranks, rig().maxBlocks(ranks)), random());
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// Only one member, because members that wait for each other do not end under a tool that runs
// kernels one by one.
TEST_P(RootUpdateTest, RandomCasesOfOneMember) {
  std::mt19937_64 random(12);
  const auto group = rig().makeGroup(1, kTimeoutNs);
  for (int i = 0; i < 40 && !testing::Test::HasFatalFailure(); ++i)
    check(rig(), group, randomCase(random, 1, rig().maxBlocks(1)), random());
}

// The largest possible grid, and a list that fills it.
TEST_P(RootUpdateTest, LargeGrid) {
  for (uint32_t ranks : {2u, 4u}) {
    const auto group = rig().makeGroup(ranks, kTimeoutNs);
    Case c;
    c.ranks = ranks;
    c.blocks = rig().maxBlocks(ranks);
    c.threads = c.blocks > 8 ? 512 : 64;
    c.counts = {uint64_t{c.blocks} * c.threads * ranks * 19 + 7};
    c.steps = 3;
    check(rig(), group, c, 1);
    c.gradientType = c.parameterType = kCollBf16;
    check(rig(), group, c, 2);
  }
}

// More chunks than a ring has slots, on all members' rings.
TEST_P(RootUpdateTest, ManyChunks) {
  for (uint32_t ranks : {2u, 4u}) {
    const auto group = rig().makeGroup(ranks, kTimeoutNs);
    Case c;
    c.ranks = ranks;
    c.threads = 128;
    c.counts = {group[0].layout.slotBytes / 4 * ranks * 7 + 5};
    c.steps = 1;
    check(rig(), group, c, 1);
    c.counts = {group[0].layout.slotBytes / 4 * 5, 3}; // one root has nearly all
    c.roots = {1, 0};
    check(rig(), group, c, 2);
  }
}

TEST_P(RootUpdateTest, NothingToDo) {
  const auto group = rig().makeGroup(2, kTimeoutNs);
  Case c;
  c.counts = {0};
  check(rig(), group, c, 1);
  c.counts = {};
  c.roots = {};
  check(rig(), group, c, 2);
}

TEST_P(RootUpdateTest, StepsAreCounted) {
  auto *step = reinterpret_cast<UpdateStep *>(rig().allocate(0, sizeof(UpdateStep)));
  UpdateStep value{0.5f, 2.0f, 41};
  rig().copyIn(0, step, &value, sizeof value);
  ASSERT_TRUE(rig().nextStep(0, step).ok());
  rig().copyOut(0, &value, step, sizeof value);
  EXPECT_EQ(value.step, 42u);
  EXPECT_EQ(value.learningRate, 0.5f);
  EXPECT_EQ(value.gradientScale, 2.0f);
}

} // namespace
} // namespace coll::kernels::test
