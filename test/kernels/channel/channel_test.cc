// The persistent kernel of a communicator, emulated and on a GPU: every op with any alignment,
// heads that continue across launches, fences, and what ends the kernel.

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"
#include "runtime/base/unpack_layout.h"
#include "runtime/kernels/error_word.h"
#include "test/kernels/channel/channel_fixture.h"

#include <algorithm>
#include <cstring>

namespace coll::kernels::test {

namespace {

Bytes randomBytes(std::mt19937 &random, size_t count) {
  Bytes bytes(count);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random());
  return bytes;
}

// Random elements without NaN, because the hardware decides which NaN results.
Bytes randomElements(std::mt19937 &random, CollDtype dtype, int64_t count) {
  Bytes bytes = randomBytes(random, static_cast<size_t>(count * rt::dtypeSize(dtype)));
  for (int64_t i = 0; i < count; ++i) {
    double value = static_cast<double>(static_cast<int32_t>(random())) / (1 << 20);
    uint8_t *at = bytes.data() + i * rt::dtypeSize(dtype);
    auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof(typed)); };
    if (dtype == kCollF64)
      put(value);
    else if (dtype == kCollF32)
      put(static_cast<float>(value));
    else if (dtype == kCollF16)
      put(rt::f32ToF16(static_cast<float>(value)));
    else if (dtype == kCollBf16)
      put(rt::f32ToBf16(static_cast<float>(value)));
    else if (dtype == kCollBool)
      put(static_cast<uint8_t>(random() % 2));
    else if (dtype == kCollF8E4M3FN)
      put(rt::f32ToF8E4M3FN(static_cast<float>(value / 64))); // no NaN: its sign is not defined
    else if (dtype == kCollF8E5M2)
      put(rt::f32ToF8E5M2(static_cast<float>(value)));
  }
  return bytes;
}

} // namespace

TEST_P(ChannelTest, CopiesAnyAlignmentAndNothingElse) {
  Channel channel(*rig_, 1, 2);
  channel.launch();
  constexpr size_t kRoom = 40'000;
  uint8_t *dst = rig_->device(kRoom), *src = rig_->pinned(kRoom);
  Bytes source = randomBytes(random_, kRoom), expected(kRoom);
  std::memcpy(src, source.data(), kRoom);
  for (size_t bytes : {0, 1, 15, 16, 4095, 4096, 4097, 8200, 33'333})
    for (size_t shift : {0, 1, 4, 9, 16}) {
      size_t from = shift % 3 == 0 ? 0 : shift, to = shift % 2 == 0 ? shift : 3;
      channel.post(copyItem(dst + to, src + from, bytes));
      ASSERT_TRUE(channel.drained());
      std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), bytes,
                  expected.begin() + static_cast<ptrdiff_t>(to));
      ASSERT_EQ(read(dst, kRoom), expected) << bytes << " bytes at " << from << " to " << to;
    }
}

TEST_P(ChannelTest, ReducesAsTheHostDoesBitForBit) {
  Channel channel(*rig_, 1, 2);
  channel.launch();
  constexpr int kMaxSources = 5;
  constexpr int64_t kRoom = 3000;
  uint8_t *src[kMaxSources], *dst = rig_->device(kRoom * 8);
  for (uint8_t *&memory : src)
    memory = rig_->device(kRoom * 8);
  for (int t = 0; t < rt::kNumDtypes; ++t)
    for (int r = 0; r < rt::kNumReductions; ++r) {
      auto dtype = static_cast<CollDtype>(t);
      auto reduction = static_cast<CollReduction>(r);
      if (!rt::reductionTakes(r, dtype))
        continue;
      for (int n : {2, 1, 3, kMaxSources}) {
        int64_t size = rt::dtypeSize(dtype), shift = n == 3 ? size : 0;
        int64_t count = n == 2 ? 2777 : 130;
        std::vector<Bytes> inputs;
        const void *onHost[kMaxSources], *onDevice[kMaxSources];
        for (int s = 0; s < n; ++s) {
          inputs.push_back(randomElements(random_, dtype, count));
          int64_t at = s == 1 ? 0 : shift; // n == 3: addresses that do not agree
          rig_->arena().copyIn(src[s] + at, inputs.back().data(), inputs.back().size());
          onDevice[s] = src[s] + at;
        }
        for (int s = 0; s < n; ++s)
          onHost[s] = inputs[static_cast<size_t>(s)].data();
        Bytes expected(static_cast<size_t>(count * size));
        rt::reduceBuffers(dtype, reduction, onHost, n, expected.data(), count);
        ChannelItem item = copyItem(dst + shift, nullptr, expected.size());
        item.op = ChannelOp::Reduce;
        item.src[0] = onDevice[0];
        item.src[1] = n > 1 ? onDevice[1] : nullptr;
        item.dtype = static_cast<uint32_t>(dtype);
        item.reduction = static_cast<uint32_t>(reduction);
        item.numSources = static_cast<uint32_t>(n);
        item.divisor = reduction == kCollAvg ? static_cast<uint32_t>(n) : 0;
        channel.post(item, 0, n > 2 ? onDevice : nullptr);
        ASSERT_TRUE(channel.drained());
        ASSERT_TRUE(channel.port().error().ok()) << channel.port().error().toString();
        ASSERT_EQ(read(dst + shift, expected.size()), expected)
            << rt::dtypeName(t) << " " << rt::reductionName(r) << ", " << n << " sources";
      }
    }
}

