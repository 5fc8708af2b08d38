// Boxes over a connection that records its requests: the bytes of a plain copy, in as few requests
// as possible.

#include "runtime/exchange/flow/one_sided.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace coll::rt::exchange::test {
namespace {

// Executes each request at once, on memory of the test.
class Counting final : public net::Connection {
public:
  explicit Counting(std::vector<char> &remote) : remote_(remote) {}

  Result<net::Request *> isend(const net::Segment *, int, uint64_t) override { return none(); }
  Result<net::Request *> irecv(const net::Segment *, int, uint64_t) override { return none(); }
  Result<net::Request *> iwrite(const net::Segment *segments, int count, const net::RemoteKey &,
                                uint64_t offset) override {
    return move(segments, count, offset, /*isWrite=*/true);
  }
  Result<net::Request *> iread(const net::Segment *segments, int count, const net::RemoteKey &,
                               const net::RemoteRows &rows) override {
    return move(segments, count, rows, /*isWrite=*/false);
  }
  Result<net::Request *> iflush(const net::Segment *, int) override { return none(); }
  Result<net::Completion> test(net::Request *) override { return net::Completion{true, 0}; }
  void close() override {}

  int requests = 0;

private:
  static Status none() { return Status::invalid("not in this test"); }
  Result<net::Request *> move(const net::Segment *segments, int count, const net::RemoteRows &rows,
                              bool isWrite) {
    net::DeviceProperties properties;
    properties.maxSegments = 16;
    properties.maxMessageBytes = 1 << 30;
    Result<uint64_t> total = net::totalBytes(segments, count, rows, properties);
    if (!total)
      return total.status();
    if (!rows.fit(*total, remote_.size()))
      return Status::invalid("outside");
    uint64_t position = 0;
    for (const net::Segment *at = segments; at < segments + count; ++at)
      for (uint64_t i = 0; i < at->bytes; ++i, ++position) {
        char &own = static_cast<char *>(at->data)[i], &theirs = remote_[rows.at(position)];
        isWrite ? theirs = own : own = theirs;
      }
    ++requests;
    return &request_;
  }

  struct Posted : net::Request {};
  Posted request_;
  std::vector<char> &remote_;
};

std::vector<char> randomBytes(size_t count, std::minstd_rand &random) {
  std::vector<char> bytes(count);
  for (char &byte : bytes)
    byte = static_cast<char>(random());
  return bytes;
}

int read(const StridedBox &box, std::vector<char> &remote, std::vector<char> &own) {
  Counting connection(remote);
  OneSided moves(Direction::Read, connection, {}, own.data(), nullptr, 16, 1'000'000);
  EXPECT_TRUE(moves.move(box).ok());
  EXPECT_TRUE(moves.finish().ok());
  return connection.requests;
}

// `rows` rows, `there` bytes apart in the peer's memory and `here` bytes apart in the own memory.
StridedBox plane(int64_t rows, int64_t bytes, int64_t there, int64_t here) {
  StridedBox box;
  box.rowBytes = bytes;
  box.numLoops = 1;
  box.count[0] = rows;
  box.srcStride[0] = there;
  box.dstStride[0] = here;
  return box;
}

TEST(OneSidedTest, RowsThatAreAsFarApartAreOneRead) {
  std::minstd_rand random(1);
  std::vector<char> remote = randomBytes(1 << 20, random), own(1 << 20);
  EXPECT_EQ(read(plane(1000, 64, 1024, 64), remote, own), 1);
  EXPECT_EQ(read(plane(1000, 64, 64, 64), remote, own), 1);
  EXPECT_EQ(read(plane(4097, 8, 16, 8), remote, own), 2);
  EXPECT_EQ(read(plane(64, 64, 1024, 128), remote, own), 4); // 16 buffers each
  EXPECT_EQ(read(plane(64, 64, 64, 128), remote, own), 4);
  // Backwards, with negative strides, which rows cannot have.
  StridedBox back = plane(5, 8, -16, 8);
  back.srcOffset = 1000;
  EXPECT_EQ(read(back, remote, own), 5);
}

TEST(OneSidedTest, WritesGoStretchByStretch) {
  std::minstd_rand random(2);
  std::vector<char> own = randomBytes(1 << 16, random), remote(1 << 16);
  Counting connection(remote);
  OneSided moves(Direction::Write, connection, {}, own.data(), nullptr, 16, 1'000'000);
  EXPECT_TRUE(moves.move(plane(10, 64, 64, 64)).ok());
  EXPECT_TRUE(moves.finish().ok());
  EXPECT_EQ(connection.requests, 1);
  EXPECT_TRUE(moves.move(plane(10, 64, 64, 128)).ok());
  EXPECT_TRUE(moves.finish().ok());
  EXPECT_EQ(connection.requests, 11);
}

TEST(OneSidedTest, ManyRequestsOfFewBytesAreScattered) {
  char own[1];
  const auto is = [&](Direction direction, const StridedBox &box) {
    return isScattered(direction, {box}, own, 16);
  };
  EXPECT_TRUE(is(Direction::Write, plane(17, 64, 64, 128)));
  EXPECT_FALSE(is(Direction::Write, plane(16, 64, 64, 128)));
  EXPECT_FALSE(is(Direction::Write, plane(1000, 64, 64, 64)));
  EXPECT_FALSE(is(Direction::Write, plane(1000, 32 << 10, 32 << 10, 33 << 10)));
  EXPECT_FALSE(is(Direction::Read, plane(1000, 64, 1024, 64)));
  EXPECT_FALSE(is(Direction::Read, plane(256, 64, 1024, 128))); // 16 buffers each
  EXPECT_TRUE(is(Direction::Read, plane(257, 64, 1024, 128)));
  EXPECT_TRUE(is(Direction::Write, plane(int64_t{1} << 40, 1, 1, 2))); // judged, not counted
  EXPECT_FALSE(isScattered(Direction::Write, {}, nullptr, 16));
}

TEST(OneSidedTest, RandomBoxesAreThoseOfACopy) {
  std::minstd_rand random(3);
  for (int round = 0; round < 500; ++round) {
    StridedBox box;
    box.rowBytes = 1 + random() % 9;
    box.numLoops = static_cast<int>(random() % 4);
    int64_t src = box.rowBytes, dst = box.rowBytes;
    for (int loop = box.numLoops; loop-- > 0;) {
      const auto d = static_cast<size_t>(loop);
      box.count[d] = 1 + random() % 6;
      box.srcStride[d] = src + (random() % 2 ? random() % 7 : 0);
      box.dstStride[d] = dst + (random() % 2 ? random() % 7 : 0);
      src = box.srcStride[d] * box.count[d];
      dst = box.dstStride[d] * box.count[d];
    }
    box.srcOffset = random() % 10;
    box.dstOffset = random() % 10;
    for (const auto direction : {Direction::Read, Direction::Write}) {
      const bool reads = direction == Direction::Read;
      std::vector<char> from = randomBytes(static_cast<size_t>(src) + 20, random);
      std::vector<char> to(static_cast<size_t>(dst) + 20, 1), expected = to;
      copyBox(box, from.data(), expected.data());
      Counting connection(reads ? from : to);
      OneSided moves(direction, connection, {}, reads ? to.data() : from.data(), nullptr,
                     1 + static_cast<int>(random() % 16), 1'000'000);
      ASSERT_TRUE(moves.move(box).ok());
      ASSERT_TRUE(moves.finish().ok());
      ASSERT_TRUE(to == expected) << round;
    }
  }
}

} // namespace
} // namespace coll::rt::exchange::test
