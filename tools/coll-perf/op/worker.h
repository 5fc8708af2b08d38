// worker.h - a process with ranks of one side, which measures the tasks that the driver
// sends.
// The driver and a worker exchange lines of JSON over a socket. The worker begins with {} or
// {"error", "code"}; each task is answered in the same way, with {"ranks": [{"rank", "us",
// "wrong"}]} on success. Before the answer it sends lines {"at"} that say what it is doing: one at
// each stage and, while it makes progress, one a second. It ends when the socket is closed.

#ifndef COLL_TOOLS_COLL_PERF_OP_WORKER_H
#define COLL_TOOLS_COLL_PERF_OP_WORKER_H

#include "runtime/net/socket.h"
#include "tools/coll-perf/op/member.h"

#include <optional>

namespace coll::perf {

// Lines over a socket; the other end may close at any time.
class LineSocket {
public:
  explicit LineSocket(net::Fd fd) : fd_(std::move(fd)) {}
  // kCollPeer if the other end has closed, kCollTimeout after timeoutUs.
  Status send(const std::string &line);
  Result<std::string> receive(int64_t timeoutUs);
  int fd() const { return fd_.get(); }

private:
  net::Fd fd_;
  std::string buffer_;
};

// Serves tasks until the driver closes its end; returns the process's exit code.
int runWorker(const OpPlan &plan, const Side &side, const std::optional<rt::JobOptions> &job,
              LineSocket &driver);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_WORKER_H
