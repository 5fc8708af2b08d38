#include "runtime/net/tcp/tcp.h"

#include "runtime/net/socket.h"
#include "test/net/options.h"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace coll::net::test {
namespace {

constexpr int64_t kPatientUs = 60'000'000;

std::unique_ptr<Transport> makeTcp(const std::string &iface, int64_t timeoutUs = kPatientUs,
                                   const std::optional<Secret> &secret = testSecret()) {
  TcpOptions options;
  options.iface = iface;
  options.dataStreams = 2;
  options.threads = 1;
  options.timeoutUs = timeoutUs;
  Result<std::unique_ptr<Transport>> transport = createTcpTransport(options, secret);
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

template <typename Poll>
std::unique_ptr<Connection> await(Poll poll, Status &status) {
  for (int64_t end = nowUs() + kPatientUs; nowUs() < end;) {
    Result<std::unique_ptr<Connection>> got = poll();
    status = got.status();
    if (!got.ok())
      return nullptr;
    if (*got)
      return got.take();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  status = Status(kCollTimeout, "no connection");
  return nullptr;
}

TEST(TcpTest, WrongSecretsDoNotMeet) {
  std::unique_ptr<Transport> good = makeTcp("lo");
  std::unique_ptr<Transport> bad =
      makeTcp("lo", kPatientUs, Secret::create("quite another secret").take());
  std::unique_ptr<Listener> listener = good->listen(0).take();
  std::unique_ptr<Connector> connector = bad->connect(0, listener->handle()).take();
  Status status;
  EXPECT_FALSE(await([&] { return connector->poll(); }, status));
  EXPECT_EQ(status.code(), kCollPeer);
  EXPECT_NE(status.message().find("secret"), std::string::npos) << status.message();
  Result<std::unique_ptr<Connection>> none = listener->accept();
  EXPECT_TRUE(none.ok() && !*none);
}

TEST(TcpTest, WithoutAJobsSecretTheHandleCarriesOne) {
  std::unique_ptr<Transport> left = makeTcp("lo", kPatientUs, std::nullopt);
  std::unique_ptr<Transport> right = makeTcp("lo", kPatientUs, std::nullopt);
  std::unique_ptr<Listener> listener = left->listen(0).take();
  std::unique_ptr<Connector> connector = right->connect(0, listener->handle()).take();
  Status status;
  auto mine = await([&] { return connector->poll(); }, status);
  auto theirs = await([&] { return listener->accept(); }, status);
  EXPECT_TRUE(mine && theirs) << status.message();

  // Whoever has seen another listener's handle, or knows all but the secret, stays out.
  Handle forged = listener->handle();
  forged.bytes[40] ^= 1;
  std::unique_ptr<Connector> stranger = right->connect(0, forged).take();
  EXPECT_FALSE(await([&] { return stranger->poll(); }, status));
  EXPECT_NE(status.message().find("secret"), std::string::npos) << status.message();

  // One side with a job's secret and one without is said at once.
  std::unique_ptr<Transport> job = makeTcp("lo");
  EXPECT_EQ(job->connect(0, listener->handle()).status().code(), kCollInvalidCall);
}

TEST(TcpTest, SpeaksIpv6) {
  Result<std::vector<Interface>> v6 = findInterfaces("::1/128");
  if (!v6.ok())
    GTEST_SKIP() << "no IPv6: " << v6.status().message();
  std::unique_ptr<Transport> left = makeTcp("::1/128"), right = makeTcp("::1/128");
  EXPECT_EQ(left->devices()[0].address, "[::1]");
  std::unique_ptr<Listener> listener = right->listen(0).take();
  std::unique_ptr<Connector> connector = left->connect(0, listener->handle()).take();
  Status status;
  auto mine = await([&] { return connector->poll(); }, status);
  auto theirs = await([&] { return listener->accept(); }, status);
  ASSERT_TRUE(mine && theirs) << status.message();
  std::vector<char> data(100'000, 'x'), got(100'000);
  Segment from{data.data(), data.size(), nullptr}, to{got.data(), got.size(), nullptr};
  Request *sent = *mine->isend(&from, 1, 1), *wanted = *theirs->irecv(&to, 1, 1);
  EXPECT_TRUE(wait(*theirs, wanted, kPatientUs).ok());
  EXPECT_TRUE(wait(*mine, sent, kPatientUs).ok());
  EXPECT_EQ(got, data);
}

TEST(TcpTest, NobodyListensThere) {
  std::unique_ptr<Transport> left = makeTcp("lo"), right = makeTcp("lo");
  Handle handle = right->listen(0).take()->handle(); // closed at once
  Result<std::unique_ptr<Connector>> connector = left->connect(0, handle);
  Status status = connector.status();
  if (connector.ok()) {
    EXPECT_FALSE(await([&] { return (*connector)->poll(); }, status));
  }
  EXPECT_EQ(status.code(), kCollLink) << status.toString();
}

TEST(TcpTest, ASilentListenerEndsInATimeout) {
  std::unique_ptr<Transport> left = makeTcp("lo", 200'000), right = makeTcp("lo");
  std::unique_ptr<Listener> listener = right->listen(0).take();
  Handle handle = listener->handle();
  listener.reset();
  // Somebody else has the port now, and says nothing.
  uint16_t port = 0;
  std::memcpy(&port, handle.bytes.data() + 8, sizeof(port));
  Result<Fd> silent = listenOn(Address::parse("127.0.0.1:" + std::to_string(port)).take());
  ASSERT_TRUE(silent.ok()) << silent.status().message();
  std::unique_ptr<Connector> connector = left->connect(0, handle).take();
  Status status;
  EXPECT_FALSE(await([&] { return connector->poll(); }, status));
  EXPECT_EQ(status.code(), kCollTimeout) << status.toString();
}

// The peer's process is killed in the middle of a transfer.
TEST(TcpTest, PeerDeathFailsItsRequests) {
  int toChild[2], toParent[2];
  ASSERT_EQ(pipe(toChild), 0);
  ASSERT_EQ(pipe(toParent), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::unique_ptr<Transport> transport = makeTcp("lo");
    std::unique_ptr<Listener> listener = transport->listen(0).take();
    if (write(toParent[1], &listener->handle(), sizeof(Handle)) != sizeof(Handle))
      _exit(1);
    Status status;
    auto connection = await([&] { return listener->accept(); }, status);
    while (connection)
      std::this_thread::sleep_for(std::chrono::seconds(1));
    _exit(1);
  }
  Handle handle;
  ASSERT_EQ(read(toParent[0], &handle, sizeof(handle)), static_cast<ssize_t>(sizeof(handle)));
  std::unique_ptr<Transport> transport = makeTcp("lo");
  std::unique_ptr<Connector> connector = transport->connect(0, handle).take();
  Status status;
  auto connection = await([&] { return connector->poll(); }, status);
  ASSERT_TRUE(connection) << status.message();
  std::vector<char> data(1 << 20), got(1 << 20);
  Segment from{data.data(), data.size(), nullptr}, to{got.data(), got.size(), nullptr};
  Request *sent = *connection->isend(&from, 1, 1), *wanted = *connection->irecv(&to, 1, 1);
  kill(child, SIGKILL);
  for (Request *request : {sent, wanted}) {
    CollCode code = wait(*connection, request, kPatientUs).status().code();
    EXPECT_TRUE(code == kCollPeer || code == kCollLink) << code;
  }
  waitpid(child, nullptr, 0);
  for (int fd : {toChild[0], toChild[1], toParent[0], toParent[1]})
    close(fd);
}

// A slow or dead visitor does not keep others out.
TEST(TcpTest, StrangersAtTheListenerCostNothing) {
  setenv("COLL_LOG", "error", 1);
  std::unique_ptr<Transport> left = makeTcp("lo"), right = makeTcp("lo");
  std::unique_ptr<Listener> listener = right->listen(0).take();
  uint16_t port = 0;
  std::memcpy(&port, listener->handle().bytes.data() + 8, sizeof(port));
  Address address = Address::parse("127.0.0.1:" + std::to_string(port)).take();
  std::vector<Fd> strangers;
  for (int i = 0; i < 400; ++i) {
    Result<Fd> fd = startConnect(address);
    ASSERT_TRUE(fd.ok());
    if (i % 3 == 0)
      (void)!::send(fd->get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
    strangers.push_back(fd.take());
  }
  std::unique_ptr<Connector> connector = left->connect(0, listener->handle()).take();
  Status status;
  auto mine = await([&] { return connector->poll(); }, status);
  ASSERT_TRUE(mine) << status.message();
  EXPECT_TRUE(await([&] { return listener->accept(); }, status));
  unsetenv("COLL_LOG");
}

} // namespace
} // namespace coll::net::test
