#include "test/fuzz/backtrace.h"

#include "llvm/Demangle/Demangle.h"

#include <csignal>
#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

namespace coll::fuzz {
namespace {

constexpr int kMaxFrames = 48;
constexpr int kShownFrames = 8;
int crashFd = -1;

// Only what is safe in a signal handler: backtrace() was called once before.
void onFatalSignal(int signal) {
  void *frames[kMaxFrames];
  int count = backtrace(frames, kMaxFrames);
  ssize_t written = write(crashFd, frames, size_t(count) * sizeof(void *));
  (void)written;
  ::signal(signal, SIG_DFL);
  raise(signal);
}

std::string nameOf(void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_sname)
    return "";
  std::string name = llvm::demangle(info.dli_sname);
  return name.substr(0, std::min(name.find('('), name.size()));
}

} // namespace

// An overflow of the stack needs another one to report from; threads share it, since only
// the first crash counts.
void useOwnSignalStack() {
  static char memory[1 << 16];
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = sizeof(memory);
  sigaltstack(&stack, nullptr);
}

void reportCrashesOn(int fd) {
  crashFd = fd;
  void *frame;
  backtrace(&frame, 1); // loads what it needs
  struct sigaction action{};
  action.sa_handler = onFatalSignal;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    sigaction(signal, &action, nullptr);
}

std::string describeCrash(int fd) {
  void *frames[kMaxFrames];
  ssize_t bytes = read(fd, frames, sizeof(frames));
  std::string text;
  int shown = 0;
  for (ssize_t i = 1; i < bytes / ssize_t(sizeof(void *)) && shown < kShownFrames; ++i) {
    std::string name = nameOf(frames[i]);
    if (name.empty() || name == "gsignal" || name == "abort" || name == "raise")
      continue;
    text += (shown++ ? " < " : "") + name;
  }
  return text.empty() ? "no known function" : text;
}

} // namespace coll::fuzz
