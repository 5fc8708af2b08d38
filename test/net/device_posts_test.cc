// Kernels that put and get by themselves: emulated, and on a GPU, over loopback and tcp.

#include "runtime/kernels/channel/posting_device.cuh"
#include "runtime/net/gpu/posts.h"
#include "runtime/net/socket.h"
#include "test/net/device_harness.h"
#include "test/net/posting_run.h"
#include "test/support/comes_true.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <random>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace coll::net::test {
namespace {

using rt::Post;
using rt::PostOp;
using rt::PostOutcome;
using rt::test::comesTrue;

constexpr uint64_t kRoom = 1 << 20; // of each region
constexpr uint64_t kKernelNs = 20'000'000'000;

// A connection that accepts every request and completes none.
class MuteConnection final : public Connection {
public:
  explicit MuteConnection(bool &isClosed) : isClosed_(isClosed) {}
  Result<Request *> isend(const Segment *, int, uint64_t) override { return begun(); }
  Result<Request *> irecv(const Segment *, int, uint64_t) override { return begun(); }
  Result<Request *> iwrite(const Segment *, int, const RemoteKey &, uint64_t) override {
    return begun();
  }
  Result<Request *> iread(const Segment *, int, const RemoteKey &, const RemoteRows &) override {
    return begun();
  }
  Result<Request *> iflush(const Segment *, int) override { return begun(); }
  Result<Completion> test(Request *) override { return Completion(); }
  void close() override { isClosed_ = true; }

private:
  struct Begun final : Request {};
  Result<Request *> begun() { return static_cast<Request *>(&begun_); }
  Begun begun_;
  bool &isClosed_;
};

// A connection that completes every request at once, and records it after calling `hook`; one
// signal, 3, arrives over it.
class NotingConnection final : public Connection {
public:
  explicit NotingConnection(
      std::vector<std::string> &notes, std::function<void()> hook = [] {})
      : notes_(notes), hook_(std::move(hook)) {}
  Result<Request *> isend(const Segment *, int, uint64_t) override { return note("send"); }
  Result<Request *> irecv(const Segment *segments, int, uint64_t) override {
    if (hasCome_)
      return static_cast<Request *>(nullptr);
    hasCome_ = true;
    *static_cast<uint32_t *>(segments->data) = 3;
    return note("recv");
  }
  Result<Request *> iwrite(const Segment *, int, const RemoteKey &, uint64_t) override {
    return note("write");
  }
  Result<Request *> iread(const Segment *, int, const RemoteKey &, const RemoteRows &) override {
    return note("read");
  }
  Result<Request *> iflush(const Segment *, int) override { return note("flush"); }
  Result<Completion> test(Request *) override { return Completion{true, sizeof(uint32_t)}; }
  void close() override {}

private:
  struct Begun final : Request {};
  Result<Request *> note(const char *what) {
    hook_();
    notes_.push_back(what);
    return static_cast<Request *>(&begun_);
  }
  std::vector<std::string> &notes_;
  const std::function<void()> hook_;
  Begun begun_;
  bool hasCome_ = false;
};

// A process with a kernel that posts: a ring, a memory region, and what a run of the kernel needs.
class Side {
public:
  Side(std::unique_ptr<PostingRig> rig, const std::string &below)
      : transport(makeBelow(below)), rig_(std::move(rig)) {
    shared = reinterpret_cast<rt::PostShared *>(rig_->pinned(sizeof(rt::PostShared)));
    state_ = reinterpret_cast<rt::PostState *>(rig_->device(sizeof(rt::PostState)));
    errorWord = reinterpret_cast<uint64_t *>(rig_->pinned(sizeof(uint64_t)));
    data = rig_->pinned(kRoom);
    memory_ = transport->regMr(0, {data, kRoom, MemoryKind::Host, -1, 0}).take();
  }
  ~Side() {
    posts.reset();
    rig_->finish();
    transport->deregMr(memory_);
  }
  RemoteKey key() const { return memory_->remoteKey(); }

