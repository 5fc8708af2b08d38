// With more unproven connections than places, strangers are evicted, and honest processes can still
// connect.

#include "runtime/net/bootstrap/bootstrap.h"
#include "runtime/net/bootstrap/server.h"
#include "test/net/namespaces.h"
#include "test/net/options.h"

#include <gtest/gtest.h>
#include <thread>

namespace coll::net::test {
namespace {

constexpr int64_t kPatientUs = 60'000'000;

class EvictionTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("COLL_LOG", "error", 1);
    auto server = BootstrapServer::create(listenOn(Address::parse("127.0.0.1:0").take()).take(), 2,
                                          testSecret());
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = server.take();
  }
  void TearDown() override { unsetenv("COLL_LOG"); }

  // Opens connections that send nothing.
  void fill(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Result<Fd> fd = startConnect(server_->address());
      ASSERT_TRUE(fd.ok()) << fd.status().message();
      silent_.push_back(fd.take());
    }
  }
  // Returns true if the server has accepted so many connections.
  bool sees(int64_t accepted) const {
    for (int64_t end = nowUs() + kPatientUs; nowUs() < end;) {
      if (server_->stats().accepted >= accepted)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  std::unique_ptr<BootstrapServer> server_;
  std::vector<Fd> silent_;
};

TEST_F(EvictionTest, NobodyGivesWayWhileThereIsRoom) {
  constexpr int64_t kFew = 100;
  fill(kFew);
  ASSERT_TRUE(sees(kFew));
  EXPECT_EQ(server_->stats().evicted, 0);
}

TEST_F(EvictionTest, SilentStrangersGiveWay) {
  constexpr size_t kMore = 40;
  fill(BootstrapServer::kMaxCandidates + kMore);
  ASSERT_TRUE(sees(BootstrapServer::kMaxCandidates + kMore));
  // One for each connection beyond the limit; slow ones have closed by themselves.
  EXPECT_LE(server_->stats().evicted, static_cast<int64_t>(kMore));
  EXPECT_GE(server_->stats().evicted + server_->stats().refused, static_cast<int64_t>(kMore));
  BootstrapOptions options;
  options.rank = 1;
  options.worldSize = 2;
  options.address = server_->address().toString();
  Result<std::unique_ptr<Bootstrap>> honest = Bootstrap::create(options, testSecret());
  ASSERT_TRUE(honest.ok()) << honest.status().message();
  // Only an admitted process gets a reply.
  EXPECT_TRUE((*honest)->put("here", "now").ok());
  EXPECT_EQ(server_->stats().admitted, 1);
}

// An admitted process cannot be evicted.
TEST_F(EvictionTest, MembersStay) {
  BootstrapOptions options;
  options.rank = 1;
  options.worldSize = 2;
  options.address = server_->address().toString();
  Result<std::unique_ptr<Bootstrap>> member = Bootstrap::create(options, testSecret());
  ASSERT_TRUE(member.ok()) << member.status().message();
  fill(BootstrapServer::kMaxCandidates + 100);
  ASSERT_TRUE(sees(BootstrapServer::kMaxCandidates + 101));
  EXPECT_TRUE((*member)->put("still", "here").ok());
  Result<std::string> value = (*member)->get("still", kPatientUs);
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(*value, "here");
}

// Rank 0 and rank 1 are in different network namespaces, like on different hosts.
TEST(BootstrapAcrossNamespacesTest, TheyMeet) {
  Result<Namespaces *> pair = Namespaces::get();
  if (!pair.ok())
    GTEST_SKIP() << pair.status().message();
  for (const char *iface : {"coll0", "10.77.0.0/24", "fd77::/64"}) {
    BootstrapOptions options;
    options.worldSize = 2;
    options.address = ":0";
    options.iface = iface;
    std::unique_ptr<Bootstrap> first;
    {
      Namespaces::Inside inside(**pair, 0);
      Result<std::unique_ptr<Bootstrap>> made = Bootstrap::create(options, testSecret());
      ASSERT_TRUE(made.ok()) << made.status().message();
      first = made.take();
    }
    options.rank = 1;
    options.address = first->address();
    std::thread other([&] {
      Namespaces::Inside inside(**pair, 1);
      Result<std::unique_ptr<Bootstrap>> second = Bootstrap::create(options, testSecret());
      ASSERT_TRUE(second.ok()) << second.status().message();
      EXPECT_TRUE((*second)->barrier(kPatientUs).ok());
    });
    EXPECT_TRUE(first->barrier(kPatientUs).ok());
    other.join();
  }
}

} // namespace
} // namespace coll::net::test
