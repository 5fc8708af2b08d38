// A connection of the NCCL plugin all of whose requests are in use.

#include "runtime/base/env.h"
#include "runtime/net/nccl_plugin/comm.h"

#include <gtest/gtest.h>

namespace coll::net::nccl {
namespace {

// Requests that never end, as many as there is room for.
class Busy final : public Connection {
public:
  explicit Busy(size_t room) : requests_(room) {}

  Result<Request *> isend(const Segment *, int, uint64_t) override { return next(); }
  Result<Request *> irecv(const Segment *, int, uint64_t) override { return next(); }
  Result<Request *> iwrite(const Segment *, int, const RemoteKey &, uint64_t) override {
    return next();
  }
  Result<Request *> iread(const Segment *, int, const RemoteKey &, const RemoteRows &) override {
    return next();
  }
  Result<Request *> iflush(const Segment *, int) override { return next(); }
  Result<Completion> test(Request *) override { return Completion(); }
  void close() override {}

private:
  struct Endless : Request {};
  Result<Request *> next() {
    return used_ < requests_.size() ? &requests_[used_++] : static_cast<Request *>(nullptr);
  }

  std::vector<Endless> requests_;
  size_t used_ = 0;
};

class CommTest : public testing::Test {
protected:
  CommTest() {
    rt::ScopedEnv iface("COLL_NET_IFACE", "lo");
    Result<std::shared_ptr<Network>> network = Network::create();
    EXPECT_TRUE(network.ok()) << network.status().toString();
    network_ = network.take();
    device_.needsFlush = true;
  }
  Comm commWithRoomFor(size_t requests) {
    return Comm(network_, device_, std::make_unique<Busy>(requests), /*receives=*/true, nullptr);
  }

  std::shared_ptr<Network> network_;
  Device device_;
  MemoryHandle gpu_ = {nullptr, kPtrCuda};
  char data_[8] = {};
};

// A null request would tell NCCL that the data is visible.
TEST_F(CommTest, AFlushWithoutAFreeOperationIsAnError) {
  Comm comm = commWithRoomFor(Comm::kMaxOperations + 1);
  for (size_t i = 0; i < Comm::kMaxOperations; ++i)
    ASSERT_NE(*comm.irecv(data_, 8, 0, &gpu_, nullptr), nullptr);
  EXPECT_EQ(*comm.irecv(data_, 8, 0, &gpu_, nullptr), nullptr); // NCCL tries again
  Result<Operation *> flush = comm.iflush(data_, 8, &gpu_);
  EXPECT_EQ(flush.status().code(), kCollInvalidCall);
  EXPECT_NE(flush.status().message().find("64 requests"), std::string::npos);
}

TEST_F(CommTest, AFlushThatTheTransportHasNoRoomForIsAnError) {
  Comm comm = commWithRoomFor(1);
  Result<Operation *> first = comm.iflush(data_, 8, &gpu_);
  ASSERT_TRUE(first.ok()) << first.status().toString();
  EXPECT_NE(*first, nullptr);
  EXPECT_EQ(comm.iflush(data_, 8, &gpu_).status().code(), kCollInvalidCall);
}

TEST_F(CommTest, HostMemoryNeedsNoFlush) {
  Comm comm = commWithRoomFor(0);
  MemoryHandle host;
  Result<Operation *> flush = comm.iflush(data_, 8, &host);
  ASSERT_TRUE(flush.ok()) << flush.status().toString();
  EXPECT_EQ(*flush, nullptr);
}

} // namespace
} // namespace coll::net::nccl
