#include "runtime/net/bootstrap/bootstrap.h"
#include "runtime/net/bootstrap/refusals.h"

#include "test/net/options.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>

namespace coll::net::test {
namespace {

constexpr int64_t kPatientUs = 60'000'000;

// Runs `body` as each rank of a job, each in its own thread. Rank 0 listens at `address`.
void runJob(int worldSize, const std::string &address,
            const std::function<void(Bootstrap &)> &body) {
  BootstrapOptions options;
  options.worldSize = worldSize;
  options.address = address;
  options.iface = "lo";
  Result<std::unique_ptr<Bootstrap>> first = Bootstrap::create(options, testSecret());
  ASSERT_TRUE(first.ok()) << first.status().message();
  options.address = (*first)->address();
  std::vector<std::thread> threads;
  for (int rank = 1; rank < worldSize; ++rank)
    threads.emplace_back([options, rank, &body]() mutable {
      options.rank = rank;
      Result<std::unique_ptr<Bootstrap>> mine = Bootstrap::create(options, testSecret());
      ASSERT_TRUE(mine.ok()) << mine.status().message();
      body(**mine);
    });
  body(**first);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(BootstrapTest, ExchangesValues) {
  for (const char *address : {":0", "127.0.0.1:0", "[::1]:0"})
    runJob(4, address, [](Bootstrap &job) {
      std::string mine = "rank " + std::to_string(job.rank());
      EXPECT_TRUE(job.put("key " + std::to_string(job.rank()), mine).ok());
      Result<std::string> next =
          job.get("key " + std::to_string((job.rank() + 1) % job.worldSize()), kPatientUs);
      ASSERT_TRUE(next.ok()) << next.status().message();
      EXPECT_EQ(*next, "rank " + std::to_string((job.rank() + 1) % job.worldSize()));
      for (int round = 0; round < 10; ++round) {
        std::string value(static_cast<size_t>(job.rank() * round), 'x');
        Result<std::vector<std::string>> all = job.allgather(value, kPatientUs);
        ASSERT_TRUE(all.ok()) << all.status().message();
        for (size_t rank = 0; rank < 4; ++rank)
          EXPECT_EQ((*all)[rank].size(), rank * static_cast<size_t>(round));
      }
      EXPECT_TRUE(job.barrier(kPatientUs).ok());
    });
}

TEST(BootstrapTest, AListenerThatIsOfNoUseIsClosed) {
  const std::pair<int, const char *> kCases[] = {{0, "127.0.0.1:0"}, {1, "no address"}};
  for (auto [worldSize, address] : kCases) {
    BootstrapOptions options;
    options.worldSize = worldSize;
    options.address = address;
    options.listenFd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(options.listenFd, 0);
    EXPECT_FALSE(Bootstrap::create(options, testSecret()).ok());
    EXPECT_EQ(fcntl(options.listenFd, F_GETFD), -1) << address;
  }
}

TEST(BootstrapTest, ValuesAreLimitedAndPutOnce) {
  runJob(2, ":0", [](Bootstrap &job) {
    if (job.rank() == 0) {
      std::string largest(wire::kMaxValueBytes, 'v');
      EXPECT_TRUE(job.put("a", largest).ok());
      EXPECT_EQ(job.put("a", "again").code(), kCollInvalidCall);
      EXPECT_EQ(job.put("b", largest + "v").code(), kCollInvalidCall);
      EXPECT_EQ(job.put(std::string(257, 'k'), "").code(), kCollInvalidCall);
      Result<std::string> value = job.get("a", kPatientUs);
      ASSERT_TRUE(value.ok());
      EXPECT_EQ(*value, largest);
    }
    EXPECT_EQ(job.get("nobody puts this", 10'000).status().code(), kCollTimeout);
    std::string large(wire::kMaxValueBytes, static_cast<char>('0' + job.rank()));
    Result<std::vector<std::string>> all = job.allgather(large, kPatientUs);
    ASSERT_TRUE(all.ok()) << all.status().message();
    EXPECT_EQ((*all)[1][0], '1');
    EXPECT_TRUE(job.barrier(kPatientUs).ok());
  });
}

TEST(BootstrapTest, ATimeoutNamesTheMissingRanks) {
  BootstrapOptions options;
  options.worldSize = 3;
  options.address = ":0";
  options.iface = "lo";
  Result<std::unique_ptr<Bootstrap>> alone = Bootstrap::create(options, testSecret());
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  Status status = (*alone)->barrier(20'000);
  EXPECT_EQ(status.code(), kCollTimeout);
  EXPECT_NE(status.message().find("ranks 1, 2 of 3"), std::string::npos) << status.message();
}

TEST(BootstrapTest, WaitersLearnThatARankIsGone) {
  runJob(3, ":0", [](Bootstrap &job) {
    EXPECT_TRUE(job.barrier(kPatientUs).ok());
    if (job.rank() == 2)
      return; // leaves
    Status status = job.barrier(kPatientUs);
    EXPECT_EQ(status.code(), kCollPeer) << status.message();
  });
}

class BootstrapRefusalTest : public testing::Test {
protected:
  void SetUp() override {
    options_.worldSize = 2;
    options_.address = ":0";
    options_.iface = "lo";
    Result<std::unique_ptr<Bootstrap>> first = Bootstrap::create(options_, testSecret());
    ASSERT_TRUE(first.ok()) << first.status().message();
    first_ = first.take();
    options_.address = first_->address();
    options_.rank = 1;
  }
  // Returns the message of a refusal.
  std::string join(const Secret &secret) {
    Result<std::unique_ptr<Bootstrap>> mine = Bootstrap::create(options_, secret);
    return mine.ok() ? "admitted" : mine.status().message();
  }
  BootstrapOptions options_;
  std::unique_ptr<Bootstrap> first_;
};

// Rank 0 notices it only at its deadline, and then names the ranks that it has refused.
TEST_F(BootstrapRefusalTest, ATimeoutOfRankZeroNamesTheRefusals) {
  const Secret other = Secret::create("another secret than the job's").take();
  EXPECT_NE(join(other), "admitted");
  EXPECT_NE(join(other), "admitted");
  options_.worldSize = 3;
  EXPECT_NE(join(testSecret()), "admitted");
  const Status status = first_->barrier(20'000);
  EXPECT_EQ(status.code(), kCollTimeout);
  EXPECT_EQ(status.message(), "waiting for rank 1 of 2; refused since: 127.0.0.1: the job secrets "
                              "(COLL_SECRET) differ (2 times); 127.0.0.1: the numbers of processes "
                              "differ");
}

TEST(RefusalsTest, TheLastDifferentOnesAreKept) {
  Refusals refusals;
  EXPECT_EQ(refusals.text(), "");
  for (int i = 0; i < 6; ++i)
    refusals.add("host" + std::to_string(i % 5), "why");
  EXPECT_EQ(refusals.text(), "; refused since: host2: why; host3: why; host4: why; host0: why");
  refusals.add("host2", "why");
  EXPECT_EQ(refusals.text(),
            "; refused since: host3: why; host4: why; host0: why; host2: why (2 times)");
}

TEST_F(BootstrapRefusalTest, WrongSecret) {
  std::string message = join(Secret::create("quite another secret").take());
  EXPECT_NE(message.find("secrets (COLL_SECRET) differ"), std::string::npos) << message;
  EXPECT_EQ(join(testSecret()), "admitted");
}

TEST_F(BootstrapRefusalTest, WrongWorldSizeOrRank) {
  options_.worldSize = 3;
  std::string message = join(testSecret());
  EXPECT_NE(message.find("numbers of processes differ"), std::string::npos) << message;
  options_.rank = 7;
  EXPECT_NE(join(testSecret()).find("no rank 7"), std::string::npos);
}

TEST_F(BootstrapRefusalTest, DuplicateRank) {
  Result<std::unique_ptr<Bootstrap>> mine = Bootstrap::create(options_, testSecret());
  ASSERT_TRUE(mine.ok());
  std::string message = join(testSecret());
  EXPECT_NE(message.find("another process has this rank"), std::string::npos) << message;
}

TEST(SecretTest, ShortOnesAreRefused) {
  EXPECT_FALSE(Secret::create("").ok());
  EXPECT_FALSE(Secret::create("fifteen letters").ok());
  EXPECT_TRUE(Secret::create("sixteen letters.").ok());
}

TEST(SecretTest, ProofsDependOnLabelKeyAndParts) {
  Secret one = testSecret(), other = Secret::create("another secret of it").take();
  Mac mac = one.sign("a", {"b", "c"}).take();
  EXPECT_TRUE(sameMac(mac, one.sign("a", {"b", "c"}).take()));
  EXPECT_FALSE(sameMac(mac, other.sign("a", {"b", "c"}).take()));
  EXPECT_FALSE(sameMac(mac, one.sign("b", {"b", "c"}).take()));
  EXPECT_FALSE(sameMac(mac, one.sign("a", {"b", "d"}).take()));
}

} // namespace
} // namespace coll::net::test
