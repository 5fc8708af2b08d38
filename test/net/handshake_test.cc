// Handshakes: recorded proofs, other versions, refusals, and peers that take too long.

#include "runtime/net/handshake.h"

#include "runtime/net/bootstrap/bootstrap.h"
#include "runtime/net/bootstrap/server.h"
#include "runtime/net/tcp/listener.h"
#include "runtime/net/tcp/tcp.h"
#include "test/net/options.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace coll::net::test {
namespace {

constexpr int kPatientMs = 60'000;

bool isReady(int fd, int16_t event) {
  pollfd ready = {fd, event, 0};
  return poll(&ready, 1, kPatientMs) == 1;
}

Fd listenHere() { return listenOn(Address::parse("127.0.0.1:0").take()).take(); }

Fd connectTo(const Address &address) {
  Result<Fd> fd = startConnect(address);
  EXPECT_TRUE(fd.ok() && isReady(fd->get(), POLLOUT));
  return fd.ok() ? fd.take() : Fd();
}

// Reads from a socket until its other end hangs up.
std::vector<uint8_t> readAll(const Fd &fd) {
  std::vector<uint8_t> all(1 << 16);
  size_t bytes = 0;
  for (ssize_t count = 1; count > 0 && isReady(fd.get(), POLLIN);) {
    count = ::recv(fd.get(), all.data() + bytes, all.size() - bytes, 0);
    bytes += count > 0 ? static_cast<size_t>(count) : 0;
  }
  all.resize(bytes);
  return all;
}

// Sends bytes to the listener at the address, and returns the answer.
std::vector<uint8_t> say(const Address &address, const std::vector<uint8_t> &bytes) {
  Fd fd = connectTo(address);
  EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  return readAll(fd);
}

std::unique_ptr<BootstrapServer>
serve(int64_t handshakeUs = BootstrapServer::kHandshakeDeadlineUs) {
  auto server = BootstrapServer::create(listenHere(), 2, testSecret(), handshakeUs);
  EXPECT_TRUE(server.ok()) << server.status().message();
  return server.take();
}

Result<std::unique_ptr<Bootstrap>> join(const Address &address) {
  BootstrapOptions options;
  options.rank = 1;
  options.worldSize = 2;
  options.address = address.toString();
  return Bootstrap::create(options, testSecret());
}

//===-- recorded proofs -----------------------------------------------------------===//

// A proxy between a client and a server, which records what they send.
class Recorder {
public:
  // Delays the server's verdict by `lateUs`.
  explicit Recorder(const Address &server, int64_t lateUs = 0)
      : server_(server), lateUs_(lateUs), listener_(listenHere()), thread_([this] { pass(); }) {}
  ~Recorder() { end(); }

  Address address() const { return localAddress(listener_).take(); }
  // Returns when one of the two has hung up.
  void end() {
    if (thread_.joinable())
      thread_.join();
  }
  // What the client sent in the handshake. Call it after end().
  std::vector<uint8_t> ofClient() const {
    return {said_[0].begin(), said_[0].begin() + wire::Hello::kBytes + sizeof(Mac)};
  }
  std::vector<uint8_t> ofServer() const {
    return {said_[1].begin(), said_[1].begin() + wire::Challenge::kBytes + wire::Verdict::kBytes};
  }

private:
  void pass() {
    ASSERT_TRUE(isReady(listener_.get(), POLLIN));
    const Fd ends[2] = {Fd(::accept(listener_.get(), nullptr, nullptr)), connectTo(server_)};
    while (true) {
      pollfd ready[2] = {{ends[0].get(), POLLIN, 0}, {ends[1].get(), POLLIN, 0}};
      ASSERT_GT(poll(ready, 2, kPatientMs), 0);
      for (size_t from : {0, 1}) {
        uint8_t bytes[4096];
        if (!ready[from].revents)
          continue;
        const ssize_t count = ::recv(ends[from].get(), bytes, sizeof(bytes), 0);
        if (count <= 0)
          return;
        said_[from].insert(said_[from].end(), bytes, bytes + count);
        if (from == 1 && said_[1].size() == wire::Challenge::kBytes + wire::Verdict::kBytes)
          std::this_thread::sleep_for(std::chrono::microseconds(lateUs_));
        ASSERT_EQ(::send(ends[1 - from].get(), bytes, static_cast<size_t>(count), MSG_NOSIGNAL),
                  count);
      }
    }
  }

