// Numbered frames that arrive over several links in any order.

#include "runtime/net/bond/frame.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/socket.h"
#include "test/conformance/transport/harness.h"
#include "test/net/flaky_transport.h"
#include "test/net/guest.h"

#include <deque>

namespace coll::net::test {
namespace {

using namespace bond;

// A connection whose other end is controlled by the test, link by link.
class BondOrderTest : public testing::Test {
protected:
  BondOrderTest() {
    BondOptions options;
    options.rails = kGuestRails;
    ours_ = createBondTransport(
                std::make_unique<FlakyTransport>(createLoopbackTransport().take(), kGuestRails),
                options)
                .take();
    links_ = enter(*raw_, *ours_, mine_);
  }
  ~BondOrderTest() override {
    for (std::unique_ptr<Connection> &link : links_)
      link->close(); // before the frames on it
  }

  // Sends a frame over a link; the other end reads it when it polls.
  void give(size_t link, const Frame &frame, const std::vector<uint8_t> &payload = {}) {
    std::vector<uint8_t> &bytes = sent_.emplace_back(Frame::kBytes);
    encode(frame, bytes.data());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    Segment all = segment(bytes);
    Request *request = nullptr;
    for (int64_t end = nowUs() + kPatientUs; !request && nowUs() < end;) {
      Result<Request *> posted = links_[link]->isend(&all, 1, kFrameTag);
      ASSERT_TRUE(posted.ok()) << posted.status().toString();
      request = *posted;
    }
    expectDone(*links_[link], request, bytes.size());
  }
  // Sends a message if there is room, and removes completed sends; returns the number of messages
  // sent.
  size_t send(std::deque<Request *> &sends, std::vector<uint8_t> &data) {
    Segment all = segment(data);
    Result<Request *> sent = mine_->isend(&all, 1, 1);
    EXPECT_TRUE(sent.ok()) << sent.status().toString();
    if (sent && *sent)
      sends.push_back(*sent);
    while (!sends.empty() && isDone(sends.front()))
      sends.pop_front();
    return sent && *sent ? 1 : 0;
  }
  void giveMessage(size_t link, uint64_t number, const std::vector<uint8_t> &payload,
                   uint64_t tag = 1) {
    Frame frame;
    frame.type = FrameType::Eager;
    frame.sequence = number;
    frame.tag = tag;
    frame.bytes = payload.size();
    give(link, frame, payload);
  }
  void giveAck(uint64_t ack, std::array<uint16_t, BondOptions::kMaxRails> came = {}) {
    Frame frame;
    frame.ack = frame.takenMessages = ack;
    frame.came = came;
    give(0, frame);
  }
  bool isDone(Request *request) {
    Result<Completion> state = mine_->test(request);
    EXPECT_TRUE(state.ok()) << state.status().toString();
    return state.ok() && state->done;
  }
  // Polls what has arrived, for a receive that must stay incomplete.
  void expectNothing(Request *request) {
    for (int i = 0; i < 100; ++i)
      ASSERT_FALSE(isDone(request));
  }
  // Receives messages, which must be those with the numbers from `first` to `last`.
  void expectInOrder(uint64_t first, uint64_t last) {
    for (uint64_t number = first; number <= last; ++number) {
      std::vector<uint8_t> got(messageOf(number).size());
      expectDone(*mine_, recv(*mine_, got, 1), got.size());
      EXPECT_EQ(got, messageOf(number)) << number;
    }
  }
  // Some messages are empty.
  static std::vector<uint8_t> messageOf(uint64_t number) {
    return pattern(number % 4 * 100, number);
  }

