// A peer that knows the secret sends arbitrary frames: nothing outside of the buffers may change,
// memory must stay bounded, and the error must stay on its connection.

#include "runtime/net/tcp/connection.h"
#include "runtime/net/tcp/shared.h"
#include "test/net/options.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <sys/socket.h>

namespace coll::net::tcp {
namespace {

using wire::Frame;
using wire::FrameCode;
using wire::FrameType;

constexpr size_t kGuard = 4096;
constexpr size_t kRoom = 64 << 10;

// A buffer between two guards.
struct Guarded {
  Guarded() : bytes(kRoom + 2 * kGuard, 0xc5) {}
  uint8_t *data() { return bytes.data() + kGuard; }
  bool intact() const {
    static const std::vector<uint8_t> guard(kGuard, 0xc5);
    return std::memcmp(bytes.data(), guard.data(), kGuard) == 0 &&
           std::memcmp(bytes.data() + kGuard + kRoom, guard.data(), kGuard) == 0;
  }
  std::vector<uint8_t> bytes;
};

// The keys of the victim's memory. The peer's reads and writes are not ordered with each other, so
// each has its own region.
struct Keys {
  uint64_t readable = 0x1234, writable = 0x5678;
};

class Attacker {
public:
  explicit Attacker(uint64_t seed) : random_(seed) {}

