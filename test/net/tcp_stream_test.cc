// One socket of a tcp connection, driven like its connection drives it.

#include "runtime/net/tcp/connection.h"

#include <gtest/gtest.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace coll::net::tcp {
namespace {

struct Ends {
  Fd near, far;
};
Ends sockets() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

// Signals when the poller has handled everything that was posted before.
class Mark final : public PollHandler {
public:
  void onEvents(uint32_t) override {}
  void onDeadline() override {}
  void onPosted() override { reached = true; }
  std::atomic<bool> reached{false};
};

class TcpStreamTest : public testing::Test {
protected:
  TcpStreamTest() {
    shared.devices.resize(1);
    shared.pollers.push_back(Poller::create().take());
    std::vector<Fd> fds;
    for (Ends &ends : others)
      fds.push_back(std::move(ends.near));
    connection = TcpConnection::create(shared, 0, std::move(fds)).take();
  }
  ~TcpStreamTest() override {
    connection.reset();
    poller().stop();
  }
  Poller &poller() { return *shared.pollers.front(); }
  void awaitPoller() {
    auto mark = std::make_shared<Mark>();
    const uint64_t id = poller().reserve();
    ASSERT_TRUE(poller().add(id, own.near.get(), 0, mark).ok());
    poller().post(id);
    while (!mark->reached)
      std::this_thread::yield();
    poller().remove(id, own.near.get());
  }

  Shared shared{TcpOptions(), std::nullopt};
  Ends others[2] = {sockets(), sockets()};
  Ends own = sockets();
  std::unique_ptr<Connection> connection;
};

// The answer to a message that another socket of the connection has read may be queued on this
// socket before this one has started.
TEST_F(TcpStreamTest, WhatWasQueuedBeforeItStartsIsSent) {
  Ends late = sockets();
  auto stream =
      std::make_shared<Stream>(static_cast<TcpConnection &>(*connection), std::move(late.near),
                               poller(), poller(), /*index=*/2, wire::Frame::kBytes);
  EXPECT_TRUE(stream->enqueue(outgoingFrame(dataFrame(7, 0)), When::Soon));
  awaitPoller();
  ASSERT_TRUE(stream->start().ok());
  pollfd readable = {late.far.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, /*ms=*/60'000), 1) << "nothing was sent";
  uint8_t header[wire::Frame::kBytes];
  ASSERT_EQ(::read(late.far.get(), header, sizeof(header)), static_cast<ssize_t>(sizeof(header)));
  std::optional<wire::Frame> frame = wire::decodeFrame(header);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->type, wire::FrameType::Data);
  stream->detach();
}

} // namespace
} // namespace coll::net::tcp
