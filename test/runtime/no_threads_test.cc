// A process that may not start more threads: whatever needs a thread returns a status that says so.

#include "runtime/backend/backend.h"
#include "runtime/base/thread.h"
#include "runtime/step/crew.h"
#include "test/support/no_more_threads.h"

#ifdef COLL_HAS_NET
#include "runtime/backend/direct/links.h"
#include "runtime/backend/nccl/aside.h"
#include "runtime/backend/net/gpu/channel.h"
#include "runtime/exchange/tensor/owner.h"
#include "runtime/exchange/tensor/server.h"
#include "runtime/net/bond/bond.h"
#include "runtime/net/gpu/posts.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/tcp/tcp.h"
#include "test/support/fakes/cuda.h"
#endif

#include <gtest/gtest.h>

namespace coll::rt {
namespace {

TEST(NoThreads, StartThreadSaysWhyAndWhatToDo) {
  std::thread thread;
  {
    NoMoreThreads limit;
    Status status = startThread(thread, "a test", [] {});
    COLL_EXPECT_NO_THREAD(status, "a test: ");
    EXPECT_NE(status.message().find("ulimit -u"), std::string::npos) << status.message();
    EXPECT_FALSE(thread.joinable());
  }
  int ran = 0;
  ASSERT_TRUE(startThread(thread, "a test", [&] { ran = 1; }).ok());
  thread.join();
  EXPECT_EQ(ran, 1);
}

TEST(NoThreads, ACrewIsNotMade) {
  NoMoreThreads limit;
  COLL_EXPECT_NO_THREAD(Crew::create(3).status(), "rank 0 of 3");
}

#ifdef COLL_HAS_NET

net::Secret secret() { return net::Secret::create("a secret of this test").take(); }

TEST(NoThreads, BackendNetIsNotMade) {
  NoMoreThreads limit;
  for (const char *transport : {"loopback", "tcp"}) {
    BackendOptions options;
    options.numRanks = 2;
    options.transport = transport;
    COLL_EXPECT_NO_THREAD(createBackend("net", options).status(), "operations in flight");
  }
}

TEST(NoThreads, TransportsAreNotMade) {
  net::TcpOptions options;
  options.iface = "lo";
  NoMoreThreads limit;
  COLL_EXPECT_NO_THREAD(net::createTcpTransport(options, secret()).status(), "connections");
  auto bond = net::createBondTransport(net::createLoopbackTransport().take(), {});
  COLL_EXPECT_NO_THREAD(bond.status(), "connections over several devices");
}

TEST(NoThreads, PostsOfKernelsAreNotServed) {
  auto shared = std::make_unique<PostShared>();
  NoMoreThreads limit;
  COLL_EXPECT_NO_THREAD(net::DevicePosts::create(shared.get(), {}).status(),
                        "the posts of kernels");
}

TEST(NoThreads, LinksOfANodeDoNotConnect) {
  auto links = direct::Links::create(0, 1).take();
  NoMoreThreads limit;
  Status status = links->connect({links->name()}, secret(), 1'000'000, [](const Status &) {});
  COLL_EXPECT_NO_THREAD(status, "the sockets of the node");
}

TEST(NoThreads, ACallOfNcclFailsInsteadOfRunning) {
  NoMoreThreads limit;
  bool ran = false;
  nccl::Aside aside;
  aside.start([&] {
    ran = true;
    return Status();
  });
  ASSERT_TRUE(aside.done());
  COLL_EXPECT_NO_THREAD(aside.take(), "a call of NCCL");
  EXPECT_FALSE(ran);
}

TEST(NoThreads, TheChannelOfAGpuIsNotMade) {
  dl::FakeCuda fake(1);
  const network::GpuPlatform platform = {&fake.table(), [] { return Status(); },
                                         [](const ChannelLaunch &, dl::CudaStream) {
                                           return Status::internal("nothing is launched");
                                         }};
  auto gpu = dl::GpuContext::open(fake.table(), 0).take();
  NoMoreThreads limit;
  auto channel = network::GpuChannel::create(platform, gpu, {});
  COLL_EXPECT_NO_THREAD(channel.status(), "the channel of a GPU");
  EXPECT_EQ(fake.liveAllocations(), 0);
}

TEST(NoThreads, TensorsAreNotServed) {
  auto transport = net::createLoopbackTransport().take();
  NoMoreThreads limit;
  COLL_EXPECT_NO_THREAD(exchange::TensorOwner::create({}).status(),
                        "the readers of shared tensors");
  auto server = exchange::TensorServer::create(*transport, 0, nullptr, nullptr);
  COLL_EXPECT_NO_THREAD(server.status(), "the readers of remote tensors");
}

#endif // COLL_HAS_NET

} // namespace
} // namespace coll::rt