TEST_P(ChannelTest, CopiesRows) {
  Channel channel(*rig_, 1, 2);
  channel.launch();
  constexpr size_t kRoom = 30'000;
  uint8_t *dst = rig_->device(kRoom), *src = rig_->pinned(kRoom);
  Bytes source = randomBytes(random_, kRoom), expected(kRoom);
  std::memcpy(src, source.data(), kRoom);
  struct Case {
    uint64_t bytes, rows, dstPitch, srcPitch, shift;
  };
  for (Case c : {Case{16, 50, 32, 64, 0}, Case{4, 300, 12, 4, 4}, Case{7, 100, 9, 11, 1},
                 Case{5000, 3, 5008, 6000, 0}, Case{0, 5, 8, 8, 0}, Case{8, 0, 8, 8, 0}}) {
    ChannelItem item = copyItem(dst + c.shift, src, c.bytes);
    item.op = ChannelOp::CopyRows;
    item.rows = c.rows;
    item.dstPitch = c.dstPitch;
    item.srcPitch = c.srcPitch;
    channel.post(item);
    ASSERT_TRUE(channel.drained());
    for (uint64_t row = 0; row < c.rows; ++row)
      std::copy_n(source.begin() + static_cast<ptrdiff_t>(row * c.srcPitch), c.bytes,
                  expected.begin() + static_cast<ptrdiff_t>(c.shift + row * c.dstPitch));
    ASSERT_EQ(read(dst, kRoom), expected) << c.bytes << " bytes, " << c.rows << " rows";
  }
}

TEST_P(ChannelTest, UnpacksPages) {
  Channel channel(*rig_, 1, 2);
  channel.launch();
  auto *meta = reinterpret_cast<rt::UnpackMeta *>(rig_->pinned(sizeof(rt::UnpackMeta)));
  constexpr uint32_t kBytes = 50'000;
  uint8_t *bounce = rig_->pinned(2 * kBytes), *dst = rig_->device(kBytes);
  Bytes landed = randomBytes(random_, 2 * kBytes), expected(kBytes);
  std::memcpy(bounce, landed.data(), landed.size());
  uint32_t bounceOff = 17, bufferOff = 0, pages = 0;
  while (bufferOff < kBytes) {
    uint32_t len =
        std::min<uint32_t>(1 + static_cast<uint32_t>(random_()) % 9000, kBytes - bufferOff);
    meta->pages[3][pages++] = {bounceOff, len, bufferOff};
    std::copy_n(landed.begin() + bounceOff, len, expected.begin() + bufferOff);
    bounceOff += len + 5;
    bufferOff += len;
  }
  meta->count[3] = pages;
  ChannelItem item = copyItem(dst, bounce, kBytes);
  item.op = ChannelOp::Unpack;
  item.src[1] = meta;
  item.srcBytes = 2 * kBytes;
  item.pageSlot = 3;
  channel.post(item);
  ASSERT_TRUE(channel.drained());
  EXPECT_EQ(read(dst, kBytes), expected);

  // A page outside of the buffer is skipped and reported.
  meta->pages[4][0] = {0, 100, kBytes - 50};
  meta->count[4] = 1;
  item.pageSlot = 4;
  channel.post(item);
  ASSERT_TRUE(channel.waitFor([&] { return channel.port().isIdle(0); }));
  EXPECT_EQ(read(dst, kBytes), expected);
  EXPECT_EQ(channel.port().pageError(0, 1), 0u);
  EXPECT_EQ(channel.port().pageError(0, 2), errorWord(KernelError::PageRange, 0));
  EXPECT_TRUE(channel.port().error().ok());

  // The same item works when its pages are right, and its earlier error does not affect later
  // items.
  meta->pages[4][0].bufferOff = 0;
  channel.post(item);
  ASSERT_TRUE(channel.drained());
  std::copy_n(landed.begin(), 100, expected.begin());
  EXPECT_EQ(read(dst, kBytes), expected);
  for (uint64_t number = 3; number <= 3 + rt::kChannelSlots; ++number) {
    EXPECT_EQ(channel.port().pageError(0, number), 0u) << number;
    channel.post(item);
    ASSERT_TRUE(channel.drained());
  }
}

