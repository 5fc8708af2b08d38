// Compressed messages: the reference, the check of data received over a network, and the channel
// kernel's two ops, emulated and on a GPU.

#include "runtime/kernels/compress/compress.h"
#include "runtime/kernels/error_word.h"
#include "test/kernels/channel/channel_fixture.h"
#include "test/kernels/compress/compress_cases.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace coll::kernels::test {

namespace {

// Lengths around every limit: elements, vectors, columns, pages.
constexpr size_t kLengths[] = {1, 7, 16, 4095, 4096, 4097, 8192, 12'300, 40'960, 100'001};

// Host memory of exactly so many bytes, aligned to 16, so that an access to the first byte beyond
// is found.
struct Message {
  explicit Message(size_t size)
      : bytes(static_cast<uint8_t *>(std::aligned_alloc(16, rt::roundTo16(size))), &std::free) {}
  std::unique_ptr<uint8_t, void (*)(void *)> bytes;

  uint8_t *data() const { return bytes.get(); }
  rt::CompressedHeader &header() const { return *reinterpret_cast<rt::CompressedHeader *>(data()); }
  rt::CompressedPage &page(size_t number) const {
    return reinterpret_cast<rt::CompressedPage *>(data() + sizeof(rt::CompressedHeader))[number];
  }
  rt::ColumnHead &column(size_t page_, size_t number) const {
    return reinterpret_cast<rt::ColumnHead *>(data() + page(page_).at)[number];
  }
};

Bytes made(const CompressCase &of, std::mt19937 &random, size_t bytes) {
  Bytes data(bytes);
  of.fill(random, data);
  return data;
}

Message compressed(const Bytes &data, uint64_t &length) {
  Message message(rt::compressedBound(data.size()));
  length = compressReference(message.data(), data.data(), data.size());
  return message;
}

} // namespace

class CompressTest : public ChannelTest {
protected:
  void SetUp() override {
    ChannelTest::SetUp();
    if (rig_)
      restart();
  }
  void TearDown() override { channel_.reset(); }

  // A new channel, because an error ends a channel.
  void restart() {
    channel_.reset();
    channel_ = std::make_unique<Channel>(*rig_, 1, 2);
    channel_->launch(compress_);
  }

  void run(ChannelOp op, void *dst, uint64_t dstBytes, const void *src, uint64_t srcBytes) {
    ChannelItem item = copyItem(dst, src, dstBytes);
    item.op = op;
    item.srcBytes = srcBytes;
    number_ = channel_->post(item);
    ASSERT_TRUE(channel_->waitFor(
        [&] { return channel_->port().isIdle(0) || channel_->port().hasExited(1); }));
  }
  void expectGood() {
    EXPECT_TRUE(channel_->port().error().ok());
    EXPECT_EQ(channel_->port().pageError(0, number_), 0u);
  }
  // Expands a message into memory that begins `shift` bytes after an aligned address, and checks
  // the bytes around it.
  void expectBack(const Bytes &data, const uint8_t *message, uint64_t length, size_t shift) {
    constexpr size_t kGuard = 64;
    Bytes room(data.size() + 2 * kGuard, 0xa7);
    uint8_t *dst = rig_->device(room.size());
    rig_->arena().copyIn(dst, room.data(), room.size());
    run(ChannelOp::Expand, dst + kGuard - 16 + shift, data.size(), message, length);
    std::copy(data.begin(), data.end(), room.begin() + static_cast<ptrdiff_t>(kGuard - 16 + shift));
    EXPECT_TRUE(read(dst, room.size()) == room) << data.size() << " bytes to " << shift;
  }

  // The message's address on the device. In emulation it is the message itself, so that the
  // sanitizers find overruns.
  const uint8_t *shown(const Message &message, uint64_t length) {
    if (rig_->slow())
      return message.data();
    uint8_t *pinned = rig_->pinned(length);
    std::memcpy(pinned, message.data(), length);
    return pinned;
  }

