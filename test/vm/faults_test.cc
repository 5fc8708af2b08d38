// Faults of the network and of the peer, under the transports that can have them. Runs as root in
// the virtual machine (suite.sh), where two_ports.sh has made the ports. Whatever happens, the data
// must be correct or there must be an error in time.

#include "runtime/net/socket.h"
#include "runtime/net/tcp/tcp.h"
#include "test/conformance/transport/harness.h"
#include "test/vm/ports.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#ifdef COLL_HAVE_VERBS
#include "runtime/net/verbs/verbs.h"
#endif

namespace coll::net::test {
namespace {

// The longest time until an outage is noticed: the transports' limit, which is set below, and time
// for a slow machine.
constexpr int64_t kNoticeUs = 40'000'000;

Secret secret() { return Secret::create("a secret of this test").take(); }

Result<std::unique_ptr<Transport>> openTcp(bool) {
  TcpOptions options;
  options.iface = "lo";
  options.timeoutUs = 3'000'000;
  return createTcpTransport(options, secret());
}

Result<std::unique_ptr<Transport>> openVerbs(bool isRight) {
#ifdef COLL_HAVE_VERBS
  VerbsOptions options;
  options.devices = isRight ? "rb" : "ra";
  options.iface = "lo"; // the faults are on the other wire
  options.retryTimeout = 17;
  options.timeoutUs = 5'000'000;
  return createVerbsTransport(options, secret());
#else
  (void)isRight;
  return Status(kCollUnsupported, "built without verbs");
#endif
}

struct Wire {
  const char *name;
  Result<std::unique_ptr<Transport>> (*open)(bool isRight);
  std::vector<std::string> links;
};

void PrintTo(const Wire &wire, std::ostream *out) { *out << wire.name; }

class FaultTest : public testing::TestWithParam<Wire> {
protected:
  void SetUp() override {
    COLL_NEEDS_MACHINE();
    Result<std::unique_ptr<Transport>> left = GetParam().open(false), right = GetParam().open(true);
    ASSERT_TRUE(left.ok()) << left.status().toString();
    ASSERT_TRUE(right.ok()) << right.status().toString();
    left_ = left.take();
    right_ = right.take();
  }
  void TearDown() override {
    if (!isInMachine())
      return;
    for (const std::string &link : GetParam().links)
      (void)!std::system(("tc qdisc del dev " + link + " root 2>/dev/null").c_str());
  }

  void netem(const std::string &fault) {
    for (const std::string &link : GetParam().links)
      run("tc qdisc replace dev " + link + " root netem limit 10000 " + fault);
  }
  void setLinks(bool isUp) {
    if (GetParam().links.front() == "lo")
      return run(std::string("ip link set lo ") + (isUp ? "up" : "down"));
    setWire(isUp);
  }

  Ends connect() { return net::test::connect(*left_, *right_); }

  // Exchanges data both ways at the same time, small and large; received data must be in order and
  // complete. Returns the first failure of each side.
  std::pair<CollCode, CollCode> exchange(Ends &ends) {
    const std::vector<size_t> sizes = {1, 5000, 300'000, 0, 70'001, 8000, 1'000'000, 300};
    auto work = [&](Connection &mine, uint64_t seed, uint64_t peerSeed, CollCode &failure) {
      std::vector<std::vector<uint8_t>> data, got;
      std::vector<Result<Request *>> recvs, sends;
      for (size_t i = 0; i < sizes.size(); ++i) {
        data.push_back(pattern(sizes[i], seed + i));
        got.emplace_back(sizes[i]);
      }
      for (size_t i = 0; i < sizes.size(); ++i) {
        recvs.push_back(tryRecv(mine, got[i], 1));
        sends.push_back(trySend(mine, data[i], 1));
      }
      for (size_t i = 0; i < sizes.size(); ++i) {
        CollCode received = outcome(mine, recvs[i]), sent = outcome(mine, sends[i]);
        EXPECT_TRUE(received != kCollOk || got[i] == pattern(sizes[i], peerSeed + i)) << sizes[i];
        for (CollCode code : {received, sent})
          failure = failure == kCollOk ? code : failure;
      }
    };
    std::pair<CollCode, CollCode> failures = {kCollOk, kCollOk};
    std::thread other([&] { work(*ends.right, 200, 100, failures.second); });
    work(*ends.left, 100, 200, failures.first);
    other.join();
    return failures;
  }

