// processes.h - a job of several processes, forked from a test.

#ifndef COLL_TEST_RUNTIME_PROCESSES_H
#define COLL_TEST_RUNTIME_PROCESSES_H

#include "runtime/backend/backend.h"
#include "runtime/net/socket.h"

#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace coll::rt::test {

// Starts a process for each rank, in which `body` gets the options of its job. Returns the exit
// codes, or the negative number of the signal. The caller must have no other thread.
inline std::vector<int> runProcesses(int ranks, const std::function<int(BackendOptions &)> &body) {
  net::Fd listener = net::listenOn(net::Address::parse("127.0.0.1:0").take()).take();
  BackendOptions options;
  options.numRanks = ranks;
  options.timeoutUs = 20'000'000;
  options.job.emplace();
  options.job->worldSize = ranks;
  options.job->bootstrap = net::localAddress(listener)->toString();
  options.job->iface = "lo";
  options.job->secret = "a secret of this test's own";
  std::vector<pid_t> pids;
  for (int rank = 0; rank < ranks; ++rank) {
    pid_t pid = fork();
    if (pid == 0) {
      options.job->rank = rank;
      options.job->listenFd = rank == 0 ? fcntl(listener.get(), F_DUPFD_CLOEXEC, 0) : -1;
      _exit(body(options));
    }
    pids.push_back(pid);
  }
  std::vector<int> codes;
  for (pid_t pid : pids) {
    int state = 0;
    EXPECT_EQ(waitpid(pid, &state, 0), pid);
    codes.push_back(WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state));
  }
  return codes;
}

} // namespace coll::rt::test

#endif // COLL_TEST_RUNTIME_PROCESSES_H