  void serve(std::vector<PostPeer> peers, int64_t timeoutUs = 10'000'000) {
    DevicePostsOptions options;
    options.regions = {{{data, kRoom, memory_}}};
    options.peers = std::move(peers);
    options.timeoutUs = timeoutUs;
    auto made = DevicePosts::create(shared, std::move(options));
    ASSERT_TRUE(made.ok()) << made.status().message();
    posts = made.take();
  }
  PostingRun run(const std::vector<Post> &steps, uint64_t timeoutNs = kKernelNs) {
    PostingRun run;
    run.posts = {shared, state_, timeoutNs, errorWord};
    auto *copy = reinterpret_cast<Post *>(rig_->pinned(sizeof(Post) * (steps.size() + 1)));
    std::copy(steps.begin(), steps.end(), copy);
    run.steps = copy;
    run.count = static_cast<uint32_t>(steps.size());
    run.outcomes = outcomes_ = words(steps.size() + 1);
    run.fenced = fenced_ = words(kPostingBlocks);
    run.awaited = words(kPostingBlocks);
    return run;
  }
  void start(const PostingRun &run) { rig_->start(run); }
  void finish() { rig_->finish(); }
  void doAll(const std::vector<Post> &steps, uint64_t timeoutNs = kKernelNs) {
    rig_->start(run(steps, timeoutNs));
    rig_->finish();
  }
  PostOutcome outcome(size_t step) const { return outcomes_[step]; }
  PostOutcome fenced() const { return fenced_[0]; }
  uint8_t *pinned(size_t bytes) { return rig_->pinned(bytes); }

  std::unique_ptr<Transport> transport;
  std::unique_ptr<DevicePosts> posts;
  rt::PostShared *shared;
  uint64_t *errorWord;
  uint8_t *data;

private:
  PostOutcome *words(size_t count) {
    return reinterpret_cast<PostOutcome *>(rig_->pinned(count * sizeof(PostOutcome)));
  }

  std::unique_ptr<PostingRig> rig_;
  rt::PostState *state_;
  Memory *memory_ = nullptr;
  PostOutcome *outcomes_ = nullptr, *fenced_ = nullptr;
};

Post step(PostOp op, uint64_t from, uint64_t to, uint64_t bytes, uint32_t signal = rt::kNoSignal) {
  Post post{};
  post.op = op;
  post.signal = signal;
  post.place = {0, 0, 0, from, to, bytes};
  return post;
}

enum class Machine { Emulated, Gpu };

class DevicePostsTest : public testing::TestWithParam<std::tuple<Machine, const char *>> {
protected:
  void SetUp() override {
    for (std::unique_ptr<Side> *side : {&left_, &right_}) {
      std::string whyNot;
      std::unique_ptr<PostingRig> rig =
          isGpu() ? makeGpuPostingRig(whyNot) : makeEmulatedPostingRig();
      if (!rig)
        GTEST_SKIP() << whyNot;
      *side = std::make_unique<Side>(std::move(rig), below());
    }
  }
  static bool isGpu() { return std::get<0>(GetParam()) == Machine::Gpu; }
  static const char *below() { return std::get<1>(GetParam()); }

  // Connects two sides, each of which is the other's peer 0, and serves both.
  void join(int64_t timeoutUs = 10'000'000) {
    Ends ends = connectEnds(*left_->transport, *right_->transport);
    left_->serve(peer(std::move(ends.left), *right_), timeoutUs);
    right_->serve(peer(std::move(ends.right), *left_), timeoutUs);
  }
  static std::vector<PostPeer> peer(std::unique_ptr<Connection> connection, const Side &other) {
    std::vector<PostPeer> peers(1);
    peers[0] = {std::move(connection), {other.key()}};
    return peers;
  }