  void expectDataSurvives(const std::string &fault) {
    Ends ends = connect();
    netem(fault);
    auto [left, right] = exchange(ends);
    EXPECT_EQ(left, kCollOk) << rt::codeName(left);
    EXPECT_EQ(right, kCollOk) << rt::codeName(right);
  }

  // The error says that the path to the peer has failed, or the peer; another device would not
  // help.
  static void expectLost(CollCode code) {
    EXPECT_TRUE(code == kCollPeer || code == kCollLink) << rt::codeName(code);
  }

  // Requests that wait for a peer that cannot be reached must fail in time.
  void expectErrorsInTime(Ends &ends, const std::function<void()> &breakIt) {
    // More data than can be in flight before the peer has asked for it, because that would count as
    // sent.
    std::vector<uint8_t> data = pattern(1'000'000, 1), got(1'000'000), small(10), other(10);
    Request *wanted = recv(*ends.right, got, 7), *back = recv(*ends.left, other, 8);
    breakIt();
    int64_t begin = nowUs();
    // The connection may have failed before either of these.
    Result<Request *> sent = trySend(*ends.left, data, 7), first = trySend(*ends.left, small, 9);
    expectLost(outcome(*ends.left, sent));
    expectLost(outcome(*ends.left, back));
    expectLost(outcome(*ends.right, wanted));
    (void)outcome(*ends.left, first); // a small one may count as sent
    EXPECT_LT(nowUs() - begin, kNoticeUs);
  }