  // The frames that the guest has read from each link, and the highest number.
  struct Reader {
    std::vector<uint8_t> place = std::vector<uint8_t>(kFrameBytes);
    Request *wanted = nullptr;
    uint64_t frames = 0;
  };
  // Reads one frame from the link, if there is one.
  std::optional<Frame> readFrame(size_t link) {
    Reader &reader = readers_[link];
    Segment all = segment(reader.place);
    if (!reader.wanted)
      reader.wanted = links_[link]->irecv(&all, 1, kFrameTag).take();
    Result<Completion> came = links_[link]->test(reader.wanted);
    if (!came.ok() || !came->done)
      return std::nullopt;
    reader.wanted = nullptr;
    ++reader.frames;
    return decodeFrame(reader.place.data(), came->bytes);
  }

  std::unique_ptr<Transport> raw_ = createLoopbackTransport().take(), ours_;
  std::unique_ptr<Connection> mine_;
  std::deque<std::vector<uint8_t>> sent_;
  Reader readers_[kGuestRails];
  Links links_; // first to go
};

TEST_F(BondOrderTest, WhatComesAheadWaitsForItsTurn) {
  std::vector<uint8_t> first(messageOf(1).size());
  Request *wanted = recv(*mine_, first, 1);
  giveMessage(1, 3, messageOf(3));
  giveMessage(1, 2, messageOf(2));
  giveMessage(2, 4, messageOf(4));
  giveMessage(2, 6, messageOf(6));
  expectNothing(wanted);
  giveMessage(0, 1, messageOf(1));
  expectDone(*mine_, wanted, first.size());
  EXPECT_EQ(first, messageOf(1));
  expectInOrder(2, 4);
  giveMessage(1, 5, messageOf(5));
  expectInOrder(5, 6);
}

TEST_F(BondOrderTest, TagsAreMatchedInTheOrderOfTheNumbers) {
  giveMessage(1, 3, pattern(30, 3), 7);
  giveMessage(2, 2, pattern(20, 2), 7);
  giveMessage(0, 1, pattern(10, 1), 8);
  std::vector<uint8_t> got(100);
  expectDone(*mine_, recv(*mine_, got, 7), 20);
  expectDone(*mine_, recv(*mine_, got, 8), 10);
  expectDone(*mine_, recv(*mine_, got, 7), 30);
}

TEST_F(BondOrderTest, ASecondCopyIsNotTaken) {
  const std::vector<uint8_t> other(9, 0xee);
  for (size_t link : {1, 2, 1})
    giveMessage(link, 2, link == 1 && sent_.empty() ? messageOf(2) : other);
  giveMessage(0, 1, messageOf(1));
  giveMessage(2, 1, other);
  giveMessage(1, 2, other);
  giveMessage(2, 3, messageOf(3));
  expectInOrder(1, 3);
}

TEST_F(BondOrderTest, ALinkThatDiesHoldsUpTheFramesBehindIt) {
  std::vector<uint8_t> first(messageOf(1).size());
  Request *wanted = recv(*mine_, first, 1);
  for (uint64_t number : {2, 3, 5})
    giveMessage(number == 3 ? 2 : 1, number, messageOf(number));
  expectNothing(wanted);
  links_[0]->close(); // with number 1, and number 4
  expectNothing(wanted);
  giveMessage(2, 1, messageOf(1));
  expectDone(*mine_, wanted, first.size());
  EXPECT_EQ(first, messageOf(1));
  giveMessage(1, 4, messageOf(4));
  expectInOrder(2, 5);
}

TEST_F(BondOrderTest, NumbersTooFarAheadEndTheConnection) {
  for (uint64_t number : {kWindowFrames + 1, ~uint64_t(0)}) {
    links_.clear();
    mine_.reset();
    links_ = enter(*raw_, *ours_, mine_);
    std::vector<uint8_t> got(100);
    Request *wanted = recv(*mine_, got, 1);
    giveMessage(1, kWindowFrames, messageOf(1));
    expectNothing(wanted);
    giveMessage(2, number, messageOf(1));
    EXPECT_EQ(outcome(*mine_, wanted), kCollPeer);
  }
  std::unique_ptr<Connection> other;
  Links evil = enter(*raw_, *ours_, other); // nothing else has ended
}

TEST_F(BondOrderTest, BytesAheadAreBounded) {
  const std::vector<uint8_t> large = pattern(kEagerBytes, 1);
  std::vector<uint8_t> got(large.size());
  Request *wanted = recv(*mine_, got, 1);
  uint64_t number = 2;
  for (; (number - 1) * kEagerBytes <= kWindowBytes; ++number)
    giveMessage(number % kGuestRails, number, large);
  expectNothing(wanted);
  giveMessage(0, number, large);
  EXPECT_EQ(outcome(*mine_, wanted), kCollPeer);
}

// When a link fails, its frames are sent again, although they may have arrived already.
TEST_F(BondOrderTest, ACopyOfWhatIsAheadTakesNoRoom) {
  const std::vector<uint8_t> large = pattern(kEagerBytes, 1);
  const uint64_t last = 1 + kWindowBytes / kEagerBytes; // no more bytes have room
  std::vector<uint8_t> got(large.size());
  Request *wanted = recv(*mine_, got, 1);
  for (uint64_t number = 2; number <= last; ++number)
    giveMessage(1, number, large);
  for (uint64_t number = 2; number <= last; ++number)
    giveMessage(2, number, large);
  expectNothing(wanted);
  giveMessage(0, 1, large);
  expectDone(*mine_, wanted, large.size());
  EXPECT_EQ(got, large);
  for (uint64_t number = 2; number <= last; ++number)
    expectDone(*mine_, recv(*mine_, got, 1), large.size());
}

// Small messages beyond the credit are announced; numbers may not exceed the peer's window.
TEST_F(BondOrderTest, ASenderStaysWithinTheWindow) {
  const size_t count = kWindowFrames + 20;
  std::vector<uint8_t> nothing;
  size_t posted = 0;
  uint64_t last = 0, frames = 0;
  auto read = [&] {
    for (size_t link = 0; link < kGuestRails; ++link)
      if (std::optional<Frame> frame = readFrame(link)) {
        ++frames;
        last = std::max(last, frame->sequence);
      }
  };
  std::deque<Request *> sends;
  for (int64_t end = nowUs() + kPatientUs; posted < count && nowUs() < end; read()) {
    posted += send(sends, nothing);
  }
  ASSERT_EQ(posted, count);
  // Exactly so many must arrive.
  auto settle = [&](uint64_t wanted) {
    for (int64_t end = nowUs() + kPatientUs; last < wanted && nowUs() < end; read())
      EXPECT_FALSE(isDone(sends.front()));
    for (int i = 0; i < 2000; ++i) {
      EXPECT_FALSE(isDone(sends.front()));
      read();
    }
    EXPECT_EQ(last, wanted);
  };
  settle(kWindowFrames);
  EXPECT_EQ(frames, kWindowFrames);
  giveAck(kWindowFrames);
  settle(count);
}

TEST_F(BondOrderTest, ALinkThatDeliversLessGetsLess) {
  constexpr size_t kMessages = 3000;
  std::vector<uint8_t> data(8);
  size_t posted = 0;
  uint64_t seen = 0, told = 0;
  std::deque<Request *> sends;
  for (int64_t end = nowUs() + kPatientUs; posted < kMessages && nowUs() < end;) {
    posted += send(sends, data);
    // Everything arrives, but frames over link 1 are acknowledged late.
    for (size_t link = 0; link < kGuestRails; ++link)
      seen += readFrame(link) ? 1 : 0;
    if (seen - told < 128)
      continue;
    told = seen;
    giveAck(seen, {static_cast<uint16_t>(readers_[0].frames), 0,
                   static_cast<uint16_t>(readers_[2].frames)});
  }
  EXPECT_EQ(posted, kMessages);
  EXPECT_LT(readers_[1].frames, kMessages / 10);
  EXPECT_GT(readers_[0].frames, kMessages / 4);
  EXPECT_GT(readers_[2].frames, kMessages / 4);
}

} // namespace
} // namespace coll::net::test
