// Rows of remote memory that one read names: which are valid, and how a peer that names invalid
// ones is answered.

#include "runtime/net/tcp/connection.h"
#include "runtime/net/tcp/shared.h"
#include "test/net/options.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>

namespace coll::net {
namespace {

constexpr uint64_t kEnd = ~uint64_t(0);

// Applies the rules without regard to speed, in numbers that do not overflow.
bool areInside(const RemoteRows &rows, uint64_t bytes, uint64_t size) {
  using Wide = unsigned __int128;
  if (rows.rowBytes == 0)
    return Wide{rows.offset} + bytes <= size;
  if (rows.stride < rows.rowBytes || bytes % rows.rowBytes || bytes / rows.rowBytes > 4096 ||
      rows.offset > size)
    return false;
  for (uint64_t row = 0; row < bytes / rows.rowBytes; ++row)
    if (Wide{rows.offset} + Wide{row} * rows.stride + rows.rowBytes > size)
      return false;
  return true;
}

TEST(RemoteRowsTest, FitIsThatOfEachRow) {
  std::mt19937_64 random(5);
  const auto pick = [&](std::initializer_list<uint64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  int inside = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto row = static_cast<uint32_t>(pick({0, 1, 2, 7, 100, random() % 300, ~0u}));
    const uint64_t stride = pick({0, 1, 7, row, uint64_t{row} + 1, random() % 1000, kEnd / 2,
                                  kEnd / 3 + 50, kEnd - 5, kEnd, random()});
    const uint64_t bytes = pick({0, 1, uint64_t{row} * (random() % 6), uint64_t{row} * 4096,
                                 uint64_t{row} * 4097, random() % 2000, kEnd});
    const uint64_t size = pick({0, 1, 1000, 400'000, kEnd, random() % 3000});
    const uint64_t offset = pick({0, 1, size, size - 1, random() % 1000, kEnd});
    const RemoteRows rows(offset, row, stride);
    const bool fits = areInside(rows, bytes, size);
    ASSERT_EQ(rows.fit(bytes, size), fits) << offset << " " << row << " " << stride << " " << bytes;
    inside += fits;
    if (!fits || bytes == 0)
      continue;
    // The offset of the last byte, and what follows the first byte.
    const uint64_t last = bytes - 1;
    EXPECT_EQ(rows.at(last), row ? offset + last / row * stride + last % row : offset + last);
    EXPECT_LT(rows.at(last), size);
    EXPECT_EQ(rows.following(0), row ? row : kEnd);
  }
  EXPECT_GT(inside, 10'000);
}

// A peer of raw frames, and the connection that it sends requests to.
class HostileRowsTest : public testing::Test {
protected:
  static constexpr uint64_t kKey = 0x1234, kRoom = 10'000;

  HostileRowsTest() : shared_(options(), test::testSecret()), memory_(kRoom) {
    for (size_t i = 0; i < kRoom; ++i)
      memory_[i] = static_cast<uint8_t>(i * 7 + i / 256);
    shared_.devices.resize(1);
    shared_.devices[0].maxSegments = tcp::kMaxSegments;
    shared_.devices[0].maxMessageBytes = wire::kMaxMessageBytes;
    shared_.pollers.push_back(Poller::create().take());
    region_->key = {kKey, 0, kRoom};
    region_->data = memory_.data();
    shared_.regions.add(region_);
    std::vector<Fd> mine;
    for (int i = 0; i < 2; ++i) {
      int pair[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
      mine.emplace_back(pair[0]);
      theirs_.emplace_back(pair[1]);
    }
    victim_ = tcp::TcpConnection::create(shared_, 0, std::move(mine)).take();
  }
  ~HostileRowsTest() override {
    victim_->close();
    shared_.regions.remove(*region_);
  }

  static TcpOptions options() {
    TcpOptions options;
    options.dataStreams = 1;
    return options;
  }
  // Returns the frame that answers a read.
  wire::Frame ask(const RemoteRows &rows, uint64_t bytes, std::vector<uint8_t> &data) {
    wire::Frame frame;
    frame.type = wire::FrameType::Read;
    frame.key = kKey;
    frame.offset = rows.offset;
    frame.row = rows.rowBytes;
    frame.tag = rows.stride;
    frame.bytes = bytes;
    uint8_t raw[wire::Frame::kBytes];
    encode(frame, raw);
    EXPECT_EQ(::send(theirs_[0].get(), raw, sizeof raw, 0), static_cast<ssize_t>(sizeof raw));
    pollfd both[2] = {{theirs_[0].get(), POLLIN, 0}, {theirs_[1].get(), POLLIN, 0}};
    EXPECT_GT(::poll(both, 2, 30'000), 0);
    const int socket = both[both[0].revents ? 0 : 1].fd;
    EXPECT_EQ(::recv(socket, raw, sizeof raw, MSG_WAITALL), static_cast<ssize_t>(sizeof raw));
    const wire::Frame answer = wire::decodeFrame(raw).value_or(wire::Frame());
    data.resize(answer.type == wire::FrameType::Data ? std::min(answer.bytes, kRoom) : 0);
    if (!data.empty()) {
      EXPECT_EQ(::recv(socket, data.data(), data.size(), MSG_WAITALL),
                static_cast<ssize_t>(data.size()));
    }
    return answer;
  }

  tcp::Shared shared_;
  std::vector<uint8_t> memory_;
  std::shared_ptr<tcp::Region> region_ = std::make_shared<tcp::Region>();
  std::vector<Fd> theirs_;
  std::unique_ptr<Connection> victim_;
};

TEST_F(HostileRowsTest, WhatIsNoRowsOrOutsideIsRefused) {
  struct Question {
    RemoteRows rows;
    uint64_t bytes;
  };
  const Question bad[] = {{{0, 1000, 3001}, 4000},         // the last one ends behind it
                          {{10'000, 100, 100}, 100},       // all of it
                          {{10'001, 100, 100}, 0},         // or nothing
                          {{0, 1, 1}, 4097},               // too many
                          {{0, 1, 0}, 2},                  // one upon another
                          {{0, 1000, 999}, 2000},          // half
                          {{0, 1001, 2000}, 4000},         // and half a one
                          {{0, 4000, 4000}, 1},            //
                          {{0, ~0u, kEnd}, 1},             //
                          {{0, 1000, kEnd / 3 + 1}, 4000}, // so far apart that they come around
                          {{0, 1000, uint64_t{1} << 62}, 5000},
                          {{kEnd - 999, 1000, 1000}, 2000},
                          {{1, 1000, kEnd}, 2000},
                          {{0, 1, 1 << 20}, wire::kMaxMessageBytes}};
  std::vector<uint8_t> data;
  for (const Question &question : bad) {
    const wire::Frame answer = ask(question.rows, question.bytes, data);
    EXPECT_EQ(answer.type, wire::FrameType::Ack) << &question - bad;
    EXPECT_EQ(answer.code, wire::FrameCode::BadKey) << &question - bad;
  }
  // The connection continues to work.
  const RemoteRows good(3, 10, 2499);
  EXPECT_EQ(ask(good, 50, data).type, wire::FrameType::Ack);
  const wire::Frame answer = ask(good, 40, data);
  EXPECT_EQ(answer.type, wire::FrameType::Data);
  ASSERT_EQ(data.size(), 40u);
  for (size_t i = 0; i < 40; ++i)
    EXPECT_EQ(data[i], memory_[3 + i / 10 * 2499 + i % 10]) << i;
}

} // namespace
} // namespace coll::net
