//===- processes.cc - one process per rank on this machine ----------------------===//

#include "tools/coll-run/processes.h"

#include "compiler/error.h"
#include "driver/tensors.h"
#include "tools/common/local_job.h"
#include "tools/common/signals.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::run {
namespace {

/// The time that the others have to end by themselves after the first failure. Together with the
/// time that a failed rank waits for a peer that stands still (net::kHurriedLingerUs) it is less
/// than two seconds.
constexpr int64_t kGraceUs = 1'250'000;
/// Limit of one copy's report; the rest is read and dropped.
constexpr size_t kMaxReportBytes = 64 << 10;

constexpr int kUserSignals[] = {SIGINT, SIGTERM};
UserRequest request;
void onSignal(int number) { request.receive(number); }

struct Pipe {
  net::Fd read, write;
};

llvm::Expected<Pipe> makePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return makeError(llvm::Twine("cannot create a pipe: ") + std::strerror(errno));
  return Pipe{net::Fd(fds[0]), net::Fd(fds[1])};
}

struct Child {
  int rank = 0;
  pid_t pid = -1;
  net::Fd output, report;
  std::string line;   // of the output, not complete yet
  std::string reason; // its report
  bool hasEnded = false;
  int status = 0; // as waitpid's

  bool hasFailed() const { return hasEnded && status != 0; }
  /// Stopped by a signal after it had saved its work.
  bool wasStopped() const {
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == 128 + SIGINT || WEXITSTATUS(status) == 128 + SIGTERM);
  }
  int exitCode() const {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
};

/// Waits for the copies, passes on what they write, and ends them all when one fails.
class Supervisor {
public:
  explicit Supervisor(std::vector<Child> children) : children_(std::move(children)) {}
  ~Supervisor();

  /// Until all have ended.
  JobEnd run();

private:
  bool isAnyLeft() const;
  int timeoutMs() const;
  void readSome(Child &child);
  bool readPipe(net::Fd &fd, std::string &text);
  void passOn(Child &child, bool isEnd);
  void reap(Child &child);
  void signalAll(int number);
  void enforce();
  const Child &cause() const;
  std::string describeFailure() const;
  std::string describeEnd(const Child &child) const;

  std::vector<Child> children_;
  const Child *first_ = nullptr; // the first that failed
  int64_t failedUs_ = 0;         // when; 0: nothing has failed
  int lastSignal_ = 0;
};

Supervisor::~Supervisor() { signalAll(SIGKILL); }

bool Supervisor::isAnyLeft() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const Child &child) { return !child.hasEnded; });
}

// poll() always gets a timeout, because a signal may come right before it.
int Supervisor::timeoutMs() const { return failedUs_ || request.signal() ? 100 : 1000; }

JobEnd Supervisor::run() {
  while (isAnyLeft()) {
    std::vector<pollfd> fds;
    std::vector<Child *> owners;
    for (Child &child : children_)
      for (net::Fd *fd : {&child.output, &child.report})
        if (fd->valid()) {
          fds.push_back({fd->get(), POLLIN, 0});
          owners.push_back(&child);
        }
    if (poll(fds.data(), fds.size(), timeoutMs()) > 0)
      for (size_t i = 0; i < fds.size(); ++i)
        if (fds[i].revents)
          readSome(*owners[i]);
    enforce();
  }
  const int signal = request.signal();
  if (!signal && !first_)
    return {};
  JobEnd end;
  end.exitCode = signal ? 128 + signal : (first_->wasStopped() ? *first_ : cause()).exitCode();
  std::string why =
      signal ? std::string("ended by a signal: ") + strsignal(signal) : describeFailure();
  if (!signal && !first_->wasStopped())
    llvm::errs() << "coll-run: error: " << why << '\n';
  if (WIFSIGNALED(children_.front().status))
    end.unwritten = why;
  return end;
}

/// False at the end.
bool Supervisor::readPipe(net::Fd &fd, std::string &text) {
  char buffer[4096];
  ssize_t count = ::read(fd.get(), buffer, sizeof(buffer));
  if (count > 0)
    text.append(buffer, static_cast<size_t>(count));
  if (count > 0 || (count < 0 && errno == EINTR))
    return true;
  fd.reset();
  return false;
}

void Supervisor::readSome(Child &child) {
  pollfd ready[2] = {{child.output.get(), POLLIN, 0}, {child.report.get(), POLLIN, 0}};
  if (poll(ready, 2, 0) <= 0)
    return;
  if (child.output.valid() && ready[0].revents)
    passOn(child, !readPipe(child.output, child.line));
  if (child.report.valid() && ready[1].revents) {
    readPipe(child.report, child.reason);
    child.reason.resize(std::min(child.reason.size(), kMaxReportBytes));
  }
  // Only the copy itself held the other ends.
  if (!child.output.valid() && !child.report.valid() && !child.hasEnded)
    reap(child);
}

void Supervisor::passOn(Child &child, bool isEnd) {
  if (isEnd && !child.line.empty())
    child.line += '\n';
  size_t begin = 0;
  for (size_t end; (end = child.line.find('\n', begin)) != std::string::npos; begin = end + 1)
    llvm::errs() << "[rank " << child.rank << "] " << llvm::StringRef(child.line).slice(begin, end)
                 << '\n';
  child.line.erase(0, begin);
}