  bool compress_ = true;
  std::unique_ptr<Channel> channel_;
  uint64_t number_ = 0; // of the last item
};

TEST_P(CompressTest, TheReferenceBringsEveryBitBack) {
  for (const CompressCase &of : compressCases())
    for (size_t bytes : kLengths) {
      const Bytes data = made(of, random_, bytes);
      uint64_t length = 0;
      const Message message = compressed(data, length);
      ASSERT_LE(length, rt::compressedBound(bytes));
      Bytes back(bytes);
      Status status = expandReference(back.data(), bytes, message.data(), length);
      ASSERT_TRUE(status.ok()) << status.toString();
      ASSERT_TRUE(back == data) << of.name << ", " << bytes << " bytes";
    }
}

TEST_P(CompressTest, Ratios) {
  constexpr size_t kBytes = 512 << 10;
  for (const CompressCase &of : compressCases()) {
    const Bytes data = made(of, random_, kBytes);
    uint64_t length = 0;
    compressed(data, length);
    EXPECT_NEAR(static_cast<double>(length) / kBytes, of.ratio, 0.005) << of.name;
  }
}

TEST_P(CompressTest, TheKernelMakesMessagesOfTheSameLengthAndContent) {
  for (const CompressCase &of : compressCases())
    for (size_t bytes : kLengths) {
      const size_t shift = bytes % 5 == 0 ? 0 : random_() % 16;
      const Bytes data = made(of, random_, bytes);
      uint8_t *src = rig_->device(bytes + shift);
      rig_->arena().copyIn(src + shift, data.data(), bytes);
      const uint64_t bound = rt::compressedBound(bytes);
      uint8_t *message = rig_->pinned(bound);
      run(ChannelOp::Compress, message, bound, src + shift, bytes);
      uint64_t length = 0;
      compressed(data, length);
      ASSERT_EQ(reinterpret_cast<rt::CompressedHeader *>(message)->bytes, length) << of.name;
      Bytes back(bytes);
      Status status = expandReference(back.data(), bytes, message, length);
      ASSERT_TRUE(status.ok()) << status.toString();
      ASSERT_TRUE(back == data) << of.name << ", " << bytes << " bytes from " << shift;
    }
  expectGood();
}

TEST_P(CompressTest, TheKernelPutsMessagesBackToAnyAddress) {
  for (const CompressCase &of : compressCases())
    for (size_t bytes : kLengths) {
      const Bytes data = made(of, random_, bytes);
      uint64_t length = 0;
      const Message message = compressed(data, length);
      expectBack(data, shown(message, length), length, bytes % 5 == 0 ? 0 : random_() % 16);
      if (HasFailure())
        FAIL() << of.name;
    }
  expectGood();
}

// Both ops with many items in flight: pages of several messages are placed at the same time.
TEST_P(CompressTest, ManyMessagesUnderWay) {
  constexpr size_t kMessages = 60, kBytes = 20'000;
  const uint64_t bound = rt::compressedBound(kBytes);
  std::vector<Bytes> data;
  std::vector<uint8_t *> messages;
  for (size_t i = 0; i < kMessages; ++i) {
    data.push_back(made(compressCases()[i % compressCases().size()], random_, kBytes));
    uint8_t *src = rig_->device(kBytes);
    rig_->arena().copyIn(src, data.back().data(), kBytes);
    messages.push_back(rig_->pinned(bound));
    ChannelItem item = copyItem(messages.back(), src, bound);
    item.op = ChannelOp::Compress;
    item.srcBytes = kBytes;
    channel_->post(item);
  }
  ASSERT_TRUE(channel_->drained());
  for (size_t i = 0; i < kMessages; ++i)
    expectBack(data[i], messages[i], reinterpret_cast<rt::CompressedHeader *>(messages[i])->bytes,
               i % 16);
  expectGood();
}

// Changes that a peer could make to a message of three pages: Columns, Columns, Raw and short.
TEST_P(CompressTest, WhatMakesNoSenseIsRefusedAndTouchesNothing) {
  const size_t bytes = 2 * rt::kCompressPageBytes + 100;
  const Bytes data = made(compressCases()[0], random_, bytes);
  uint64_t length = 0;
  const Message good = compressed(data, length);
  ASSERT_EQ(good.page(1).form, rt::PageForm::Columns);
  struct Spoilt {
    const char *what;
    int page; // that the kernel then leaves out, or -1: what it is not told of
    std::function<void(Message &)> spoil;
  };
  const auto form = [](int number) { return static_cast<rt::PageForm>(number); };
  const Spoilt all[] = {
      {"another magic", -1, [](Message &m) { ++m.header().magic; }},
      {"another version", -1, [](Message &m) { ++m.header().version; }},
      {"for another buffer", -1, [](Message &m) { ++m.header().rawBytes; }},
      {"another length", -1, [](Message &m) { --m.header().bytes; }},
      {"a page in the table", 1, [](Message &m) { m.page(1).at = 16; }},
      {"a page at no multiple of 16", 1, [](Message &m) { m.page(1).at += 8; }},
      {"a page behind the end", 1, [](Message &m) { m.page(1).at = 1 << 20; }},
      {"a page far behind the end", 1, [](Message &m) { m.page(1).at = 0xfffffff0; }},
      {"a page across the end", 1,
       [&](Message &m) { m.page(1).at = static_cast<uint32_t>(length - 64); }},
      {"a form that there is not", 1, [&](Message &m) { m.page(1).form = form(2); }},
      {"a form far beyond", 1, [&](Message &m) { m.page(1).form = form(0xffff); }},
      {"Raw of another length", 1, [&](Message &m) { m.page(1).form = form(0); }},
      {"Columns of a short page", 2, [&](Message &m) { m.page(2).form = form(1); }},
      {"a raw page too long", 2, [](Message &m) { m.page(2).bytes = 101; }},
      {"too short for column heads", 1, [](Message &m) { m.page(1).bytes = 48; }},
      {"nothing of a page", 1, [](Message &m) { m.page(1).bytes = 0; }},
      {"as long as a page", 1, [](Message &m) { m.page(1).bytes = 4096; }},
      {"longer than its columns", 1, [](Message &m) { m.page(1).bytes += 16; }},
      {"shorter than its columns", 1, [](Message &m) { m.page(1).bytes -= 16; }},
      {"nine bits", 1, [](Message &m) { m.column(1, 31).bits = 9; }},
      {"255 bits", 1, [](Message &m) { m.column(1, 5).bits = 255; }},
      {"columns longer than the page", 1, [](Message &m) { m.column(1, 1).bits = 8; }},
      {"columns shorter than the page", 1, [](Message &m) { m.column(1, 1).bits = 0; }},
  };
  for (const Spoilt &spoilt : all) {
    SCOPED_TRACE(spoilt.what);
    Message message(length);
    std::memcpy(message.data(), good.data(), length);
    spoilt.spoil(message);
    EXPECT_EQ(checkCompressed(message.data(), length, bytes).code(), kCollPeer);
    if (spoilt.page < 0)
      continue;
    // The kernel checks again by itself: good pages arrive, the bad one is left unchanged.
    restart();
    uint8_t *dst = rig_->device(bytes);
    run(ChannelOp::Expand, dst, bytes, shown(message, length), length);
    Bytes expected = data;
    const auto begin = expected.begin() + spoilt.page * ptrdiff_t{rt::kCompressPageBytes};
    std::fill(begin, spoilt.page == 2 ? expected.end() : begin + rt::kCompressPageBytes, 0);
    EXPECT_TRUE(read(dst, bytes) == expected);
    EXPECT_EQ(channel_->port().pageError(0, number_),
              errorWord(KernelError::CompressedPage, static_cast<uint32_t>(spoilt.page)));
  }
  for (uint64_t less = 1; less <= length; less += less < 100 ? 1 : 97) {
    Message message(length - less + 16);
    std::memcpy(message.data(), good.data(), length - less);
    EXPECT_EQ(checkCompressed(message.data(), length - less, bytes).code(), kCollPeer) << less;
  }
}

// Random changes, which the check may or may not find. The kernel also gets messages that the check
// refuses; sanitizers and guards find wrong accesses.
TEST_P(CompressTest, AnyBytesTouchNothingOutside) {
  for (int round = 0; round < (rig_->slow() ? 150 : 1000); ++round) {
    const size_t bytes = 1 + random_() % 14'000;
    uint64_t length = 0;
    Message message =
        compressed(made(compressCases()[static_cast<size_t>(round) % 4], random_, bytes), length);
    const size_t table = rt::compressedTableBytes(bytes);
    for (unsigned change = 1 + random_() % 4; change > 0; --change) {
      const size_t within = random_() % 2 == 0 ? table : std::min<size_t>(length, table + 64);
      message.data()[random_() % within] = static_cast<uint8_t>(random_());
    }
    Bytes back(bytes);
    const Status outcome = expandReference(back.data(), bytes, message.data(), length);
    restart();
    constexpr size_t kGuard = 48;
    const Bytes guards(bytes + 2 * kGuard, 0xa7);
    uint8_t *dst = rig_->device(guards.size());
    rig_->arena().copyIn(dst, guards.data(), guards.size());
    run(ChannelOp::Expand, dst + kGuard, bytes, shown(message, length), length);
    const Bytes after = read(dst, guards.size());
    ASSERT_TRUE(std::equal(after.begin(), after.begin() + kGuard, guards.begin()) &&
                std::equal(after.end() - kGuard, after.end(), guards.begin()));
    if (outcome.ok()) {
      expectGood();
      EXPECT_TRUE(std::equal(back.begin(), back.end(), after.begin() + kGuard));
    }
  }
}

TEST_P(CompressTest, ItemsThatCannotBeEndTheLaunch) {
  uint8_t *memory = rig_->pinned(20'000);
  const auto refuses = [&](ChannelOp op, uint64_t dstBytes, uint64_t srcBytes, size_t shift) {
    restart();
    run(op, memory + shift, dstBytes, memory + shift, srcBytes);
    return channel_->port().error().message().find("does not know") != std::string::npos;
  };
  const uint64_t bound = rt::compressedBound(5000);
  EXPECT_FALSE(refuses(ChannelOp::Compress, bound, 5000, 0));
  EXPECT_TRUE(refuses(ChannelOp::Compress, bound - 16, 5000, 0)) << "too little room";
  EXPECT_TRUE(refuses(ChannelOp::Compress, bound, 0, 0)) << "nothing";
  EXPECT_TRUE(refuses(ChannelOp::Compress, bound, 5000, 8)) << "a message at no multiple of 16";
  EXPECT_TRUE(refuses(ChannelOp::Compress, ~uint64_t{0}, rt::kCompressMaxBytes + 1, 0));
  EXPECT_TRUE(refuses(ChannelOp::Expand, 5000, 16, 0)) << "no table";
  EXPECT_TRUE(refuses(ChannelOp::Expand, rt::kCompressMaxBytes + 1, ~uint64_t{0}, 0));
  EXPECT_TRUE(refuses(ChannelOp::Expand, 5000, 5000, 4)) << "a message at no multiple of 16";
  compress_ = false;
  EXPECT_TRUE(refuses(ChannelOp::Compress, bound, 5000, 0)) << "a launch that does not compress";
  EXPECT_TRUE(refuses(ChannelOp::Expand, 5000, 5000, 0)) << "a launch that does not compress";
}

INSTANTIATE_TEST_SUITE_P(host, CompressTest, testing::Values(Machine::Emulated),
                         [](const auto &) { return "emulated"; });
INSTANTIATE_TEST_SUITE_P(cuda, CompressTest, testing::Values(Machine::Gpu),
                         [](const auto &) { return "gpu"; });

} // namespace coll::kernels::test
