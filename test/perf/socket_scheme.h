// socket_scheme.h - how NCCL's built-in Socket transport moves messages, in plain sockets. The
// thread that tests sends the length over a control socket. Then pieces of at least 64 KiB go in
// turn over the sockets; each piece is moved by a separate thread of the connection, which waits on
// a condition if it has no piece and otherwise tries its sockets in a loop. The peer of
// bench-proxy.
//
// Blocking set-up, one thread, no checks of the peer: for measurements, not for use.

#ifndef COLL_TEST_PERF_SOCKET_SCHEME_H
#define COLL_TEST_PERF_SOCKET_SCHEME_H

#include "runtime/net/socket.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::perf {

class SocketScheme {
public:
  // A piece of a message.
  struct Task {
    int fd = -1;
    uint8_t *data = nullptr;
    size_t bytes = 0;
    std::atomic<size_t> moved{0};
  };
  struct Message {
    uint8_t *data = nullptr;
    size_t bytes = 0;
    bool used = false, sized = false;
    std::vector<Task *> tasks;
  };

  // One direction of a connection: `sockets` for data, then the control socket.
  SocketScheme(bool receives, std::vector<net::Fd> sockets, int threads);
  ~SocketScheme();

  // Null if 32 are in flight.
  Message *post(void *data, size_t bytes);
  bool test(Message &message);

private:
  struct Helper {
    std::mutex mutex;
    std::condition_variable posted;
    std::deque<Task *> tasks;
    bool stop = false;
    std::thread thread;
  };
  void work(Helper &helper) const;
  bool exchangeSize(Message &message) const;
  void divide(Message &message);

  const bool receives_;
  std::vector<net::Fd> sockets_; // the last: control
  std::vector<std::unique_ptr<Helper>> helpers_;
  std::array<Message, 32> messages_;
  size_t next_ = 0;
};

// Makes both ends of `sockets` + 1 connections over 127.0.0.1: [0] sends, [1] receives.
std::array<std::vector<net::Fd>, 2> connectedSockets(int sockets);

} // namespace coll::perf

#endif // COLL_TEST_PERF_SOCKET_SCHEME_H
