// Strangers at the door while a job starts.

#include "runtime/net/bootstrap.h"
#include "runtime/net/bootstrap_server.h"
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

// An honest client's hello, and a proof that proves nothing. (Recorded proofs: handshake_test.cc.)
std::vector<uint8_t> inventedHandshake() {
  wire::Hello hello;
  hello.context = encode(wire::RankContext{1, 4});
  std::vector<uint8_t> bytes(wire::Hello::kBytes + sizeof(Mac), 0x5a);
  encode(hello, bytes.data());
  return bytes;
}

// One hostile connection. Returns the socket where it is to stay open.
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
  // The ranks come one after the other while the strangers are at it.
  // Rank 0, which would listen itself, is played by the server.
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

// A server that does not know the secret is found out by the client.
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

// Nothing comes in: rank 0 is not there, or never answers.
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

} // namespace
} // namespace coll::net::test