  std::unique_ptr<Side> left_, right_;
};

// Puts into the upper half of the peer's memory and gets into the upper half of the own memory,
// from the lower halves; no two posts write to the same place.
TEST_P(DevicePostsTest, RandomPutsAndGetsAreTheReference) {
  join();
  std::mt19937 random(11);
  constexpr uint64_t kHalf = kRoom / 2, kSteps = 200, kMost = kHalf / kSteps;
  std::vector<uint8_t> mine = pattern(kRoom, 1), theirs = pattern(kRoom, 2);
  std::memcpy(left_->data, mine.data(), kRoom);
  std::memcpy(right_->data, theirs.data(), kRoom);
  for (int launch = 0; launch < 3; ++launch) { // numbers go on from launch to launch
    std::vector<Post> steps;
    for (uint64_t i = 0; i < kSteps; ++i) {
      const uint64_t bytes = random() % 8 == 0 ? 0 : random() % kMost;
      const uint64_t from = random() % (kHalf - bytes), to = kHalf + i * kMost;
      const bool isPut = random() % 2 == 0;
      steps.push_back(isPut ? step(PostOp::Put, from, to, bytes)
                            : step(PostOp::Get, to, from, bytes));
      std::vector<uint8_t> &source = isPut ? mine : theirs, &target = isPut ? theirs : mine;
      std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), bytes,
                  target.begin() + static_cast<ptrdiff_t>(to));
    }
    left_->doAll(steps);
    for (uint64_t i = 0; i < kSteps; ++i)
      ASSERT_EQ(left_->outcome(i), PostOutcome::Done) << i;
    EXPECT_EQ(left_->fenced(), PostOutcome::Done);
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), left_->data));
    EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), right_->data));
  }
  const DevicePostsStats stats = left_->posts->stats();
  EXPECT_EQ(stats.puts + stats.gets, 3 * kSteps);
  EXPECT_EQ(stats.failures, 0u);
  EXPECT_EQ(*left_->errorWord, 0u);
}

// The peer's kernel waits for the signals, reads the data, and answers in the same way.
TEST_P(DevicePostsTest, SignalsComeAfterTheirData) {
  join();
  constexpr uint64_t kHalf = kRoom / 2, kPuts = 96, kBytes = 512;
  constexpr uint64_t kWords = kPuts * kBytes / sizeof(uint64_t);
  for (uint64_t round = 1; round <= 3; ++round) {
    const std::vector<uint8_t> sent = pattern(kPuts * kBytes, round);
    std::memcpy(left_->data, sent.data(), sent.size());
    std::vector<Post> there, back;
    for (uint64_t i = 0; i < kPuts; ++i)
      there.push_back(step(PostOp::Put, i * kBytes, kHalf + i * kBytes, kBytes, 7));
    back.push_back(step(PostOp::Put, 0, 0, 0, rt::kPostSignals - 1)); // nothing but the signal
    PostingRun answer = right_->run(back), ask = left_->run(there), heard = left_->run({});
    answer.signal = 7;
    answer.awaitCount = round * kPuts;
    answer.landed = reinterpret_cast<const uint64_t *>(right_->data + kHalf);
    answer.copy = reinterpret_cast<uint64_t *>(right_->pinned(kPuts * kBytes));
    answer.words = kWords;
    heard.signal = rt::kPostSignals - 1;
    heard.awaitCount = round;
    right_->start(answer);
    left_->start(ask);
    right_->finish();
    left_->finish();
    left_->start(heard);
    left_->finish();
    for (uint32_t block = 0; block < kPostingBlocks; ++block) {
      EXPECT_EQ(answer.awaited[block], PostOutcome::Done);
      EXPECT_EQ(heard.awaited[block], PostOutcome::Done);
    }
    EXPECT_EQ(std::memcmp(answer.copy, sent.data(), sent.size()), 0);
  }
  EXPECT_EQ(right_->posts->stats().signals, 3 * kPuts);
}

