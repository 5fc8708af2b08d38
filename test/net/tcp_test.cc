#include "runtime/net/tcp/tcp.h"

#include "runtime/net/socket.h"
#include "test/net/namespaced_transport.h"
#include "test/net/options.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

  // A peer that has seen another listener's handle, or knows everything except the secret, is
  // rejected.
  Handle forged = listener->handle();
  forged.bytes[40] ^= 1;
  std::unique_ptr<Connector> stranger = right->connect(0, forged).take();
  EXPECT_FALSE(await([&] { return stranger->poll(); }, status));
  EXPECT_NE(status.message().find("secret"), std::string::npos) << status.message();

  // A side with a job's secret and a side without one: the error must say so at once.
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

// A listener keeps a limited number of connections; the next one waits until one is accepted.
TEST(TcpTest, AFullListenerIsAskedAgain) {
  constexpr size_t kRoom = 256;
  TcpOptions options;
  options.iface = "lo";
  options.dataStreams = 1;
  std::unique_ptr<Transport> left = createTcpTransport(options, testSecret()).take();
  std::unique_ptr<Transport> right = createTcpTransport(options, testSecret()).take();
  std::unique_ptr<Listener> listener = right->listen(0).take();
  std::vector<std::unique_ptr<Connection>> ours, theirs;
  Status status;
  for (size_t i = 0; i < kRoom; ++i) {
    std::unique_ptr<Connector> connector = left->connect(0, listener->handle()).take();
    ours.push_back(await([&] { return connector->poll(); }, status));
    ASSERT_TRUE(ours.back()) << i << ": " << status.message();
  }
  std::unique_ptr<Connector> late = left->connect(0, listener->handle()).take();
  for (int i = 0; i < 200; ++i) {
    Result<std::unique_ptr<Connection>> none = late->poll();
    ASSERT_TRUE(none.ok() && !*none) << i << ": " << none.status().message();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (size_t i = 0; i < kRoom + 1; ++i) {
    theirs.push_back(await([&] { return listener->accept(); }, status));
    ASSERT_TRUE(theirs.back()) << i << ": " << status.message();
    if (i == 0)
      ours.push_back(await([&] { return late->poll(); }, status));
    ASSERT_TRUE(ours.back()) << status.message();
  }
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
  // Another process has the port now, and sends nothing.
  uint16_t port = 0;
  std::memcpy(&port, handle.bytes.data() + 8, sizeof(port));
  Result<Fd> silent = listenOn(Address::parse("127.0.0.1:" + std::to_string(port)).take());
  ASSERT_TRUE(silent.ok()) << silent.status().message();
  std::unique_ptr<Connector> connector = left->connect(0, handle).take();
  Status status;
  EXPECT_FALSE(await([&] { return connector->poll(); }, status));
  EXPECT_EQ(status.code(), kCollTimeout) << status.toString();
}

// A process that accepts one connection and receives messages into one buffer until it is killed.
class Victim {
public:
  explicit Victim(size_t messageBytes) {
    int pipes[2];
    EXPECT_EQ(pipe(pipes), 0);
    Fd in(pipes[0]), out(pipes[1]);
    pid_ = fork();
    EXPECT_GE(pid_, 0);
    if (pid_ == 0)
      receiveForEver(out.get(), messageBytes);
    EXPECT_EQ(read(in.get(), &handle_, sizeof(handle_)), static_cast<ssize_t>(sizeof(handle_)));
  }
  ~Victim() { die(); }
  const Handle &handle() const { return handle_; }
  void die() {
    if (pid_ <= 0)
      return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

private:
  [[noreturn]] static void receiveForEver(int out, size_t messageBytes) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::unique_ptr<Transport> transport = makeTcp("lo");
    std::unique_ptr<Listener> listener = transport->listen(0).take();
    if (write(out, &listener->handle(), sizeof(Handle)) != sizeof(Handle))
      _exit(1);
    Status status;
    auto connection = await([&] { return listener->accept(); }, status);
    std::vector<char> buffer(messageBytes);
    Segment to{buffer.data(), buffer.size(), nullptr};
    while (connection) {
      Result<Request *> wanted = connection->irecv(&to, 1, 1);
      if (!wanted.ok() || !wait(*connection, *wanted, kPatientUs).ok())
        break;
    }
    _exit(1);
  }

  Handle handle_;
  pid_t pid_ = 0;
};

// The peer's process is killed during a stream of messages.
TEST(TcpTest, PeerDeathFailsItsRequests) {
  for (size_t bytes : {size_t(100), size_t(8 << 20)}) {
    Victim victim(bytes);
    std::unique_ptr<Transport> transport = makeTcp("lo");
    std::unique_ptr<Connector> connector = transport->connect(0, victim.handle()).take();
    Status status;
    auto connection = await([&] { return connector->poll(); }, status);
    ASSERT_TRUE(connection) << status.message();
    std::vector<char> data(bytes), got(1 << 20);
    Segment from{data.data(), data.size(), nullptr}, to{got.data(), got.size(), nullptr};
    Request *wanted = *connection->irecv(&to, 1, 1);
    CollCode code = kCollOk;
    for (int i = 0; code == kCollOk && i < 10'000'000; ++i) {
      Result<Request *> sent = connection->isend(&from, 1, 1);
      if (i == 20)
        victim.die(); // a message is on its way
      code =
          sent.ok() ? wait(*connection, *sent, kPatientUs).status().code() : sent.status().code();
    }
    EXPECT_TRUE(code == kCollPeer || code == kCollLink) << code;
    code = wait(*connection, wanted, kPatientUs).status().code();
    EXPECT_TRUE(code == kCollPeer || code == kCollLink) << code;
    EXPECT_FALSE(connection->isend(&from, 1, 1).ok());
  }
}

// The cable is unplugged: no packet says that the connection has ended.
TEST(TcpTest, AVanishedPeerEndsInAnError) {
  Result<Namespaces *> pair = Namespaces::get();
  if (!pair.ok())
    GTEST_SKIP() << pair.status().message();
  auto make = [] {
    TcpOptions options;
    options.iface = "coll0";
    options.timeoutUs = 4'000'000;
    return createTcpTransport(options, testSecret());
  };
  auto left = NamespacedTransport::create(**pair, 0, make);
  auto right = NamespacedTransport::create(**pair, 1, make);
  ASSERT_TRUE(left.ok() && right.ok());
  std::unique_ptr<Listener> listener = (*right)->listen(0).take();
  std::unique_ptr<Connector> connector = (*left)->connect(0, listener->handle()).take();
  Status status;
  auto mine = await([&] { return connector->poll(); }, status);
  auto theirs = await([&] { return listener->accept(); }, status);
  ASSERT_TRUE(mine && theirs) << status.message();
  std::vector<char> data(4 << 20), got(4 << 20);
  Segment from{data.data(), data.size(), nullptr}, to{got.data(), got.size(), nullptr};
  Request *wanted = *theirs->irecv(&to, 1, 1), *sent = *mine->isend(&from, 1, 1);
  EXPECT_TRUE(wait(*mine, sent, kPatientUs).ok());
  EXPECT_TRUE(wait(*theirs, wanted, kPatientUs).ok());
  ASSERT_TRUE((*pair)->setLink(1, false).ok());
  wanted = *mine->irecv(&to, 1, 2);
  sent = *mine->isend(&from, 1, 1);
  EXPECT_EQ(wait(*mine, sent, kPatientUs).status().code(), kCollLink);
  EXPECT_EQ(wait(*mine, wanted, kPatientUs).status().code(), kCollLink);
  ASSERT_TRUE((*pair)->setLink(1, true).ok());
}

// With and without separate sockets for large messages.
class TcpStreamTest : public testing::TestWithParam<double> {
protected:
  void SetUp() override {
    for (std::unique_ptr<Transport> *transport : {&left_, &right_}) {
      TcpOptions options;
      options.iface = "lo";
      options.cores = GetParam();
      options.manyConnections = true;
      *transport = createTcpTransport(options, testSecret()).take();
    }
    std::unique_ptr<Listener> listener = right_->listen(0).take();
    std::unique_ptr<Connector> connector = left_->connect(0, listener->handle()).take();
    Status status;
    mine_ = await([&] { return connector->poll(); }, status);
    theirs_ = await([&] { return listener->accept(); }, status);
    ASSERT_TRUE(mine_ && theirs_) << status.message();
  }

  std::unique_ptr<Transport> left_, right_;
  std::unique_ptr<Connection> mine_, theirs_;
};

TEST_P(TcpStreamTest, WhatNobodyTestsLeavesAllTheSame) {
  constexpr size_t kMessages = 40, kBytes = 10'000;
  std::vector<Request *> sends;
  std::vector<std::vector<char>> data, got(kMessages, std::vector<char>(kBytes));
  for (size_t i = 0; i < kMessages; ++i) {
    data.emplace_back(kBytes, static_cast<char>(i));
    Segment from{data[i].data(), kBytes, nullptr};
    sends.push_back(*mine_->isend(&from, 1, 1));
  }
  for (size_t i = 0; i < kMessages; ++i) {
    Segment to{got[i].data(), kBytes, nullptr};
    EXPECT_TRUE(wait(*theirs_, *theirs_->irecv(&to, 1, 1), kPatientUs).ok());
    EXPECT_EQ(got[i], data[i]);
  }
  for (Request *sent : sends)
    EXPECT_TRUE(wait(*mine_, sent, kPatientUs).ok());
}

// At first the sender polls often, so the socket is left to it; then it stops.
TEST_P(TcpStreamTest, AFullSocketGoesOnWithoutTests) {
  std::vector<char> data(32 << 20, 'x'), got(data.size());
  Segment from{data.data(), data.size(), nullptr}, to{got.data(), got.size(), nullptr};
  Request *sent = *mine_->isend(&from, 1, 1);
  for (int i = 0; i < 50; ++i)
    ASSERT_FALSE(mine_->test(sent)->done);
  Request *wanted = *theirs_->irecv(&to, 1, 1);
  for (int i = 0; i < 50; ++i)
    ASSERT_FALSE(mine_->test(sent)->done);
  EXPECT_TRUE(wait(*theirs_, wanted, kPatientUs).ok());
  EXPECT_EQ(got, data);
  EXPECT_TRUE(wait(*mine_, sent, kPatientUs).ok());
}

// Receives are posted while messages arrive, of all sizes that use different protocols.
TEST_P(TcpStreamTest, StreamsKeepTheirOrder) {
  constexpr size_t kMessages = 400, kWindow = 8, kMost = 300'000;
  std::vector<char> data(kMost), got(kMost * kWindow);
  for (size_t i = 0; i < kMost; ++i)
    data[i] = static_cast<char>(i * 7 + i / 251);
  auto bytesOf = [](size_t i) { return (i * 7919 + 13) % (i % 16 ? 20'000 : kMost); };
  auto beginOf = [&](size_t i) { return i * 31 % (kMost - bytesOf(i)); };
  std::vector<Request *> sends, recvs;
  size_t received = 0;
  for (int64_t end = nowUs() + kPatientUs; received < kMessages && nowUs() < end;) {
    bool tests = sends.size() % 5 == 0;
    if (sends.size() < kMessages) {
      Segment from{data.data() + beginOf(sends.size()), bytesOf(sends.size()), nullptr};
      if (Request *request = *mine_->isend(&from, 1, 1))
        sends.push_back(request);
      else
        tests = true;
    }
    if (recvs.size() < kMessages && recvs.size() < received + kWindow) {
      Segment to{got.data() + recvs.size() % kWindow * kMost, kMost, nullptr};
      recvs.push_back(*theirs_->irecv(&to, 1, 1));
    }
    if (tests || sends.size() == kMessages)
      for (Request *&request : sends)
        if (request && mine_->test(request)->done)
          request = nullptr;
    if (received == recvs.size())
      continue;
    Completion state = *theirs_->test(recvs[received]);
    if (!state.done)
      continue;
    ASSERT_EQ(state.bytes, bytesOf(received));
    const char *begin = data.data() + beginOf(received);
    ASSERT_TRUE(std::equal(begin, begin + state.bytes, got.data() + received % kWindow * kMost))
        << "message " << received;
    ++received;
  }
  EXPECT_EQ(received, kMessages);
  for (Request *request : sends)
    EXPECT_TRUE(!request || wait(*mine_, request, kPatientUs).ok());
}

// Large messages that arrive before their receives: by a moment, for longer than they stay in their
// sockets, too long for the receive, and before messages of another tag.
TEST_P(TcpStreamTest, ReceivesMayBeLate) {
  constexpr size_t kBytes = 200'000;
  std::vector<char> data(kBytes), got(kBytes);
  for (size_t i = 0; i < kBytes; ++i)
    data[i] = static_cast<char>(i * 7 + i / 251);
  Segment from{data.data(), kBytes, nullptr};
  auto receive = [&](uint64_t tag, size_t room) {
    std::fill(got.begin(), got.end(), 0);
    Segment to{got.data(), room, nullptr};
    return wait(*theirs_, *theirs_->irecv(&to, 1, tag), kPatientUs);
  };
  for (int round = 0; round < 12; ++round) {
    std::vector<Request *> sends;
    for (uint64_t tag : {1, 1, 2})
      sends.push_back(*mine_->isend(&from, 1, tag));
    if (round % 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(6));
    for (uint64_t tag : {2, 1}) {
      EXPECT_TRUE(receive(tag, kBytes).ok());
      EXPECT_EQ(got, data);
    }
    bool tooShort = round % 3 == 2;
    Result<uint64_t> last = receive(1, tooShort ? kBytes / 2 : kBytes);
    if (tooShort)
      EXPECT_EQ(last.status().code(), kCollMismatch);
    else
      EXPECT_EQ(got, data);
    // If the message was announced, the sender of a message that is too long also gets the error.
    for (Request *sent : sends)
      EXPECT_TRUE(wait(*mine_, sent, kPatientUs).ok() || (tooShort && sent == sends[1]));
  }
}

// Each side runs in its own thread, so that their messages cross in all ways.
TEST_P(TcpStreamTest, SidesDoNotWaitForEachOther) {
  constexpr size_t kMessages = 600, kWindow = 4, kMost = 300'000;
  std::vector<char> data(kMost), got(kMost * kWindow);
  for (size_t i = 0; i < kMost; ++i)
    data[i] = static_cast<char>(i * 7 + i / 251);
  auto bytesOf = [](size_t i) { return i % 50 < 25 ? kMost - i : 60'000 + i; };
  auto run = [&](Connection &connection, size_t window, auto post, auto check) {
    std::deque<Request *> requests;
    for (size_t posted = 0, done = 0; done < kMessages;) {
      if (posted < kMessages && requests.size() < window && (posted % 7 || requests.empty()))
        requests.push_back(post(posted++));
      Result<Completion> state = connection.test(requests.front());
      if (!state.ok())
        return state.status();
      if (!state->done)
        continue;
      check(done++, state->bytes);
      requests.pop_front();
    }
    return Status();
  };
  std::thread sender([&] {
    auto post = [&](size_t i) {
      Segment from{data.data() + i, bytesOf(i) - i, nullptr};
      return *mine_->isend(&from, 1, 5);
    };
    EXPECT_TRUE(run(*mine_, kWindow, post, [](size_t, uint64_t) {}).ok());
  });
  auto buffer = [&](size_t i) { return got.data() + i % kWindow * kMost; };
  auto post = [&](size_t i) {
    Segment to{buffer(i), kMost, nullptr};
    return *theirs_->irecv(&to, 1, 5);
  };
  size_t wrong = 0;
  auto check = [&](size_t i, uint64_t bytes) {
    wrong += bytes != bytesOf(i) - i || std::memcmp(buffer(i), data.data() + i, bytes) != 0;
  };
  Status received = run(*theirs_, kWindow, post, check);
  EXPECT_TRUE(received.ok()) << received.message();
  EXPECT_EQ(wrong, 0u);
  sender.join();
}

INSTANTIATE_TEST_SUITE_P(Cores, TcpStreamTest, testing::Values(1, 8));

TEST(TcpTest, HundredsOfConnections) {
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  rlimit more = {files.rlim_max, files.rlim_max};
  setrlimit(RLIMIT_NOFILE, &more);
  constexpr size_t kConnections = 256; // of three sockets, both ends here
  if (files.rlim_max < 8 * kConnections)
    GTEST_SKIP() << "at most " << files.rlim_max << " open files";
  std::unique_ptr<Transport> left = makeTcp("lo"), right = makeTcp("lo");
  std::unique_ptr<Listener> listener = right->listen(0).take();
  std::vector<std::unique_ptr<Connector>> connectors;
  std::vector<std::unique_ptr<Connection>> mine, theirs;
  Status status;
  // As many at a time as a listener accepts while they prove the secret.
  for (size_t begin = 0; begin < kConnections; begin += 32) {
    connectors.clear();
    for (size_t i = 0; i < 32; ++i)
      connectors.push_back(left->connect(0, listener->handle()).take());
    for (size_t i = 0; i < 32; ++i) {
      mine.push_back(await([&] { return connectors[i]->poll(); }, status));
      ASSERT_TRUE(mine.back()) << status.message();
      theirs.push_back(await([&] { return listener->accept(); }, status));
      ASSERT_TRUE(theirs.back()) << status.message();
    }
  }
  std::vector<char> data(200'000, 'x');
  std::vector<std::vector<char>> got(kConnections, std::vector<char>(data.size()));
  std::vector<Request *> recvs;
  for (size_t i = 0; i < kConnections; ++i) {
    Segment to{got[i].data(), got[i].size(), nullptr};
    recvs.push_back(*theirs[i]->irecv(&to, 1, 0));
  }
  // Each sends its number, because they arrive in any order.
  for (size_t i = 0; i < kConnections; ++i) {
    data[0] = static_cast<char>(i);
    Segment from{data.data(), data.size(), nullptr};
    EXPECT_TRUE(wait(*mine[i], *mine[i]->isend(&from, 1, 0), kPatientUs).ok());
  }
  std::vector<bool> seen(kConnections);
  for (size_t i = 0; i < kConnections; ++i) {
    EXPECT_TRUE(wait(*theirs[i], recvs[i], kPatientUs).ok());
    seen[static_cast<uint8_t>(got[i][0])] = true;
    EXPECT_TRUE(std::equal(got[i].begin() + 1, got[i].end(), data.begin() + 1));
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<long>(kConnections));
  mine.clear();
  theirs.clear();
  setrlimit(RLIMIT_NOFILE, &files);
}

// A slow or dead candidate must not keep others out.
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
