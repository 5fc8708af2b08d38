// A peer that is accepted, and then sends arbitrary frames.

#include "runtime/net/bond/frame.h"
#include "runtime/net/loopback/loopback.h"
#include "test/net/flaky_transport.h"
#include "test/net/guest.h"
#include "test/net/options.h"

#include <gtest/gtest.h>
#include <random>

namespace coll::net::test {
namespace {

using namespace bond;

TEST(BondFuzzTest, FramesRoundTrip) {
  Frame frame;
  frame.type = FrameType::Large;
  frame.sequence = 3;
  frame.ack = 5;
  frame.takenMessages = 6;
  frame.takenBytes = 7;
  frame.tag = 8;
  frame.id = 9;
  frame.bytes = 10;
  frame.count = 2;
  frame.rails = {1, 0};
  frame.came = {2, 65535};
  uint8_t bytes[Frame::kBytes];
  encode(frame, bytes);
  std::optional<Frame> back = decodeFrame(bytes, sizeof(bytes));
  ASSERT_TRUE(back);
  uint8_t again[Frame::kBytes];
  encode(*back, again);
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + sizeof(bytes)),
            std::vector<uint8_t>(again, again + sizeof(again)));
  EXPECT_FALSE(decodeFrame(bytes, sizeof(bytes) - 1));
}

TEST(BondFuzzTest, AHostilePeerEndsItsConnectionAlone) {
  std::unique_ptr<Transport> raw = createLoopbackTransport().take();
  BondOptions options;
  options.rails = kGuestRails;
  options.retryUs = 100;
  std::unique_ptr<Transport> ours =
      createBondTransport(
          std::make_unique<FlakyTransport>(createLoopbackTransport().take(), kGuestRails), options)
          .take();
  std::mt19937_64 random(4);
  int64_t frames = fuzzFrames / 4;
  bool isLured = false;
  std::vector<uint8_t> guarded(1 << 20, 0xee), small(100);
  while (frames > 0) {
    std::unique_ptr<Connection> theirs;
    isLured = !isLured;
    Links evil = isLured ? lure(*raw, *ours, theirs) : enter(*raw, *ours, theirs);
    ASSERT_TRUE(theirs);
    // Half of the buffer is for messages; the rest must not change.
    Segment half{guarded.data(), guarded.size() / 2, nullptr}, place{small.data(), small.size()};
    std::vector<Request *> posted;
    for (uint64_t tag = 0; tag < 3; ++tag)
      for (const Segment &one : {half, place}) {
        Result<Request *> request =
            random() % 2 ? theirs->irecv(&one, 1, tag) : theirs->isend(&one, 1, tag);
        if (request.ok() && *request)
          posted.push_back(*request);
      }
    Status ended;
    for (uint64_t sequence = 1; ended.ok() && frames-- > 0;) {
      Frame frame;
      frame.type = static_cast<FrameType>(1 + random() % uint64_t(FrameType::Ack));
      frame.code = static_cast<FrameCode>(random() % 20 ? 0 : random() % 3);
      frame.part = static_cast<uint8_t>(random() % 9);
      frame.count = static_cast<uint8_t>(random() % 3);
      // Mostly the next number; also copies, numbers ahead with a gap that the next frames fill,
      // and random ones.
      frame.sequence = frame.type == FrameType::Ack ? 0
                       : random() % 10              ? sequence++
                       : random() % 20              ? 1 + random() % (sequence + 8)
                                                    : random();
      frame.ack = random() % 10 ? random() % 8 : random();
      frame.takenMessages = random() % 5 ? 0 : random() % 4;
      frame.takenBytes = random() % 10 ? 0 : random();
      frame.tag = random() % 4;
      frame.id = random() % 10 ? 1 + random() % 3 : random();
      frame.bytes = random() % 3 ? random() % 200 : random() % 2'000'000;
      for (size_t i = 0; i < frame.count; ++i)
        frame.rails[i] = static_cast<uint8_t>(random() % (kGuestRails + 1));
      for (uint16_t &came : frame.came)
        came = static_cast<uint16_t>(random() % 4 ? random() % 8 : random());
      uint64_t payload = frame.type == FrameType::Eager    ? std::min(frame.bytes, +kEagerBytes)
                         : frame.type == FrameType::Invite ? uint64_t(Handle::kBytes)
                         : random() % 20                   ? 0
                                                           : 9;
      std::vector<uint8_t> bytes(Frame::kBytes + payload);
      encode(frame, bytes.data());
      if (random() % 50 == 0)
        bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
      Segment all{bytes.data(), bytes.size(), nullptr};
      Connection &link = *evil[random() % 2 ? 0 : random() % kGuestRails];
      Result<Request *> sent = link.isend(&all, 1, random() % 20 ? 0 : random() % 64);
      for (size_t i = 0; i < posted.size() && ended.ok(); ++i) {
        Result<Completion> done = theirs->test(posted[i]);
        if (!done.ok() || done->done) {
          posted.erase(posted.begin() + static_cast<ptrdiff_t>(i));
          break;
        }
      }
      if (posted.empty())
        break;
      if (sent.ok() && *sent) {
        Result<Completion> left = link.test(*sent);
        ended = !left.ok() ? left.status() : Status();
        if (left.ok() && !left->done)
          break; // the other end has stopped taking frames
      } else {
        break;
      }
    }
    for (std::unique_ptr<Connection> &link : evil)
      link->close();
  }
  for (size_t i = guarded.size() / 2; i < guarded.size(); ++i)
    ASSERT_EQ(guarded[i], 0xee);
}

} // namespace
} // namespace coll::net::test