TEST_P(DevicePostsTest, BadPostsFailAloneAndTouchNothing) {
  join();
  std::memset(right_->data, 1, kRoom);
  std::vector<std::pair<Post, PostOutcome>> cases;
  auto bad = [&](PostOutcome expected, auto &&change) {
    Post post = step(PostOp::Put, 0, 0, 64);
    change(post);
    cases.push_back({post, expected});
    const uint64_t to = 4096 + cases.size() / 2 * 64;
    cases.push_back({step(PostOp::Put, 0, to, 64), PostOutcome::Done});
  };
  bad(PostOutcome::BadOp, [](Post &post) { post.op = static_cast<PostOp>(0); });
  bad(PostOutcome::BadOp, [](Post &post) { post.op = static_cast<PostOp>(77); });
  bad(PostOutcome::BadPeer, [](Post &post) { post.place.peer = 1; });
  bad(PostOutcome::BadPeer, [](Post &post) { post.place.peer = ~0u; });
  bad(PostOutcome::BadRegion, [](Post &post) { post.place.region = 1; });
  bad(PostOutcome::BadRegion, [](Post &post) { post.place.regionOffset = kRoom - 63; });
  bad(PostOutcome::BadRegion, [](Post &post) { post.place.regionOffset = ~uint64_t(0) - 10; });
  bad(PostOutcome::BadRegion, [](Post &post) { post.place.bytes = ~uint64_t(0); });
  bad(PostOutcome::BadKey, [](Post &post) { post.place.key = 1; });
  bad(PostOutcome::BadKey, [](Post &post) { post.place.keyOffset = kRoom - 63; });
  bad(PostOutcome::BadKey, [](Post &post) { post.place.keyOffset = ~uint64_t(0); });
  bad(PostOutcome::BadSignal, [](Post &post) { post.signal = rt::kPostSignals; });
  std::vector<Post> steps;
  for (const auto &[post, expected] : cases)
    steps.push_back(post);
  left_->doAll(steps);
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(left_->outcome(i), cases[i].second) << i;
  EXPECT_NE(left_->fenced(), PostOutcome::Done);
  EXPECT_EQ(static_cast<uint32_t>(*left_->errorWord),
            static_cast<uint32_t>(kernels::KernelError::Post));
  EXPECT_EQ(left_->posts->stats().failures, cases.size() / 2);
  for (uint64_t i = 0; i < kRoom; ++i)
    ASSERT_EQ(right_->data[i], i >= 4096 && i < 4096 + cases.size() / 2 * 64 ? 0 : 1) << i;

  left_->posts->clearFailure();
  left_->doAll({step(PostOp::Get, 0, 0, 64)});
  EXPECT_EQ(left_->fenced(), PostOutcome::Done);
}

// The peer has revoked a key.
TEST_P(DevicePostsTest, ThePeersRefusalIsThePostsAlone) {
  std::vector<uint8_t> gone(4096);
  Memory *memory =
      right_->transport->regMr(0, {gone.data(), gone.size(), MemoryKind::Host, -1, 0}).take();
  Ends ends = connectEnds(*left_->transport, *right_->transport);
  std::vector<PostPeer> peers = peer(std::move(ends.left), *right_);
  peers[0].keys.push_back(memory->remoteKey());
  right_->transport->deregMr(memory);
  left_->serve(std::move(peers));
  right_->serve(peer(std::move(ends.right), *left_));
  Post refused = step(PostOp::Put, 8192, 0, 64, 3), good = step(PostOp::Get, 0, 0, 4096);
  refused.place.key = 1;
  left_->doAll({good, refused, step(PostOp::Get, 4096, 0, 4096)});
  EXPECT_EQ(left_->outcome(0), PostOutcome::Done);
  EXPECT_EQ(left_->outcome(1), PostOutcome::Refused);
  EXPECT_EQ(left_->outcome(2), PostOutcome::Done);
  left_->doAll({good});
  EXPECT_EQ(left_->outcome(0), PostOutcome::Done);
  EXPECT_EQ(right_->posts->stats().signals, 0u);
}

TEST_P(DevicePostsTest, AFullRingHoldsBackAndLosesNothing) {
  std::memset(left_->data, 5, kRoom);
  std::vector<Post> steps;
  for (uint64_t i = 0; i < rt::kPostSlots + 3; ++i)
    steps.push_back(step(PostOp::Put, 0, i * 64, 64));
  left_->doAll(steps, 200'000'000); // which are not taken
  size_t full = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    full += left_->outcome(i) == PostOutcome::Full;
  EXPECT_GE(full, 3u);
  EXPECT_EQ(left_->fenced(), PostOutcome::Late);
  join();
  EXPECT_TRUE(comesTrue([&] { return left_->posts->stats().puts == steps.size() - full; }));
  left_->doAll(steps);
  for (size_t i = 0; i < steps.size(); ++i)
    ASSERT_EQ(left_->outcome(i), PostOutcome::Done) << i;
  EXPECT_EQ(right_->data[63], 5);
}

// One of two peers vanishes, and posts to the other continue.
TEST_P(DevicePostsTest, APeersEndIsItsPostsOnly) {
  Ends ends = connectEnds(*left_->transport, *right_->transport);
  Ends doomed = connectEnds(*left_->transport, *right_->transport);
  std::vector<PostPeer> peers(2);
  peers[0] = {std::move(ends.left), {right_->key()}};
  peers[1] = {std::move(doomed.left), {right_->key()}};
  left_->serve(std::move(peers));
  right_->serve(peer(std::move(ends.right), *left_));
  PostingRun waiting = left_->run({});
  waiting.peer = 1;
  waiting.awaitCount = 1;
  left_->start(waiting);
  doomed.right.reset();
  left_->finish();
  EXPECT_EQ(waiting.awaited[0], PostOutcome::PeerFailed);
  Post good = step(PostOp::Put, 0, 0, 4096), bad = good;
  bad.place.peer = 1;
  left_->doAll({good, bad, step(PostOp::Put, 0, 4096, 4096), bad});
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(left_->outcome(i), i % 2 ? PostOutcome::PeerFailed : PostOutcome::Done);
}

