#include "test/conformance/transport/harness.h"

namespace coll::net::test {
namespace {

TEST_P(TransportTest, CloseFailsPendingRecv) {
  Ends ends = connect();
  std::vector<uint8_t> small(10), large(100'000);
  Request *mine = recv(*ends.left, small, 1), *theirs = recv(*ends.right, large, 2);
  ends.left->close();
  EXPECT_EQ(outcome(*ends.left, mine), kCollAborted);
  CollCode code = outcome(*ends.right, theirs);
  EXPECT_TRUE(code == kCollPeer || code == kCollLink) << code;
  EXPECT_EQ(ends.left->isend(nullptr, 0, 0).status().code(), kCollAborted);
  EXPECT_FALSE(ends.right->isend(nullptr, 0, 0).ok());
  EXPECT_FALSE(ends.right->irecv(nullptr, 0, 0).ok());
}

TEST_P(TransportTest, CloseFailsPendingSendAndFreesItsBuffer) {
  Ends ends = connect();
  auto data = std::make_unique<std::vector<uint8_t>>(pattern(1 << 20, 1));
  Request *sent = send(*ends.left, *data, 1);
  ends.left->close();
  data.reset();
  EXPECT_EQ(outcome(*ends.left, sent), kCollAborted);
  std::vector<uint8_t> got(1 << 20);
  Segment one = segment(got);
  Result<Request *> late = ends.right->irecv(&one, 1, 1);
  if (late.ok()) {
    EXPECT_NE(outcome(*ends.right, *late), kCollOk);
  }
}

// In the middle of a transfer some of it is in the peer's buffer, some in the kernel.
TEST_P(TransportTest, CloseDuringLargeTransfers) {
  for (bool closeReceiver : {true, false}) {
    Ends ends = connect();
    std::vector<uint8_t> data = pattern(8 << 20, 1);
    std::vector<std::vector<uint8_t>> got(8, std::vector<uint8_t>(8 << 20));
    std::vector<Request *> sends, recvs;
    for (std::vector<uint8_t> &buffer : got) {
      recvs.push_back(recv(*ends.right, buffer, 1));
      sends.push_back(send(*ends.left, data, 1));
    }
    (closeReceiver ? ends.right : ends.left)->close();
    for (Request *request : sends)
      (void)outcome(*ends.left, request);
    for (Request *request : recvs)
      (void)outcome(*ends.right, request);
  }
}

TEST_P(TransportTest, CloseDeliversWhatWasDone) {
  for (size_t bytes : {size_t(5), size_t(16'384), size_t(1'000'000)}) {
    Ends ends = connect();
    std::vector<uint8_t> data = pattern(bytes, 2), got(bytes), other(10);
    Request *wanted = recv(*ends.right, got, 1);
    // Unread data in the other direction must not prevent the delivery.
    if (std::string(GetParam().name).find("loopback") == std::string::npos)
      expectDone(*ends.right, send(*ends.right, other, 9), other.size());
    expectDone(*ends.left, send(*ends.left, data, 1), bytes);
    ends.left.reset();
    expectDone(*ends.right, wanted, bytes);
    EXPECT_EQ(got, data);
  }
}

TEST_P(TransportTest, AnErrorStaysOnItsConnection) {
  Ends doomed = connect(), other = connect();
  std::vector<uint8_t> got(100'000);
  Request *pending = recv(*doomed.right, got, 1);
  doomed.left.reset();
  EXPECT_NE(outcome(*doomed.right, pending), kCollOk);
  expectUsable(other);
}

TEST_P(TransportTest, AConnectorMayGiveUp) {
  Result<std::unique_ptr<Listener>> listener = right_->listen(0);
  ASSERT_TRUE(listener.ok());
  {
    Result<std::unique_ptr<Connector>> gone = left_->connect(0, (*listener)->handle());
  }
  listener = Result<std::unique_ptr<Listener>>(Status::internal("closed"));
  Ends ends = connect();
  expectUsable(ends);
}

} // namespace
} // namespace coll::net::test