  const Address server_;
  const int64_t lateUs_;
  const Fd listener_;
  std::vector<uint8_t> said_[2]; // by the client, by the server
  std::thread thread_;           // last: it uses the others
};

class ReplayTest : public testing::Test {
protected:
  // Makes a handshake that succeeds.
  void SetUp() override {
    Result<std::unique_ptr<Bootstrap>> honest = join(recorder_.address());
    ASSERT_TRUE(honest.ok()) << honest.status().message();
    EXPECT_TRUE((*honest)->put("here", "now").ok());
    honest->reset();
    recorder_.end();
    ASSERT_EQ(server_->stats().admitted, 1);
  }

  std::unique_ptr<BootstrapServer> server_ = serve();
  Recorder recorder_{server_->address()};
};

TEST_F(ReplayTest, AClientsProofIsNoneForAnotherNonce) {
  // In a new job with the same secret the rank is free again.
  std::unique_ptr<BootstrapServer> next = serve();
  for (BootstrapServer *server : {server_.get(), next.get()}) {
    std::vector<uint8_t> answer = say(server->address(), recorder_.ofClient());
    ASSERT_EQ(answer.size(), wire::Challenge::kBytes + wire::Verdict::kBytes);
    std::optional<wire::Verdict> verdict =
        wire::decodeVerdict(answer.data() + wire::Challenge::kBytes);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->refusal, wire::Refusal::WrongSecret);
    EXPECT_EQ(server->stats().refused, 1);
  }
  EXPECT_EQ(next->stats().admitted, 0);
  EXPECT_TRUE(join(next->address()).ok());
}

TEST_F(ReplayTest, AServersProofIsNoneForAnotherNonce) {
  const Fd listener = listenHere();
  std::thread liar([&] {
    ASSERT_TRUE(isReady(listener.get(), POLLIN));
    const Fd fd(::accept(listener.get(), nullptr, nullptr));
    std::vector<uint8_t> bytes = recorder_.ofServer();
    ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    readAll(fd);
  });
  const Status status = join(localAddress(listener).take()).status();
  liar.join();
  EXPECT_NE(status.message().find("the peer does not know the job's secret"), std::string::npos)
      << status.message();
}

// Once a rank has sent its proof, its place is taken: a client that gave up and retried would be a
// duplicate. The verdict comes later than the limit of one attempt.
TEST(LateVerdictTest, AClientWaitsForIt) {
  std::unique_ptr<BootstrapServer> server = serve();
  Recorder slow(server->address(), /*lateUs=*/3'500'000);
  Result<std::unique_ptr<Bootstrap>> honest = join(slow.address());
  ASSERT_TRUE(honest.ok()) << honest.status().message();
  EXPECT_TRUE((*honest)->put("here", "now").ok());
  EXPECT_EQ(server->stats().accepted, 1);
}

//===-- versions and refusals -----------------------------------------------------===//

class HandshakeTest : public testing::Test {
protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    left_ = Fd(fds[0]);
    right_ = Fd(fds[1]);
  }
  static Handshake client(Fd fd) {
    return Handshake::client(std::move(fd), testSecret(), wire::Purpose::Bootstrap, {});
  }
  static Handshake server(Fd fd, wire::Refusal refusal) {
    return Handshake::server(std::move(fd), testSecret(), wire::Purpose::Bootstrap,
                             [refusal](const wire::Context &) { return refusal; });
  }

  static constexpr uint16_t kOther = wire::kVersion + 1;
  const std::string theyDiffer_ = "the peer speaks version " + std::to_string(kOther) +
                                  ", this is version " + std::to_string(wire::kVersion);
  Fd left_, right_;
};