TEST_P(ChannelTest, HeadsLiveOnAcrossLaunches) {
  Channel channel(*rig_, 2, 2);
  constexpr uint32_t kWords = 100;
  auto *src = rig_->pinned(kWords * 8), *dst = rig_->device(kWords * 8);
  Bytes source = randomBytes(random_, kWords * 8);
  std::memcpy(src, source.data(), source.size());
  for (uint32_t word = 0; word < kWords; ++word) {
    // The next launch follows the last one's Exit by itself, whether posted before or after it.
    if (word % 7 == 0) {
      if (word != 0)
        channel.exit();
      channel.launch();
    }
    channel.post(copyItem(dst + word * 8, src + word * 8, 8), word % 2);
  }
  ASSERT_TRUE(channel.drained());
  EXPECT_EQ(read(dst, kWords * 8), source);
  channel.exit();
  EXPECT_TRUE(channel.exited());
  EXPECT_TRUE(channel.port().error().ok());
}

// Several items are in progress in a block: some are fetched ahead, one is moved, others are
// published.
TEST_P(ChannelTest, ManyItemsUnderWay) {
  Channel channel(*rig_, 2, 2);
  channel.launch();
  constexpr size_t kItems = 400, kEach = 5000;
  uint8_t *src = rig_->pinned(kItems * kEach), *dst = rig_->device(kItems * kEach);
  Bytes source = randomBytes(random_, kItems * kEach);
  std::memcpy(src, source.data(), source.size());
  Bytes expected(source.size());
  for (size_t i = 0; i < kItems; ++i) {
    const size_t bytes = random_() % kEach, queue = i % 2;
    ASSERT_TRUE(
        channel.waitFor([&] { return !channel.port().full(static_cast<uint32_t>(queue)); }));
    channel.post(copyItem(dst + i * kEach, src + i * kEach, bytes), static_cast<uint32_t>(queue));
    std::copy_n(source.begin() + static_cast<ptrdiff_t>(i * kEach), bytes,
                expected.begin() + static_cast<ptrdiff_t>(i * kEach));
  }
  ASSERT_TRUE(channel.drained());
  EXPECT_EQ(read(dst, expected.size()), expected);
}

TEST_P(ChannelTest, AnItemThatDoesNotExistEndsTheLaunch) {
  Channel channel(*rig_, 1, 2);
  channel.launch();
  ChannelItem item = copyItem(nullptr, nullptr, 0);
  item.op = static_cast<ChannelOp>(77);
  channel.post(item);
  EXPECT_TRUE(channel.exited());
  Status error = channel.port().error();
  EXPECT_EQ(error.code(), kCollDevice);
  EXPECT_NE(error.message().find("does not know"), std::string::npos) << error.message();
}

TEST_P(ChannelTest, AHostThatFallsSilentEndsTheLaunch) {
  Channel channel(*rig_, 1, 2, /*idleTimeoutNs=*/20'000'000);
  channel.launch();
  EXPECT_TRUE(channel.exited());
  EXPECT_EQ(channel.port().error().code(), kCollDevice);
}

TEST_P(ChannelTest, AbortEndsTheLaunch) {
  Channel channel(*rig_, 2, 2);
  channel.launch();
  channel.port().abort();
  EXPECT_TRUE(channel.exited());
  EXPECT_TRUE(channel.port().error().ok());
}

// The memory that its items name may have been freed by then.
TEST_P(ChannelTest, ALaunchThatBeginsAfterTheAbortDoesNothing) {
  Channel channel(*rig_, 2, 2);
  uint8_t *dst = rig_->device(64), *src = rig_->pinned(64);
  std::memset(src, 0x22, 64);
  const Bytes untouched = read(dst, 64);
  for (uint32_t queue : {0, 1})
    channel.post(copyItem(dst, src, 64), queue);
  channel.port().abort();
  channel.launch();
  EXPECT_TRUE(channel.exited());
  EXPECT_TRUE(channel.port().error().ok());
  EXPECT_FALSE(channel.port().isDone(0, 1) || channel.port().isDone(1, 1));
  EXPECT_EQ(read(dst, 64), untouched);
}

TEST_P(ChannelTest, RefusesWhatIsOutOfBounds) {
  rt::ChannelLaunch launch;
  EXPECT_EQ(rig_->launch(launch).code(), kCollInvalidCall);
  launch.shared = reinterpret_cast<rt::ChannelShared *>(rig_->pinned(sizeof(rt::ChannelShared)));
  launch.state = reinterpret_cast<rt::ChannelState *>(rig_->device(sizeof(rt::ChannelState)));
  launch.number = launch.idleTimeoutNs = 1;
  launch.numQueues = 3;
  launch.blocksPerQueue = 3;
  EXPECT_EQ(rig_->launch(launch).code(), kCollInvalidCall);
}

INSTANTIATE_TEST_SUITE_P(host, ChannelTest, testing::Values(Machine::Emulated),
                         [](const auto &) { return "emulated"; });
INSTANTIATE_TEST_SUITE_P(cuda, ChannelTest, testing::Values(Machine::Gpu),
                         [](const auto &) { return "gpu"; });

} // namespace coll::kernels::test
