#include "tools/coll-perf/gathering.h"

#include "tools/coll-perf/output.h"
#include "tools/common/local_job.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::perf {

namespace {

// Time between the agreement on a start and the start; by then every rank knows it.
constexpr int64_t kRunUpUs = 3000;

// The status and the number of a rank, sent as plain bytes.
struct Report {
  int32_t code = 0;
  int32_t unused = 0;
  int64_t number = 0;
  char text[240] = {};
};

} // namespace

Result<std::unique_ptr<Gathering>> Gathering::open(const rt::JobOptions &job, int64_t timeoutUs) {
  net::BootstrapOptions options;
  options.rank = job.rank;
  options.worldSize = job.worldSize;
  options.address = job.bootstrap;
  options.iface = job.iface;
  options.listenFd = job.listenFd;
  options.timeoutUs = timeoutUs;
  Result<net::Secret> secret = net::Secret::create(job.secret);
  if (!secret)
    return secret.status();
  Result<std::unique_ptr<net::Bootstrap>> bootstrap = net::Bootstrap::create(options, *secret);
  if (!bootstrap)
    return bootstrap.status();
  std::unique_ptr<Gathering> gathering(new Gathering(bootstrap.take(), timeoutUs));
  COLL_RETURN_IF_ERROR(gathering->agree({}));
  return gathering;
}

Result<std::vector<std::string>> Gathering::swap(const std::string &mine) {
  return bootstrap_->allgather(mine, timeoutUs_);
}

Result<std::vector<int64_t>> Gathering::agree(const Status &mine, int64_t number) {
  Report report;
  report.code = mine.code();
  report.number = number;
  std::snprintf(report.text, sizeof report.text, "%s", mine.message().c_str());
  Result<std::vector<std::string>> all =
      swap({reinterpret_cast<const char *>(&report), sizeof report});
  if (!all)
    return mine.ok() ? all.status() : mine;
  std::vector<int64_t> numbers;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    Report said;
    std::memcpy(&said, (*all)[rank].data(), std::min(sizeof said, (*all)[rank].size()));
    said.text[sizeof said.text - 1] = 0;
    if (said.code != kCollOk)
      return Status(static_cast<CollCode>(said.code),
                    "rank " + std::to_string(rank) + ": " + said.text);
    numbers.push_back(said.number);
  }
  return numbers;
}

Result<int64_t> Gathering::commonStart() {
  Result<std::vector<int64_t>> clocks = agree({}, net::nowUs());
  if (!clocks)
    return clocks.status();
  const int64_t start = *std::max_element(clocks->begin(), clocks->end()) + kRunUpUs;
  while (net::nowUs() < start) {
  }
  return start;
}

Result<int> runProcesses(int ranks, const std::function<int(const rt::JobOptions &job)> &body) {
  Result<LocalJob> job = makeLocalJob(ranks);
  if (!job)
    return job.status();
  std::fflush(nullptr);
  std::vector<pid_t> processes;
  const pid_t parent = getpid();
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      endWithParent(parent);
      const int code = body(placeOf(*job, rank));
      std::fflush(nullptr);
      _exit(code);
    }
    processes.push_back(pid);
  }
  job->listener.reset();
  int worst = 0;
  // The bootstrap tells the other ranks of a lost rank; at the latest their deadline ends them.
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    int status = 1 << 8;
    if (processes[rank] < 0 || waitpid(processes[rank], &status, 0) < 0)
      status = 1 << 8;
    if (WIFSIGNALED(status))
      std::fprintf(stderr, "coll-perf: rank %zu was ended by signal %d\n", rank, WTERMSIG(status));
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (code != 0 && (worst == 0 || worst == kSkipped))
      worst = code;
  }
  return worst;
}

} // namespace coll::perf