TEST_P(DevicePostsTest, ADeadlineEndsThePostAndItsConnection) {
  bool isClosed = false;
  Ends ends = connectEnds(*left_->transport, *right_->transport);
  std::vector<PostPeer> peers(2);
  peers[0] = {std::move(ends.left), {right_->key()}};
  peers[1] = {std::make_unique<MuteConnection>(isClosed), {right_->key()}};
  left_->serve(std::move(peers), 1'000'000); // the other peer answers long before
  right_->serve(peer(std::move(ends.right), *left_));
  Post good = step(PostOp::Put, 0, 0, 4096), stuck = good;
  stuck.place.peer = 1;
  left_->doAll({good, stuck, step(PostOp::Put, 0, 4096, 4096)});
  EXPECT_EQ(left_->outcome(0), PostOutcome::Done);
  EXPECT_EQ(left_->outcome(1), PostOutcome::Timeout);
  EXPECT_EQ(left_->outcome(2), PostOutcome::Done);
  left_->doAll({stuck, good});
  EXPECT_EQ(left_->outcome(0), PostOutcome::PeerFailed);
  EXPECT_EQ(left_->outcome(1), PostOutcome::Done);
  left_->posts.reset();
  EXPECT_TRUE(isClosed);
}

TEST_P(DevicePostsTest, TheHostsEndEndsWaits) {
  bool isClosed = false;
  std::vector<PostPeer> peers(1);
  peers[0] = {std::make_unique<MuteConnection>(isClosed), {right_->key()}};
  left_->serve(std::move(peers));
  left_->start(left_->run({step(PostOp::Put, 0, 0, 8)}));
  EXPECT_TRUE(comesTrue(
      [&] { return __atomic_load_n(&left_->shared->posts[0].seq, __ATOMIC_ACQUIRE) == 1; }));
  left_->posts.reset();
  left_->finish();
  EXPECT_EQ(left_->outcome(0), PostOutcome::Stopped);
  EXPECT_EQ(left_->fenced(), PostOutcome::Stopped);
  left_->doAll({step(PostOp::Put, 0, 0, 8)});
  EXPECT_EQ(left_->outcome(0), PostOutcome::Stopped);
}

// Messages that an honest host never sends end the connection.
TEST_P(DevicePostsTest, ALyingPeerRaisesNothing) {
  for (const uint64_t bytes : {4, 3, 0, 8}) {
    std::vector<uint8_t> lie(bytes, 0xff); // outlives the connection, which may own its bytes
    Ends ends = connectEnds(*left_->transport, *right_->transport);
    left_->serve(peer(std::move(ends.left), *right_));
    const Segment message = segment(lie);
    Result<Request *> sent = ends.right->isend(&message, 1, 0x706f7374);
    ASSERT_TRUE(sent.ok());
    EXPECT_TRUE(comesTrue([&] {
      return __atomic_load_n(&left_->shared->peers[0], __ATOMIC_ACQUIRE) ==
             static_cast<uint32_t>(PostOutcome::PeerFailed);
    }));
    EXPECT_EQ(left_->posts->stats().signals, 0u);
    left_->posts.reset();
    std::memset(left_->shared, 0, sizeof(rt::PostShared));
  }
}

// An entry of the ring without its number must be ignored.
TEST_P(DevicePostsTest, ATornRingIsLeftAlone) {
  std::memset(static_cast<void *>(left_->shared->posts), 0xff, sizeof(left_->shared->posts));
  join();
  left_->doAll({step(PostOp::Put, 0, 0, 64)});
  EXPECT_EQ(left_->outcome(0), PostOutcome::Done);
  const DevicePostsStats stats = left_->posts->stats();
  EXPECT_EQ(stats.puts, 1u);
  EXPECT_EQ(stats.failures, 0u);
}