void Supervisor::reap(Child &child) {
  while (waitpid(child.pid, &child.status, 0) < 0 && errno == EINTR)
    ;
  child.hasEnded = true;
  if (!child.hasFailed() || failedUs_)
    return;
  first_ = &child;
  failedUs_ = net::nowUs();
}

void Supervisor::signalAll(int number) {
  for (const Child &child : children_)
    if (!child.hasEnded && child.pid > 0)
      kill(child.pid, number);
  lastSignal_ = number;
}

/// A copy that does not end by itself is killed. After a signal it may have to end a step and write
/// a file, for which it has unlimited time unless the user signals again.
void Supervisor::enforce() {
  if (request.signal() && !lastSignal_)
    signalAll(request.signal());
  bool isLate = request.isImpatient() || (failedUs_ && net::nowUs() > failedUs_ + kGraceUs);
  if (isLate && lastSignal_ != SIGKILL)
    signalAll(SIGKILL);
}

std::string Supervisor::describeEnd(const Child &child) const {
  std::string who = "rank " + std::to_string(child.rank);
  if (WIFSIGNALED(child.status)) {
    int number = WTERMSIG(child.status);
    bool isCrash = number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGILL ||
                   number == SIGFPE;
    return who + (isCrash ? " crashed: signal " : " was killed: signal ") + std::to_string(number) +
           " (" + strsignal(number) + ")" +
           (isCrash ? "; the input is corrupt, or this is a bug in coll-run" : "");
  }
  if (child.reason.empty())
    return who + " ended with exit status " + std::to_string(WEXITSTATUS(child.status));
  return who + ": " + child.reason;
}

/// The copy whose end stands for all: one that was killed, or else one that failed by itself and
/// was not merely told so. It need not be the first that was seen to end.
const Child &Supervisor::cause() const {
  auto distance = [&](const Child &child) {
    if (!child.hasFailed())
      return 5;
    if (WIFSIGNALED(child.status))
      return lastSignal_ && &child != first_ ? 4 : 0;
    if (child.reason.empty())
      return 3;
    return llvm::StringRef(child.reason).contains("aborted: ") ? 2 : 1;
  };
  return *std::min_element(children_.begin(), children_.end(), [&](const Child &a, const Child &b) {
    return distance(a) < distance(b);
  });
}

/// A reason that all copies give is reported without a rank.
std::string Supervisor::describeFailure() const {
  const Child *cause = &this->cause();
  bool isSame = std::all_of(children_.begin(), children_.end(), [&](const Child &child) {
    return child.hasFailed() && !cause->reason.empty() &&
           llvm::StringRef(child.reason).starts_with(cause->reason);
  });
  // Rank 0 checks and writes for all.
  bool isRootAlone = cause->rank == 0 && !cause->reason.empty() &&
                     std::none_of(children_.begin() + 1, children_.end(),
                                  [](const Child &child) { return child.hasFailed(); });
  return isSame || isRootAlone ? cause->reason : describeEnd(*cause);
}

//===-- starting ----------------------------------------------------------------===//

/// In a copy, right after the fork.
Place becomeRank(int rank, const LocalJob &job, Pipe &output, Pipe &report, pid_t parent) {
  endWithParent(parent);
  for (int number : kUserSignals)
    handleUserSignal(number, SIG_DFL);
  Place place;
  place.launcher = "coll-run";
  place.job = placeOf(job, rank);
  if (rank > 0) {
    dup2(output.write.get(), STDOUT_FILENO);
    dup2(output.write.get(), STDERR_FILENO);
  }
  place.reportFd = fcntl(report.write.get(), F_DUPFD_CLOEXEC, 0);
  return place;
}

} // namespace

llvm::Expected<std::optional<Place>> startProcesses(int ranks, JobEnd &end) {
  auto job = toExpected(makeLocalJob(ranks));
  if (!job)
    return job.takeError();
  for (int number : kUserSignals)
    handleUserSignal(number, onSignal);
  llvm::outs().flush();
  pid_t parent = getpid();
  std::vector<Child> children;
  for (int rank = 0; rank < ranks; ++rank) {
    llvm::Expected<Pipe> output = makePipe();
    if (!output)
      return output.takeError();
    llvm::Expected<Pipe> report = makePipe();
    if (!report)
      return report.takeError();
    Child child;
    child.rank = rank;
    child.pid = fork();
    if (child.pid == 0)
      return becomeRank(rank, *job, *output, *report, parent);
    if (child.pid < 0) {
      Supervisor give(std::move(children)); // ends those that run
      return makeError("cannot start rank " + llvm::Twine(rank) + ": " + std::strerror(errno));
    }
    if (rank > 0)
      child.output = std::move(output->read);
    child.report = std::move(report->read);
    children.push_back(std::move(child));
  }
  job->listener.reset();
  end = Supervisor(std::move(children)).run();
  return std::nullopt;
}

} // namespace coll::run