  // Sends frames until the victim hangs up or `limit` frames were sent; returns their number.
  int64_t run(const std::vector<Fd> &sockets, const Keys &keys, int64_t limit) {
    std::vector<uint8_t> bytes;
    for (int64_t sent = 0; sent < limit; ++sent) {
      Frame frame = next(keys);
      bool isData = frame.type == FrameType::Data || frame.type == FrameType::Write ||
                    frame.type == FrameType::Push;
      size_t stream = isData ? 1 + random_() % (sockets.size() - 1) : 0;
      if (random_() % (frame.type == FrameType::Data ? 4 : 200) == 0)
        stream = random_() % sockets.size();
      bytes.assign(Frame::kBytes, 0);
      encode(frame, bytes.data());
      if (random_() % 100 == 0)
        bytes[random_() % bytes.size()] ^= static_cast<uint8_t>(1u << random_() % 8);
      bool payload = isData || frame.type == FrameType::Eager;
      if (payload)
        bytes.resize(bytes.size() + std::min<uint64_t>(frame.bytes, 20'000),
                     static_cast<uint8_t>(random_()));
      if (!write(sockets[stream], bytes))
        return sent + 1;
      drain(sockets);
    }
    return limit;
  }

private:
  uint64_t pick(std::initializer_list<uint64_t> values) {
    return *(values.begin() + random_() % values.size());
  }

  // Frames that are mostly close to valid ones.
  Frame next(const Keys &keys) {
    Frame frame;
    frame.type = static_cast<FrameType>(1 + random_() % 10);
    frame.code = static_cast<FrameCode>(random_() % 8 ? 0 : random_() % 3);
    // Ids of requests: generation and index.
    frame.id = (random_() % 3) << 32 | (248 + random_() % 8);
    if (random_() % 2)
      frame.id = random_() % 8;
    frame.tag = random_() % 4;
    frame.offset = pick({0, 0, 1, 100, kRoom - 1, kRoom, kRoom + 1, ~uint64_t(0), random_()});
    frame.bytes = pick({0, 1, 7, 1000, 16 << 10, 20'000, random_() % kRoom});
    if (random_() % 100 == 0)
      frame.bytes = random_() >> (random_() % 64);
    frame.key = frame.type == FrameType::Read ? keys.readable : keys.writable;
    if (random_() % 4 == 0)
      frame.key = random_();
    // Rows, which may be outside of the memory or empty.
    if (frame.type == FrameType::Read && random_() % 4) {
      frame.row = static_cast<uint32_t>(pick({0, 1, 7, 500, 1000, kRoom, random_()}));
      frame.tag = pick({0, 1, 7, 999, 1000, 5000, kRoom - 1, ~uint64_t(0), random_()});
      if (frame.row > 0 && random_() % 8)
        frame.bytes =
            frame.row * pick({1, 2, 5, 60, wire::kEagerWindowMessages, kMaxRemoteRows + 1});
    }
    // The number of a message or receive; the length of an unannounced message.
    bool counts = frame.type == FrameType::Eager || frame.type == FrameType::Rts ||
                  frame.type == FrameType::Ready || frame.type == FrameType::Push ||
                  frame.type == FrameType::Data;
    if (counts && random_() % 8)
      frame.key = random_() % 4;
    if (frame.type == FrameType::Data && random_() % 2)
      frame.tag = pick({1, 1000, 20'000, kRoom - 1, kRoom, kRoom + 1, random_()});
    if (frame.type == FrameType::Push && random_() % 16)
      frame.id = pick({1000, 20'000, kRoom, 2 * kRoom, wire::kEagerWindowBytes});
    if (frame.type == FrameType::Eager && random_() % 50)
      frame.bytes %= (16 << 10) + 1;
    if (frame.type == FrameType::Credit && random_() % 4)
      frame.id = frame.bytes = 0;
    return frame;
  }

  // Returns false if the victim has hung up or stopped reading.
  bool write(const Fd &fd, const std::vector<uint8_t> &bytes) {
    for (size_t done = 0; done < bytes.size();) {
      ssize_t count = ::send(fd.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count <= 0)
        return false;
      done += static_cast<size_t>(count);
    }
    return true;
  }
  void drain(const std::vector<Fd> &sockets) {
    char trash[16384];
    for (const Fd &fd : sockets)
      while (::recv(fd.get(), trash, sizeof(trash), MSG_DONTWAIT) > 0) {
      }
  }

  std::mt19937_64 random_;
};

// The victim's memory. No two requests of a connection share a buffer.
struct Buffers {
  static constexpr size_t kRounds = 6;
  Guarded receives[kRounds][4], reads[kRounds], out;
  bool intact() const {
    for (size_t round = 0; round < kRounds; ++round) {
      for (const Guarded &into : receives[round])
        if (!into.intact())
          return false;
      if (!reads[round].intact())
        return false;
    }
    return out.intact();
  }
};

// Posts requests of all kinds at the victim, to and from guarded memory. Returns the first, or
// null.
Request *postRequests(Connection &victim, Buffers &buffers, size_t round) {
  Request *first = nullptr;
  for (uint64_t tag = 0; tag < 4; ++tag) {
    uint8_t *in = buffers.receives[round][tag].data();
    Segment into[2] = {{in, 1000, nullptr}, {in + 1000, kRoom - 1000, nullptr}};
    Segment from{buffers.out.data(), 30'000, nullptr};
    Result<Request *> receive = victim.irecv(into, 2, tag);
    if (tag == 0 && receive.ok())
      first = *receive;
    (void)victim.isend(&from, 1, tag).ok();
  }
  Segment from{buffers.out.data(), 100, nullptr}, into{buffers.reads[round].data(), 100, nullptr};
  (void)victim.iwrite(&from, 1, RemoteKey{1, 0, 100}, 0).ok();
  (void)victim.iread(&into, 1, RemoteKey{1, 0, 100}, 0).ok();
  return first;
}

TEST(FrameFuzzTest, HostileFramesHarmNobody) {
  TcpOptions options;
  options.dataStreams = 2;
  Shared shared(options, test::testSecret());
  shared.devices.resize(1);
  shared.devices[0].maxSegments = kMaxSegments;
  shared.devices[0].maxMessageBytes = wire::kMaxMessageBytes;
  shared.pollers.push_back(Poller::create().take());
  auto buffers = std::make_unique<Buffers>();
  Guarded remote[2];
  const Keys keys;
  std::shared_ptr<Region> regions[2] = {std::make_shared<Region>(), std::make_shared<Region>()};
  for (int i = 0; i < 2; ++i) {
    regions[i]->key = {i ? keys.writable : keys.readable, 0, kRoom};
    regions[i]->data = remote[i].data();
    shared.regions.add(regions[i]);
  }

  int64_t frames = 0, connections = 0;
  for (; frames < test::fuzzFrames; ++connections) {
    std::vector<Fd> mine, theirs;
    for (int i = 0; i < 3; ++i) {
      int pair[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
      mine.emplace_back(pair[0]);
      theirs.emplace_back(pair[1]);
      // A victim may stop reading for good; then the attacker gives up.
      timeval patience{0, 100'000};
      ASSERT_EQ(setsockopt(pair[1], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)), 0);
    }
    Result<std::unique_ptr<Connection>> victim = TcpConnection::create(shared, 0, std::move(mine));
    ASSERT_TRUE(victim.ok());
    shared.oneSocket = connections % 2;
    Attacker attacker(static_cast<uint64_t>(connections));
    // If large messages with the same tag have come, later receives are announced in advance.
    for (size_t round = 0; round < Buffers::kRounds; ++round) {
      Request *request = postRequests(**victim, *buffers, round);
      int64_t wanted = round + 1 < Buffers::kRounds ? 10 : 500;
      int64_t sent = attacker.run(theirs, keys, wanted);
      frames += sent;
      // A thread that calls test() reads differently from the poller's thread.
      for (int tests = 0; request && tests < 20; ++tests) {
        Result<Completion> state = (*victim)->test(request);
        if (!state.ok() || state->done)
          request = nullptr;
      }
      if (sent < wanted)
        break;
    }
    (*victim)->close();
    ASSERT_TRUE(buffers->intact() && remote[0].intact() && remote[1].intact())
        << "connection " << connections;
  }
  for (const std::shared_ptr<Region> &region : regions)
    shared.regions.remove(*region);
  std::printf("%ld frames on %ld connections\n", static_cast<long>(frames),
              static_cast<long>(connections));
}

} // namespace
} // namespace coll::net::tcp
