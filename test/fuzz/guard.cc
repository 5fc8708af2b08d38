#include "test/fuzz/guard.h"

#include "test/fuzz/backtrace.h"
#include "tools/common/guard.h"

#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::fuzz {
namespace {

constexpr int kOutOfMemory = 3; // exit status; the case has been reported
// LLVM's worker threads and the ranks start after a case began; they share this.
volatile Phase *sharedPhase = nullptr;
int reportFd = -1;

struct Header {
  int64_t index;
  Verdict verdict;
  uint32_t bytes;
};

bool writeAll(int fd, const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t written = write(fd, next, bytes);
    if (written <= 0)
      return false;
    next += written;
    bytes -= size_t(written);
  }
  return true;
}

bool readAll(int fd, void *data, size_t bytes) {
  char *next = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t got = read(fd, next, bytes);
    if (got <= 0)
      return false;
    next += got;
    bytes -= size_t(got);
  }
  return true;
}

int64_t currentIndex = 0;

void send(const Report &report) {
  Header header{currentIndex, report.verdict, uint32_t(report.text.size())};
  if (!writeAll(reportFd, &header, sizeof(header)) ||
      !writeAll(reportFd, report.text.data(), report.text.size()))
    _exit(1);
}

void exitOutOfMemory() {
  Header header{currentIndex, Verdict::Refused, 0};
  _exit(writeAll(reportFd, &header, sizeof(header)) ? kOutOfMemory : 1);
}

void setMask(int how, int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(how, &set, nullptr);
}

int runChild(int64_t first, int64_t last, const RunCase &runCase) {
  useOwnSignalStack();
  setMask(SIG_UNBLOCK, SIGABRT);
  for (currentIndex = first; currentIndex < last; ++currentIndex) {
    enterPhase(Phase::Prepare);
    send(runCase(currentIndex));
  }
  return 0;
}

[[noreturn]] void childMain(int64_t first, int64_t last, const GuardOptions &options,
                            const RunCase &runCase, int crashFd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!options.isVerbose) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDERR_FILENO);
  }
  rlimit space{rlim_t(options.maxBytes), rlim_t(options.maxBytes)}, noCore{0, 0};
  if (options.maxBytes > 0)
    setrlimit(RLIMIT_AS, &space);
  setrlimit(RLIMIT_CORE, &noCore);
  std::set_new_handler(exitOutOfMemory);
  reportCrashesOn(crashFd);
  // What ends a hang is to arrive where the case runs, and tell where that is.
  setMask(SIG_BLOCK, SIGABRT);
  // The stack that the tools have.
  _exit(mlir::coll::runOnLargeStack([&] { return runChild(first, last, runCase); }));
}

const char *phaseName() {
  static constexpr const char *kNames[] = {"preparing", "parsing", "compiling", "running one rank",
                                           "running the ranks"};
  return kNames[static_cast<int>(*sharedPhase)];
}

// Periods that a case may last which is not given half of the processor.
constexpr int kPatience = 10;

// One child, from its start to its end.
class Child {
public:
  Child(int64_t first, int64_t last, const GuardOptions &options, const RunCase &runCase)
      : options_(options) {
    int reports[2], crashes[2];
    if (pipe(reports) != 0 || pipe(crashes) != 0)
      abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(reports[0]);
      close(crashes[0]);
      reportFd = reports[1];
      childMain(first, last, options, runCase, crashes[1]);
    }
    close(reports[1]);
    close(crashes[1]);
    reports_ = reports[0];
    crashes_ = crashes[0];
  }
  ~Child() {
    if (!isFinished_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(reports_);
    close(crashes_);
  }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  // The next case's report; false where the child has ended.
  bool next(int64_t &index, Report &report) {
    pollfd waiting{reports_, POLLIN, 0};
    double begin = processorSeconds();
    for (int periods = 1; poll(&waiting, 1, options_.timeoutSeconds * 1000) == 0; ++periods) {
      waiting.revents = 0;
      // A busy machine makes cases slow, not endless.
      bool isStarved = processorSeconds() - begin < options_.timeoutSeconds * 0.5;
      if (!hangs_ && isStarved && periods < kPatience)
        continue;
      kill(pid_, hangs_ ? SIGKILL : SIGABRT); // the first says where it is
      hangs_ = true;
    }
    Header header;
    if (!readAll(reports_, &header, sizeof(header)))
      return false;
    report.text.resize(header.bytes);
    index = header.index;
    report.verdict = header.verdict;
    return readAll(reports_, report.text.data(), report.text.size());
  }

  // The report of the case that ended it; false where the cases are done, or that one
  // has been reported.
  bool finish(Report &report) {
    int status = 0;
    waitpid(pid_, &status, 0);
    isFinished_ = true;
    if (WIFEXITED(status)) {
      report = {Verdict::Refused, "exited with " + std::to_string(WEXITSTATUS(status))};
      return WEXITSTATUS(status) != kOutOfMemory;
    }
    std::string frames = describeCrash(crashes_);
    std::string how = hangs_ ? "hang" : strsignal(WTERMSIG(status));
    report.text = how + " while " + phaseName() + ": " + frames;
    report.verdict = judge(frames);
    return true;
  }

private:
  double processorSeconds() const {
    clockid_t clock;
    timespec used{};
    if (clock_getcpuclockid(pid_, &clock) == 0)
      clock_gettime(clock, &used);
    return double(used.tv_sec) + double(used.tv_nsec) * 1e-9;
  }

  Verdict judge(const std::string &frames) const {
    // A program may loop for ever by itself.
    if (hangs_ && *sharedPhase == Phase::RunSingle)
      return Verdict::Refused;
    if (frames.find("report_bad_alloc") != std::string::npos)
      return Verdict::Refused;
    std::string callees = frames.substr(0, frames.find("coll::fuzz::"));
    bool isOurs = callees.find("mlir::coll::") != std::string::npos;
    return *sharedPhase == Phase::Parse && !isOurs ? Verdict::Upstream : Verdict::Finding;
  }

  const GuardOptions &options_;
  pid_t pid_ = -1;
  int reports_ = -1, crashes_ = -1;
  bool hangs_ = false, isFinished_ = false;
};

} // namespace

void enterPhase(Phase phase) {
  if (sharedPhase)
    *sharedPhase = phase;
}

void runCases(int64_t first, int64_t last, const GuardOptions &options, const RunCase &runCase,
              const OnReport &onReport) {
  if (!sharedPhase)
    sharedPhase = static_cast<Phase *>(
        mmap(nullptr, sizeof(Phase), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  while (first < last) {
    int64_t end = std::min(last, first + options.casesPerChild), index = first;
    Child child(first, end, options, runCase);
    Report report;
    while (first < end && child.next(index, report)) {
      first = index + 1;
      if (!onReport(index, report))
        return;
    }
    bool isUnreported = child.finish(report);
    if (first < end && isUnreported && !onReport(first++, report))
      return;
  }
}

} // namespace coll::fuzz
