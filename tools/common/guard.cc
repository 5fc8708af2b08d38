//===- guard.cc - a crash becomes a diagnostic --------------------------------===//
//
// A child process is used rather than llvm::CrashRecoveryContext, because it also contains stack
// overflows, aborts, and crashes on threads of a pool.
//
//===----------------------------------------------------------------------------===//

#include "tools/common/guard.h"
#include "compiler/large_stack.h"
#include "tools/common/signals.h"

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

static constexpr int kCrashExitCode = 70;

static volatile sig_atomic_t childPid = 0;
static ::coll::UserRequest request;

/// The child has unlimited time, unless the user signals again.
static void forwardSignal(int signal) {
  request.receive(signal);
  if (childPid > 0)
    kill(childPid, request.isImpatient() ? SIGKILL : signal);
}

int mlir::coll::runOnLargeStack(llvm::function_ref<int()> body) {
  int code = 1;
  if (llvm::Error error = callOnLargeStack([&] { code = body(); }))
    llvm::WithColor::error() << llvm::toString(std::move(error)) << "\n";
  return code;
}

void mlir::coll::checkOutputAtExit() {
  (void)llvm::outs(); // is destroyed after this function has run, since it is constructed before
  std::atexit([] {
    llvm::outs().flush();
    std::error_code code = llvm::outs().error();
    llvm::outs().clear_error();
    if (!code)
      return;
    llvm::WithColor::error() << "cannot write to the standard output: " << code.message() << "\n";
    _exit(1);
  });
}

/// Signals by which a user ends a program.
static constexpr int kUserSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/// The child's part: does not return.
[[noreturn]] static void runChild(pid_t parent, llvm::function_ref<int()> body) {
  // The child must not outlive a parent that is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(kCrashExitCode);
  int code = mlir::coll::runOnLargeStack(body);
  llvm::outs().flush();
  exit(code);
}

namespace {
/// Keeps the user's signals waiting, until it goes out of scope.
class HoldSignals {
public:
  HoldSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : kUserSignals)
      sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, &previous_);
  }
  ~HoldSignals() { sigprocmask(SIG_SETMASK, &previous_, nullptr); }
  HoldSignals(const HoldSignals &) = delete;
  HoldSignals &operator=(const HoldSignals &) = delete;

private:
  sigset_t previous_;
};

/// Passes the user's signals on to the child, until it goes out of scope. A signal from the
/// terminal reaches the child twice, which is harmless; `kill` reaches only the parent.
class ForwardSignals {
public:
  explicit ForwardSignals(pid_t child) {
    childPid = child;
    request.forget();
    for (size_t i = 0; i < std::size(kUserSignals); ++i)
      previous_[i] = ::coll::handleUserSignal(kUserSignals[i], forwardSignal);
  }
  ~ForwardSignals() {
    for (size_t i = 0; i < std::size(kUserSignals); ++i)
      signal(kUserSignals[i], previous_[i]);
    childPid = 0;
  }
  ForwardSignals(const ForwardSignals &) = delete;
  ForwardSignals &operator=(const ForwardSignals &) = delete;

private:
  void (*previous_[std::size(kUserSignals)])(int);
};
} // namespace

/// Signals that do not point to a faulty input. SIGPIPE: the reader of the output has closed it.
static bool isUserSignal(int signal) {
  return llvm::is_contained(kUserSignals, signal) || signal == SIGPIPE;
}

static std::string describeEnd(StringRef tool, int signal) {
  if (isUserSignal(signal) || signal == SIGKILL)
    return std::string("ended by a signal: ") + strsignal(signal);
  return ("crashed (" + llvm::Twine(strsignal(signal)) +
          "): the input is corrupt, or this is a bug in " + tool)
      .str();
}

int mlir::coll::runGuarded(StringRef tool, llvm::function_ref<int()> body, std::string *why) {
  llvm::outs().flush();
  pid_t parent = getpid();
  std::optional<HoldSignals> hold(std::in_place);
  pid_t child = fork();
  if (child < 0) {
    const int code = errno; // before the stream asks what it writes to
    llvm::WithColor::error() << tool << ": cannot start a process: " << strerror(code) << "\n";
    return kCrashExitCode;
  }
  if (child == 0) {
    hold.reset();
    runChild(parent, body);
  }
  ForwardSignals forward(child);
  hold.reset();
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return kCrashExitCode;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int signal =
      request.isImpatient() && WTERMSIG(status) == SIGKILL ? request.signal() : WTERMSIG(status);
  std::string end = describeEnd(tool, signal);
  if (why)
    *why = end;
  if (isUserSignal(signal))
    return 128 + signal;
  llvm::WithColor::error() << tool << ": " << end << "\n";
  return kCrashExitCode;
}
