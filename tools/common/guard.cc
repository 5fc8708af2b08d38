//===- guard.cc - a crash becomes a diagnostic --------------------------------===//
//
// A child process, rather than llvm::CrashRecoveryContext: it also holds stack
// overflow, aborts, and crashes on threads of a pool.
//
//===----------------------------------------------------------------------------===//

#include "tools/common/safe_parse.h"

#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

static constexpr unsigned kStackBytes = 512u << 20;
static constexpr int kCrashExitCode = 70;

static volatile sig_atomic_t childPid = 0;

static void forwardSignal(int signal) {
  if (childPid > 0)
    kill(childPid, signal);
}

int coll::runOnLargeStack(llvm::function_ref<int()> body) {
  int code = 0;
  llvm::thread thread(std::optional<unsigned>(kStackBytes), [&] { code = body(); });
  thread.join();
  return code;
}

/// The child's part: does not return.
[[noreturn]] static void runChild(pid_t parent, llvm::function_ref<int()> body) {
  // The child must not outlive a parent that is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(kCrashExitCode);
  int code = coll::runOnLargeStack(body);
  llvm::outs().flush();
  exit(code);
}

namespace {
/// Changes what signals do, until it goes out of scope. The terminal sends SIGINT
/// and SIGQUIT to parent and child; SIGTERM and SIGHUP come to the parent alone.
class ForwardSignals {
public:
  explicit ForwardSignals(pid_t child) {
    childPid = child;
    for (int i = 0; i < kCount; ++i)
      previous_[i] = signal(kSignals[i], i < 2 ? SIG_IGN : forwardSignal);
  }
  ~ForwardSignals() {
    for (int i = 0; i < kCount; ++i)
      signal(kSignals[i], previous_[i]);
    childPid = 0;
  }
  ForwardSignals(const ForwardSignals &) = delete;
  ForwardSignals &operator=(const ForwardSignals &) = delete;

private:
  static constexpr int kCount = 4;
  static constexpr int kSignals[kCount] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  void (*previous_[kCount])(int);
};
} // namespace

/// Signals that say nothing about the input; SIGPIPE: the reader of the output left.
static bool isUserSignal(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT ||
         signal == SIGPIPE;
}

int coll::runGuarded(StringRef tool, llvm::function_ref<int()> body) {
  llvm::outs().flush();
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0) {
    llvm::WithColor::error() << tool << ": cannot start a process: " << strerror(errno) << "\n";
    return kCrashExitCode;
  }
  if (child == 0)
    runChild(parent, body);
  ForwardSignals forward(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return kCrashExitCode;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int signal = WTERMSIG(status);
  if (isUserSignal(signal))
    return 128 + signal;
  llvm::WithColor::error() << tool << ": crashed (" << strsignal(signal)
                           << "): the input is corrupt, or this is a bug in " << tool << "\n";
  return kCrashExitCode;
}
