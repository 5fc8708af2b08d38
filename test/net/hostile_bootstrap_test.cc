// Strangers connect to the bootstrap while a job starts.

#include "runtime/net/bootstrap/bootstrap.h"
#include "runtime/net/bootstrap/server.h"
#include "runtime/net/handshake.h"
#include "test/net/options.h"

#include <chrono>
#include <deque>
#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <thread>

namespace coll::net::test {
namespace {

// A valid hello with an invalid proof. (Recorded proofs: handshake_test.cc.)
std::vector<uint8_t> inventedHandshake() {
  wire::Hello hello;
  hello.context = encode(wire::RankContext{1, 4});
  std::vector<uint8_t> bytes(wire::Hello::kBytes + sizeof(Mac), 0x5a);
  encode(hello, bytes.data());
  return bytes;
}

// Makes one hostile connection. Returns the socket if it must stay open.
Fd attack(const Address &address, std::mt19937 &random) {
  Result<Fd> fd = startConnect(address);
  if (!fd.ok())
    return Fd();
  pollfd ready = {fd->get(), POLLOUT, 0};
  poll(&ready, 1, 1000);
  std::vector<uint8_t> bytes = inventedHandshake();
  switch (random() % 6) {
  case 0: // says nothing
    break;
  case 1: // half a hello
    bytes.resize(50);
    break;
  case 2: // a hello, and then nothing
    bytes.resize(wire::Hello::kBytes);
    break;
  case 3: // all of it
    break;
  case 4: // garbage
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random());
    break;
  case 5: // another version, and more than fits
    bytes[4] = 9;
    bytes.resize(5000, 1);
    break;
  }
  if (random() % 6 != 0)
    (void)!::send(fd->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return random() % 2 ? fd.take() : Fd();
}

TEST(HostileBootstrapTest, TheJobStartsAmongStrangers) {
  setenv("COLL_LOG", "error", 1);
  constexpr int kWorld = 4;
  Address address = Address::parse("127.0.0.1:0").take();
  Result<std::unique_ptr<BootstrapServer>> server =
      BootstrapServer::create(listenOn(address).take(), kWorld, testSecret());
  ASSERT_TRUE(server.ok()) << server.status().message();
  std::atomic<int> attacks{0}, admitted{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 2; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      std::deque<Fd> open;
      while (attacks++ < hostileConnections) {
        open.push_back(attack((*server)->address(), random));
        if (open.size() > 200)
          open.pop_front();
      }
    });
  // The ranks connect one after the other while the strangers attack. The server is created by the
  // test instead of by rank 0.
  for (int rank = 1; rank < kWorld; ++rank)
    threads.emplace_back([&, rank] {
      while (attacks < hostileConnections * (rank + 1) / (kWorld + 2))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      BootstrapOptions options;
      options.rank = rank;
      options.worldSize = kWorld;
      options.address = (*server)->address().toString();
      Result<std::unique_ptr<Bootstrap>> mine = Bootstrap::create(options, testSecret());
      ASSERT_TRUE(mine.ok()) << mine.status().message();
      ++admitted;
      if (rank == 1) {
        EXPECT_TRUE((*mine)->put("k", "v").ok());
      }
      Result<std::string> value = (*mine)->get("k", 60'000'000);
      EXPECT_TRUE(value.ok()) << value.status().message();
    });
  for (std::thread &thread : threads)
    thread.join();
  const BootstrapServer::Stats &stats = (*server)->stats();
  EXPECT_EQ(admitted, kWorld - 1);
  EXPECT_EQ(stats.admitted, kWorld - 1);
  std::printf("hostile connections: %d; accepted %ld, refused %ld, gave way %ld\n",
              hostileConnections, static_cast<long>(stats.accepted),
              static_cast<long>(stats.refused), static_cast<long>(stats.evicted));
  unsetenv("COLL_LOG");
}

// The client detects a server that does not know the secret.
TEST(HostileBootstrapTest, AFalseServerIsRefused) {
  Result<Fd> listener = listenOn(Address::parse("127.0.0.1:0").take());
  ASSERT_TRUE(listener.ok());
  std::string address = localAddress(*listener)->toString();
  std::thread liar([&] {
    pollfd ready = {listener->get(), POLLIN, 0};
    poll(&ready, 1, 10'000);
    Fd fd(accept(listener->get(), nullptr, nullptr));
    uint8_t bytes[wire::Hello::kBytes];
    ::recv(fd.get(), bytes, sizeof(bytes), MSG_WAITALL);
    uint8_t challenge[wire::Challenge::kBytes], verdict[wire::Verdict::kBytes];
    encode(wire::Challenge(), challenge);
    ::send(fd.get(), challenge, sizeof(challenge), MSG_NOSIGNAL);
    ::recv(fd.get(), bytes, sizeof(Mac), MSG_WAITALL);
    encode(wire::Verdict(), verdict);
    ::send(fd.get(), verdict, sizeof(verdict), MSG_NOSIGNAL);
  });
  BootstrapOptions options;
  options.rank = 1;
  options.worldSize = 2;
  options.address = address;
  Result<std::unique_ptr<Bootstrap>> mine = Bootstrap::create(options, testSecret());
  liar.join();
  ASSERT_FALSE(mine.ok());
  EXPECT_NE(mine.status().message().find("does not know the job's secret"), std::string::npos)
      << mine.status().message();
}

// Rank 0 does not listen, or never answers.
TEST(HostileBootstrapTest, ASilentServerEndsInATimeout) {
  Result<Fd> listener = listenOn(Address::parse("127.0.0.1:0").take());
  ASSERT_TRUE(listener.ok());
  BootstrapOptions options;
  options.rank = 1;
  options.worldSize = 2;
  options.timeoutUs = 200'000;
  options.address = localAddress(*listener)->toString();
  EXPECT_EQ(Bootstrap::create(options, testSecret()).status().code(), kCollTimeout);
  listener->reset();
  EXPECT_EQ(Bootstrap::create(options, testSecret()).status().code(), kCollTimeout);
}

//===-- members that know the secret ----------------------------------------------===//

// Proves the secret like a member; afterwards the test may send anything over the socket.
Fd joinAs(uint32_t rank, uint32_t world, const std::string &address) {
  Result<Fd> fd = startConnect(Address::parse(address).take());
  if (!fd.ok())
    return Fd();
  Handshake shake = Handshake::client(fd.take(), testSecret(), wire::Purpose::Bootstrap,
                                      encode(wire::RankContext{rank, world}));
  for (Handshake::State state = shake.advance(); state != Handshake::State::Done;
       state = shake.advance()) {
    if (state == Handshake::State::Failed)
      return Fd();
    pollfd ready = {shake.fd(), short(state == Handshake::State::Writing ? POLLOUT : POLLIN), 0};
    poll(&ready, 1, 1000);
  }
  return shake.takeFd();
}

std::vector<uint8_t> request(const wire::BootHeader &header, size_t bytes) {
  std::vector<uint8_t> message(wire::BootHeader::kBytes + bytes, 'x');
  encode(header, message.data());
  return message;
}

constexpr int kKindsOfNonsense = 10;

// Bytes that no member sends.
std::vector<uint8_t> nonsense(int kind, std::mt19937 &random) {
  using wire::BootOp;
  wire::BootHeader header;
  header.op = BootOp::Put;
  header.keyBytes = 3;
  header.valueBytes = 5;
  header.timeoutMs = 1;
  std::vector<uint8_t> whole = request(header, 8);
  switch (kind) {
  case 0: // noise
    whole.resize(1 + random() % 5000);
    for (uint8_t &byte : whole)
      byte = static_cast<uint8_t>(random());
    return whole;
  case 1: // no such operation
    header.op = static_cast<BootOp>(200);
    return request(header, 8);
  case 2: // keys and values that are too long
    header.keyBytes = 0xFFFF;
    return request(header, 70'000);
  case 3:
    header.valueBytes = 0xFFFFFFFF;
    return request(header, 70'000);
  case 4: // part of a request
    whole.resize(1 + random() % (whole.size() - 1));
    return whole;
  case 5: // one more than may be under way
    whole.insert(whole.end(), whole.begin(), whole.end());
    return whole;
  case 6: // more behind it
    whole.push_back(0);
    return whole;
  case 7: // a round without other members, and one beside it
    header.op = BootOp::Gather;
    header.timeoutMs = 0xFFFFFFFF;
    whole = request(header, 8);
    header.timeoutMs = 0;
    for (uint8_t byte : request(header, 8))
      whole.push_back(byte);
    return whole;
  case 8: // rounds and keys without a name
    header.op = random() % 2 ? BootOp::Gather : BootOp::Get;
    header.keyBytes = 0;
    header.valueBytes = 0;
    return request(header, 0);
  default: // a byte of it changed
    whole[random() % whole.size()] = static_cast<uint8_t>(random());
    return whole;
  }
}

// The job loses that member, and the others learn of its end; values that it has put remain
// available.
TEST(HostileBootstrapTest, AMemberThatTalksNonsenseIsLostAndNoMore) {
  std::mt19937 random(5);
  for (int round = 0; round < 6 * kKindsOfNonsense; ++round) {
    BootstrapOptions options;
    options.worldSize = 3;
    options.address = ":0";
    options.iface = "lo";
    Result<std::unique_ptr<Bootstrap>> first = Bootstrap::create(options, testSecret());
    ASSERT_TRUE(first.ok()) << first.status().message();
    options.rank = 1;
    options.address = (*first)->address();
    Result<std::unique_ptr<Bootstrap>> second = Bootstrap::create(options, testSecret());
    ASSERT_TRUE(second.ok()) << second.status().message();
    Status ends[2];
    {
      Fd liar = joinAs(2, 3, options.address);
      ASSERT_GE(liar.get(), 0) << round;
      const std::vector<uint8_t> bytes = nonsense(round % kKindsOfNonsense, random);
      (void)!::send(liar.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      std::thread waits([&] { ends[0] = (*first)->barrier(10'000'000); });
      std::thread hangsUp([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        liar.reset();
      });
      ends[1] = (*second)->barrier(10'000'000);
      waits.join();
      hangsUp.join();
    }
    for (const Status &end : ends) {
      EXPECT_EQ(end.code(), kCollPeer) << round << ": " << end.toString();
      EXPECT_NE(end.message().find("rank 2"), std::string::npos) << end.toString();
    }
    EXPECT_TRUE((*first)->put("still", "here").ok());
    EXPECT_EQ((*second)->get("still", 10'000'000).take(), "here");
  }
}

} // namespace
} // namespace coll::net::test
