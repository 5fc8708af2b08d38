//===- worker.cc - work that may crash, hang or be given up ----------------------===//

#include "tools/coll-lsp-server/worker.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using Clock = std::chrono::steady_clock;

namespace coll::lsp {
namespace {

llvm::Error fail(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

llvm::Error failCall(llvm::StringRef what) { return fail(what + ": " + strerror(errno)); }

/// A file in memory: unlike a pipe, it accepts all of the input before the other side reads.
llvm::Expected<int> makeInput(llvm::StringRef input) {
  int file = memfd_create("input", MFD_CLOEXEC);
  if (file < 0)
    return failCall("memfd_create");
  for (llvm::StringRef rest = input; !rest.empty();) {
    ssize_t count = write(file, rest.data(), rest.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      llvm::Error error = failCall("write");
      close(file);
      return error;
    }
    rest = rest.drop_front(count);
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

llvm::Expected<pid_t> spawn(const std::vector<std::string> &arguments, int input, int output) {
  std::vector<char *> argv = {const_cast<char *>("coll-lsp-server")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  llvm::scope_exit destroy([&] { posix_spawn_file_actions_destroy(&actions); });
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid;
  if (int code = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ))
    return fail(llvm::Twine("cannot start a process: ") + strerror(code));
  return pid;
}

/// Reads until the other side closes; gives up after `end`, or once cancelled.
void readAll(int pipe, Clock::time_point end, llvm::function_ref<bool()> cancelled,
             WorkerOutput &output) {
  std::vector<char> buffer(1 << 16);
  while (true) {
    if (cancelled())
      output.failure = "was given up";
    else if (Clock::now() >= end)
      output.failure = "took too long";
    if (!output.failure.empty())
      return;
    pollfd entry = {pipe, POLLIN, 0};
    if (poll(&entry, 1, /*timeout=*/20) <= 0)
      continue;
    ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return;
    output.text.append(buffer.data(), count);
  }
}

/// Starts the worker; the end to read its output from goes to `output`.
llvm::Expected<pid_t> start(const std::vector<std::string> &arguments, llvm::StringRef input,
                            int &output) {
  llvm::Expected<int> file = makeInput(input);
  if (!file)
    return file.takeError();
  llvm::scope_exit closeFile([&] { close(*file); });
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failCall("pipe");
  llvm::Expected<pid_t> pid = spawn(arguments, *file, ends[1]);
  close(ends[1]);
  if (!pid)
    close(ends[0]);
  output = ends[0];
  return pid;
}

} // namespace

WorkerOutput runWorker(const std::vector<std::string> &arguments, llvm::StringRef input,
                       std::chrono::milliseconds deadline, llvm::function_ref<bool()> cancelled) {
  auto end = Clock::now() + deadline;
  WorkerOutput output;
  int pipe = -1;
  llvm::Expected<pid_t> pid = start(arguments, input, pipe);
  if (!pid) {
    output.failure = "was not possible: " + llvm::toString(pid.takeError());
    return output;
  }
  readAll(pipe, end, cancelled, output);
  close(pipe);
  if (!output.failure.empty())
    kill(*pid, SIGKILL);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (output.failure.empty() && WIFSIGNALED(status))
    output.failure = std::string("crashed (") + strsignal(WTERMSIG(status)) + ")";
  return output;
}

void followParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

} // namespace coll::lsp
