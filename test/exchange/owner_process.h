// owner_process.h - a process that owns tensors, forked from a test.

#ifndef COLL_TEST_EXCHANGE_OWNER_PROCESS_H
#define COLL_TEST_EXCHANGE_OWNER_PROCESS_H

#include "runtime/net/socket.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::rt::exchange::test {

// An owner in its own process, which publishes the tensor that `publish` returns, and ends when
// told to.
struct OwnerProcess {
  explicit OwnerProcess(const std::function<void(int out, int in)> &body) {
    int up[2], down[2];
    EXPECT_EQ(pipe(up) + pipe(down), 0);
    pid = fork();
    if (pid == 0) {
      close(up[0]);
      close(down[1]); // its own copy would keep it from seeing the end
      body(up[1], down[0]);
      _exit(0);
    }
    close(up[1]);
    close(down[0]);
    out = net::Fd(down[1]);
    char bytes[4096];
    const ssize_t count = read(up[0], bytes, sizeof(bytes));
    handle.assign(bytes, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    close(up[0]);
  }
  // Returns the exit code, or the negative number of the signal.
  int end(int signal) {
    if (signal)
      kill(pid, signal);
    out.reset();
    int state = 0;
    waitpid(pid, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
  }
  pid_t pid = 0;
  net::Fd out;
  std::string handle;
};

// Sends the handle, or the error, to the parent.
inline void say(int out, const Result<std::string> &handle) {
  const std::string bytes = handle ? *handle : handle.status().toString();
  (void)!write(out, bytes.data(), bytes.size());
}
inline void waitForEnd(int in) {
  char byte;
  (void)!read(in, &byte, 1);
}

} // namespace coll::rt::exchange::test

#endif // COLL_TEST_EXCHANGE_OWNER_PROCESS_H