TEST(DevicePosts, RefusesWhatMakesNoSense) {
  auto shared = std::make_unique<rt::PostShared>();
  EXPECT_FALSE(DevicePosts::create(nullptr, {}).ok());
  EXPECT_TRUE(DevicePosts::create(shared.get(), {}).ok());
  DevicePostsOptions options;
  options.timeoutUs = 0;
  EXPECT_FALSE(DevicePosts::create(shared.get(), std::move(options)).ok());
  DevicePostsOptions lonely;
  lonely.peers.resize(1);
  EXPECT_FALSE(DevicePosts::create(shared.get(), std::move(lonely)).ok());
  DevicePostsOptions crowded;
  crowded.peers.resize(rt::kPostPeers + 1);
  EXPECT_FALSE(DevicePosts::create(shared.get(), std::move(crowded)).ok());
  DevicePostsOptions nowhere;
  nowhere.regions = {{{nullptr, 1, nullptr}}};
  EXPECT_FALSE(DevicePosts::create(shared.get(), std::move(nowhere)).ok());
}

// GPU memory is flushed before its kernel learns of new data.
TEST(DevicePosts, GpuMemoryIsFlushedFirst) {
  auto shared = std::make_unique<rt::PostShared>();
  std::vector<uint8_t> memory(64);
  std::vector<std::string> notes;
  DevicePostsOptions options;
  options.regions = {{{memory.data(), memory.size(), nullptr}, MemoryKind::Cuda}};
  options.peers.resize(1);
  options.peers[0] = {std::make_unique<NotingConnection>(notes), {{1, 0, 64}}};
  shared->posts[0] = step(PostOp::Get, 0, 0, 64);
  shared->posts[0].seq = 1;
  auto posts = DevicePosts::create(shared.get(), std::move(options)).take();
  EXPECT_TRUE(comesTrue([&] {
    const DevicePostsStats stats = posts->stats();
    return stats.gets == 1 && stats.signals == 1;
  }));
  posts.reset();
  EXPECT_EQ(shared->signals[3], 1u);
  EXPECT_EQ(shared->ended, 1u);
  std::sort(notes.begin(), notes.end());
  EXPECT_EQ(notes, (std::vector<std::string>{"flush", "flush", "read", "recv"}));
}

// A kernel posts bad entries as fast as they are refused.
TEST(DevicePosts, AFloodOfBadPostsHoldsUpNothing) {
  auto shared = std::make_unique<rt::PostShared>();
  std::atomic<bool> isFull{false}, isOver{false};
  std::thread kernel([&] {
    for (uint64_t number = 1; !isOver;) {
      if (number > __atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE) + rt::kPostSlots) {
        isFull = true;
        continue;
      }
      Post &post = shared->posts[(number - 1) % rt::kPostSlots];
      post.op = static_cast<PostOp>(0);
      __atomic_store_n(&post.seq, number++, __ATOMIC_RELEASE);
    }
  });
  EXPECT_TRUE(comesTrue([&] { return isFull.load(); }));
  std::vector<std::string> notes;
  std::vector<uint64_t> ended; // before each note
  DevicePostsOptions options;
  options.peers.resize(1);
  options.peers[0].connection =
      std::make_unique<NotingConnection>(notes, [&] { ended.push_back(shared->ended); });
  auto posts = DevicePosts::create(shared.get(), std::move(options)).take();
  EXPECT_TRUE(comesTrue([&] {
    const DevicePostsStats stats = posts->stats();
    return stats.signals == 1 && stats.failures > 10 * rt::kPostSlots;
  }));
  posts.reset();
  isOver = true;
  kernel.join();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_LE(ended[0], rt::kPostSlots);
}

// If this process is stopped for longer than the deadline, posts that completed meanwhile count as
// completed.
TEST(DevicePosts, WhatIsDoneIsNotLate) {
  auto shared = std::make_unique<rt::PostShared>();
  std::vector<uint8_t> memory(64);
  std::vector<std::string> notes;
  DevicePostsOptions options;
  options.timeoutUs = 1000;
  options.regions = {{{memory.data(), memory.size(), nullptr}}};
  options.peers.resize(1);
  options.peers[0] = {
      std::make_unique<NotingConnection>(
          notes, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }),
      {{1, 0, 64}}};
  shared->posts[0] = step(PostOp::Put, 0, 0, 64, 1);
  shared->posts[0].seq = 1;
  auto posts = DevicePosts::create(shared.get(), std::move(options)).take();
  EXPECT_TRUE(comesTrue([&] { return __atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE) == 1; }));
  posts.reset();
  EXPECT_EQ(rt::outcomeOf(shared->outcomes[0]), PostOutcome::Done);
  EXPECT_EQ(shared->peers[0], 0u);
}

