#include "runtime/net/wire.h"

#include <gtest/gtest.h>
#include <random>

namespace coll::net::wire {
namespace {

TEST(WireTest, FramesRoundTrip) {
  Frame frame;
  frame.type = FrameType::Write;
  frame.id = 0x0102030405060708;
  frame.tag = ~uint64_t(0);
  frame.offset = 5;
  frame.bytes = kMaxMessageBytes;
  frame.key = 77;
  uint8_t raw[Frame::kBytes];
  encode(frame, raw);
  EXPECT_EQ(raw[8], 8); // little-endian
  std::optional<Frame> back = decodeFrame(raw);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->type, frame.type);
  EXPECT_EQ(back->id, frame.id);
  EXPECT_EQ(back->tag, frame.tag);
  EXPECT_EQ(back->offset, frame.offset);
  EXPECT_EQ(back->bytes, frame.bytes);
  EXPECT_EQ(back->key, frame.key);
}

TEST(WireTest, LimitsAreChecked) {
  uint8_t raw[Frame::kBytes];
  Frame frame;
  frame.bytes = kMaxMessageBytes + 1;
  encode(frame, raw);
  EXPECT_FALSE(decodeFrame(raw));
  frame.type = FrameType::Eager;
  frame.bytes = kEagerBytes + 1;
  encode(frame, raw);
  EXPECT_FALSE(decodeFrame(raw));
  frame.bytes = kEagerBytes;
  encode(frame, raw);
  EXPECT_TRUE(decodeFrame(raw));
  for (int byte : {0, 1, 2, 3, 4, 7}) { // magic, type, code, rows that only Read has
    encode(frame, raw);
    raw[byte] ^= 0x80;
    EXPECT_FALSE(decodeFrame(raw)) << byte;
  }
  frame.type = FrameType::Read;
  frame.row = ~0u;
  encode(frame, raw);
  ASSERT_TRUE(decodeFrame(raw));
  EXPECT_EQ(decodeFrame(raw)->row, ~0u);
}

TEST(WireTest, BootstrapHeadersRoundTripAndAreLimited) {
  uint8_t raw[BootHeader::kBytes];
  BootHeader header;
  header.op = BootOp::Gather;
  header.keyBytes = kMaxKeyBytes;
  header.valueBytes = kMaxValueBytes;
  header.sequence = 9;
  encode(header, raw);
  std::optional<BootHeader> back = decodeBoot(raw, /*isReply=*/false);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->op, header.op);
  EXPECT_EQ(back->sequence, 9u);
  header.valueBytes = kMaxValueBytes + 1;
  encode(header, raw);
  EXPECT_FALSE(decodeBoot(raw, false));
  EXPECT_TRUE(decodeBoot(raw, true));
  header.valueBytes = 0;
  header.keyBytes = kMaxKeyBytes + 1;
  encode(header, raw);
  EXPECT_FALSE(decodeBoot(raw, true));
}

TEST(WireTest, ContextsRoundTrip) {
  StreamContext stream{1, {2, 3}, 4, 5};
  StreamContext back = decodeStream(encode(stream));
  EXPECT_EQ(back.listener, 1u);
  EXPECT_EQ(back.connection[1], 3u);
  EXPECT_EQ(back.index, 4u);
  EXPECT_EQ(back.count, 5u);
  EXPECT_EQ(decodeRank(encode(RankContext{6, 7})).worldSize, 7u);
}

// Whatever a decoder accepts, it would write in the same way.
TEST(WireTest, RandomBytesAreRefusedOrRoundTrip) {
  std::mt19937_64 random(1);
  uint8_t raw[Hello::kBytes], again[Hello::kBytes];
  for (int i = 0; i < 100'000; ++i) {
    for (uint8_t &byte : raw)
      byte = static_cast<uint8_t>(random());
    if (i % 2) { // likely headers
      Frame frame;
      frame.type = static_cast<FrameType>(random() % 10);
      frame.bytes = random() >> (random() % 64);
      encode(frame, raw);
    }
    if (std::optional<Frame> frame = decodeFrame(raw)) {
      encode(*frame, again);
      EXPECT_EQ(std::memcmp(raw, again, Frame::kBytes), 0);
    }
    EXPECT_FALSE(decodeHello(raw));
    EXPECT_FALSE(decodeChallenge(raw));
    EXPECT_FALSE(decodeVerdict(raw));
    EXPECT_FALSE(decodeBoot(raw, false));
  }
}

} // namespace
} // namespace coll::net::wire