  std::unique_ptr<Transport> left_, right_;
};

TEST_P(FaultTest, DataSurvivesLoss) { expectDataSurvives("loss 1%"); }
TEST_P(FaultTest, DataSurvivesDelay) { expectDataSurvives("delay 3ms"); }
TEST_P(FaultTest, DataSurvivesDuplication) { expectDataSurvives("duplicate 10%"); }
TEST_P(FaultTest, DataSurvivesCorruption) { expectDataSurvives("corrupt 1%"); }

// A device that goes back to the first missing packet, like soft-RoCE, makes no progress if too
// many packets are out of order, and reports that after its retries; this is rare here. Then the
// connection has ended for both sides, and the next one works.
TEST_P(FaultTest, DataSurvivesReorderingOrTheConnectionEnds) {
  constexpr int kTries = 3;
  for (int tries = 0; tries < kTries; ++tries) {
    Ends ends = connect();
    netem("delay 1ms reorder 1%");
    auto [left, right] = exchange(ends);
    if (left == kCollOk && right == kCollOk)
      return;
    for (CollCode code : {left, right})
      if (code != kCollOk)
        expectLost(code);
  }
  ADD_FAILURE() << "no connection lasted";
}

TEST_P(FaultTest, ABlackHoleEndsInAnError) {
  Ends ends = connect();
  expectErrorsInTime(ends, [&] { netem("loss 100%"); });
  netem("delay 0ms");
  Ends again = connect();
  expectUsable(again);
}

TEST_P(FaultTest, ALinkThatStaysDownEndsInAnErrorAndComesBack) {
  Ends ends = connect();
  expectErrorsInTime(ends, [&] { setLinks(false); });
  setLinks(true);
  Ends again = connect();
  expectUsable(again);
}

TEST_P(FaultTest, ALinkThatBlinksCostsNothingOrTheConnection) {
  Ends ends = connect();
  std::vector<uint8_t> data = pattern(4 << 20, 5), got(4 << 20);
  Request *wanted = recv(*ends.right, got, 1), *sent = send(*ends.left, data, 1);
  setLinks(false);
  setLinks(true);
  CollCode sender = outcome(*ends.left, sent), receiver = outcome(*ends.right, wanted);
  if (receiver == kCollOk) {
    EXPECT_TRUE(got == data);
  } else {
    expectLost(receiver);
  }
  if (sender != kCollOk)
    expectLost(sender);
  Ends again = connect();
  expectUsable(again);
}

//===-- a peer that dies --------------------------------------------------------===//

class KilledPeerTest : public testing::TestWithParam<Wire> {};

// Listens, accepts one connection, and receives while it lasts.
[[noreturn]] void bePeer(const Wire &wire, int pipe) {
  Result<std::unique_ptr<Transport>> transport = wire.open(/*isRight=*/true);
  if (!transport.ok())
    _exit(1);
  Result<std::unique_ptr<Listener>> listener = (*transport)->listen(0);
  if (!listener.ok() || write(pipe, &(*listener)->handle(), sizeof(Handle)) != sizeof(Handle))
    _exit(1);
  Result<std::unique_ptr<Connection>> connection = (*listener)->accept();
  while (connection.ok() && !*connection)
    connection = (*listener)->accept();
  std::vector<uint8_t> got(1 << 20);
  while (connection.ok() && outcome(**connection, recv(**connection, got, 1)) == kCollOk)
    continue;
  _exit(1);
}

TEST_P(KilledPeerTest, IsNoticedAtOnce) {
  COLL_NEEDS_MACHINE();
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    bePeer(GetParam(), pipes[1]);
  close(pipes[1]);
  Handle handle;
  ASSERT_EQ(read(pipes[0], &handle, sizeof(handle)), static_cast<ssize_t>(sizeof(handle)));
  Result<std::unique_ptr<Transport>> transport = GetParam().open(false);
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  Result<std::unique_ptr<Connector>> connector = (*transport)->connect(0, handle);
  ASSERT_TRUE(connector.ok()) << connector.status().toString();
  std::unique_ptr<Connection> connection;
  for (int64_t end = nowUs() + kPatientUs; !connection && nowUs() < end;) {
    Result<std::unique_ptr<Connection>> got = (*connector)->poll();
    ASSERT_TRUE(got.ok()) << got.status().toString();
    connection = got.take();
  }
  ASSERT_TRUE(connection);
  std::vector<uint8_t> data = pattern(1 << 20, 1), got(1000);
  Request *wanted = recv(*connection, got, 2);
  for (int i = 0; i < 3; ++i)
    expectDone(*connection, send(*connection, data, 1), data.size());
  // The fault happens while these are in flight.
  std::vector<Request *> sends;
  for (int i = 0; i < 8; ++i)
    sends.push_back(send(*connection, data, 1));
  kill(child, SIGKILL);
  int64_t begin = nowUs();
  CollCode code = outcome(*connection, wanted);
  EXPECT_TRUE(code == kCollPeer || code == kCollLink) << code;
  for (Request *request : sends)
    (void)outcome(*connection, request);
  EXPECT_LT(nowUs() - begin, kNoticeUs);
  waitpid(child, nullptr, 0);
  close(pipes[0]);
}

//===-- several ports -----------------------------------------------------------===//

#ifdef COLL_HAVE_VERBS
TEST(VerbsPortsTest, ANewConnectionTakesAPortThatIsUp) {
  COLL_NEEDS_MACHINE();
  VerbsOptions options;
  options.devices = "ra,rc";
  options.iface = "lo";
  Result<std::unique_ptr<Transport>> transport = createVerbsTransport(options, secret());
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  ASSERT_EQ((*transport)->devices().size(), 2u);
  EXPECT_EQ((*transport)->devices()[0].name, "ra:1");
  run("ip link set va down");
  awaitPorts(false);
  Ends ends = connect(**transport, **transport);
  expectUsable(ends);
  run("ip link set va up");
  routePorts();
  awaitPorts(true);
}
#endif

std::string nameOf(const testing::TestParamInfo<Wire> &info) { return info.param.name; }

const Wire kTcp{"tcp", openTcp, {"lo"}};
INSTANTIATE_TEST_SUITE_P(Tcp, FaultTest, testing::Values(kTcp), nameOf);
INSTANTIATE_TEST_SUITE_P(Tcp, KilledPeerTest, testing::Values(kTcp), nameOf);
#ifdef COLL_HAVE_VERBS
const Wire kVerbs{"verbs", openVerbs, {"va", "vb"}};
INSTANTIATE_TEST_SUITE_P(Verbs, FaultTest, testing::Values(kVerbs), nameOf);
INSTANTIATE_TEST_SUITE_P(Verbs, KilledPeerTest, testing::Values(kVerbs), nameOf);
#endif

} // namespace
} // namespace coll::net::test