TEST_F(HandshakeTest, AClientOfAnotherVersionIsToldOurs) {
  wire::Hello hello;
  hello.version = kOther;
  uint8_t bytes[wire::Hello::kBytes], answer[wire::Challenge::kBytes];
  encode(hello, bytes);
  ASSERT_EQ(::send(left_.get(), bytes, sizeof(bytes), 0), ssize_t(sizeof(bytes)));
  Handshake shake = server(std::move(right_), wire::Refusal::None);
  EXPECT_EQ(shake.advance(), Handshake::State::Failed);
  EXPECT_EQ(shake.failure().code(), kCollPeer);
  EXPECT_EQ(shake.failure().message(), theyDiffer_);
  ASSERT_EQ(::recv(left_.get(), answer, sizeof(answer), 0), ssize_t(sizeof(answer)));
  std::optional<wire::Challenge> challenge = wire::decodeChallenge(answer);
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->refusal, wire::Refusal::WrongVersion);
  EXPECT_EQ(challenge->version, wire::kVersion);
}

TEST_F(HandshakeTest, AServerOfAnotherVersionIsNamed) {
  wire::Challenge challenge;
  challenge.version = kOther;
  challenge.refusal = wire::Refusal::WrongVersion;
  uint8_t bytes[wire::Challenge::kBytes];
  encode(challenge, bytes);
  ASSERT_EQ(::send(left_.get(), bytes, sizeof(bytes), 0), ssize_t(sizeof(bytes)));
  Handshake shake = client(std::move(right_));
  EXPECT_EQ(shake.advance(), Handshake::State::Failed);
  EXPECT_EQ(shake.failure().code(), kCollPeer);
  EXPECT_EQ(shake.failure().message(), theyDiffer_);
}

TEST_F(HandshakeTest, BothEndsNameARefusalAlike) {
  for (wire::Refusal refusal :
       {wire::Refusal::WrongWorldSize, wire::Refusal::BadRank, wire::Refusal::DuplicateRank,
        wire::Refusal::UnknownListener, wire::Refusal::Busy}) {
    SetUp();
    Handshake left = client(std::move(left_)), right = server(std::move(right_), refusal);
    Handshake::State state = Handshake::State::Reading;
    while (state == Handshake::State::Reading) {
      (void)right.advance();
      state = left.advance();
    }
    EXPECT_EQ(state, Handshake::State::Failed);
    EXPECT_EQ(right.advance(), Handshake::State::Failed);
    EXPECT_EQ(left.failure().message(), wire::refusalText(refusal));
    EXPECT_EQ(right.failure().message(), wire::refusalText(refusal));
  }
  EXPECT_STREQ(wire::refusalText(wire::Refusal::WrongWorldSize), "the numbers of processes differ");
}

//===-- who takes too long --------------------------------------------------------===//

constexpr int64_t kShortUs = 50'000;

// Sends nothing, or half a hello, until the other end hangs up. Returns what is logged.
std::string beSlow(const Address &address) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(say(address, {}).empty());
  EXPECT_TRUE(say(address, std::vector<uint8_t>(wire::Hello::kBytes / 2)).empty());
  return testing::internal::GetCapturedStderr();
}

TEST(SlowStrangerTest, TheBootstrapHangsUp) {
  std::unique_ptr<BootstrapServer> server = serve(kShortUs);
  const std::string said = beSlow(server->address());
  EXPECT_NE(said.find("bootstrap: refused a connection: too slow"), std::string::npos) << said;
  EXPECT_EQ(server->stats().refused, 2);
  EXPECT_TRUE(join(server->address()).ok());
}

TEST(SlowStrangerTest, ATcpListenerHangsUp) {
  TcpOptions options;
  options.iface = "lo";
  options.proofTimeoutUs = kShortUs;
  std::unique_ptr<Transport> tcp = createTcpTransport(options, testSecret()).take();
  std::unique_ptr<Listener> listener = tcp->listen(0).take();
  const std::string said = beSlow(tcp::decodeHandle(listener->handle())->address);
  EXPECT_NE(said.find("tcp: refused a connection: too slow"), std::string::npos) << said;
}

} // namespace
} // namespace coll::net::test
