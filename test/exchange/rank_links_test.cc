// Connections between ranks of an exchange: the last messages of others, and wrong calls.

#include "runtime/exchange/flow/rank_links.h"
#include "runtime/net/loopback/loopback.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace coll::rt {
namespace {

constexpr uint64_t kEndTag = ~uint64_t{0} - 1; // of farewells: a code and a text, 256 bytes

class RankLinksTest : public testing::Test {
protected:
  void connect(int64_t timeoutUs = 20'000'000) {
    const std::vector<net::Handle> handles = {links_[0]->handle(), links_[1]->handle()};
    std::thread other([&] { EXPECT_TRUE(links_[1]->connect(handles, timeoutUs).ok()); });
    const Status status = links_[0]->connect(handles, timeoutUs);
    EXPECT_TRUE(status.ok()) << status.toString();
    other.join();
  }
  // Returns rank 0's status when rank 1 ends with this farewell.
  Status heard(const char *farewell, size_t bytes) {
    const net::Segment segment = {const_cast<char *>(farewell), bytes, nullptr};
    EXPECT_TRUE(links_[1]->to(0).isend(&segment, 1, kEndTag).ok());
    Status status;
    for (int i = 0; i < 2000 && status.ok(); ++i) {
      status = links_[0]->poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return status;
  }

  std::unique_ptr<net::Transport> transport_ = net::createLoopbackTransport().take();
  std::unique_ptr<RankLinks> links_[2] = {RankLinks::create(*transport_, 0, 2).take(),
                                          RankLinks::create(*transport_, 1, 2).take()};
};

TEST_F(RankLinksTest, AFarewellWithoutACauseIsAFailure) {
  connect();
  const char nothing[256] = {};
  EXPECT_EQ(heard(nothing, sizeof nothing).toString(),
            "peer failure: rank 1 aborted without a valid cause");
}

TEST_F(RankLinksTest, ShortOrUnknownFarewellsAreFailures) {
  connect();
  char other[256] = "....and so on";
  const int32_t code = 12345;
  std::memcpy(other, &code, sizeof code);
  EXPECT_EQ(heard(other, 7).code(), kCollPeer);
}

TEST_F(RankLinksTest, HandlesOfOtherRanksThanThereAre) {
  for (const auto &links : links_) {
    EXPECT_EQ(links->connect({}, 1000).message(), "0 handles of 2 ranks");
    EXPECT_EQ(links->connect(std::vector<net::Handle>(3), 1000).message(), "3 handles of 2 ranks");
  }
}

TEST_F(RankLinksTest, ADeadlineForEverHasNotPassed) { connect(INT64_MAX); }

} // namespace
} // namespace coll::rt