// The outcome of a post is available until its place has been reused by later posts.
TEST(DevicePosts, OldOutcomesAreForgotten) {
  auto shared = std::make_unique<rt::PostShared>();
  rt::PostState state;
  state.posted = 7 + rt::kPostOutcomes;
  shared->outcomes[6] = rt::outcomeWord(7 + rt::kPostOutcomes, PostOutcome::Refused);
  const rt::PostHandle handle{shared.get(), &state, 1'000'000, nullptr};
  kernels::simt::run({1, 32, 0}, [&](char *) {
    EXPECT_EQ(kernels::waitForPost(handle, 7), PostOutcome::Forgotten);
    EXPECT_EQ(kernels::waitForPost(handle, 7 + rt::kPostOutcomes), PostOutcome::Refused);
    EXPECT_EQ(kernels::waitForPost(handle, 8), PostOutcome::Late);
    EXPECT_EQ(kernels::awaitSignal(handle, 0, rt::kPostSignals, 1), PostOutcome::BadSignal);
    EXPECT_EQ(kernels::awaitSignal(handle, rt::kPostPeers, 0, 1), PostOutcome::BadPeer);
    EXPECT_EQ(kernels::awaitSignal(handle, 0, 0, 1), PostOutcome::Late);
  });
}

// The memory of a process is written until the process is killed.
TEST(DevicePosts, AKilledProcessFailsItsPosts) {
  struct Told {
    Handle handle;
    RemoteKey key;
  } told;
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::unique_ptr<Transport> transport = makeBelow("tcp");
    std::vector<uint8_t> memory(kRoom);
    auto region = transport->regMr(0, {memory.data(), kRoom, MemoryKind::Host, -1, 0});
    auto listener = transport->listen(0);
    told = {(*listener)->handle(), (*region)->remoteKey()};
    if (write(pipes[1], &told, sizeof(told)) != sizeof(told))
      _exit(1);
    Result<std::unique_ptr<Connection>> connection(nullptr);
    while (connection.ok()) // and on, until it is killed
      if (!*connection)
        connection = (*listener)->accept();
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    _exit(1);
  }
  close(pipes[1]); // else a child that ends early leaves read() waiting
  ASSERT_EQ(read(pipes[0], &told, sizeof(told)), static_cast<ssize_t>(sizeof(told)));
  close(pipes[0]);
  Side side(makeEmulatedPostingRig(), "tcp");
  auto connector = side.transport->connect(0, told.handle).take();
  Result<std::unique_ptr<Connection>> made(nullptr);
  ASSERT_TRUE(comesTrue([&] {
    if (made.ok() && !*made)
      made = connector->poll();
    return !made.ok() || *made;
  }));
  ASSERT_TRUE(made.ok()) << made.status().message();
  std::vector<PostPeer> peers(1);
  peers[0] = {made.take(), {told.key}};
  side.serve(std::move(peers));
  const std::vector<Post> steps(20'000, step(PostOp::Put, 0, 0, kRoom));
  const PostingRun run = side.run(steps);
  side.start(run);
  EXPECT_TRUE(comesTrue([&] { return side.posts->stats().puts > 20; }));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  side.finish();
  EXPECT_EQ(side.outcome(steps.size() - 1), PostOutcome::PeerFailed);
  EXPECT_EQ(side.fenced(), PostOutcome::PeerFailed);
}

std::string nameOf(const testing::TestParamInfo<DevicePostsTest::ParamType> &info) {
  return std::get<1>(info.param);
}
INSTANTIATE_TEST_SUITE_P(Emulated, DevicePostsTest,
                         testing::Combine(testing::Values(Machine::Emulated),
                                          testing::Values("loopback", "tcp", "bond")),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Gpu, DevicePostsTest,
                         testing::Combine(testing::Values(Machine::Gpu),
                                          testing::Values("loopback", "tcp")),
                         nameOf);

} // namespace
} // namespace coll::net::test
