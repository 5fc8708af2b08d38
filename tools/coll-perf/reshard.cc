// coll-perf reshard: a tensor changes its sharding, by our plans and in the ways of others.

#include "tools/coll-perf/command.h"
#include "tools/coll-perf/meeting_place.h"
#include "tools/coll-perf/op/options.h"
#include "tools/coll-perf/reshard/rank.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::perf {

namespace {

struct Words {
  ReshardWords reshard;
  std::string json, command;
};

int fail(const Status &status) {
  std::fprintf(stderr, "coll-perf: %s\n", status.toString().c_str());
  return status.code() == kCollInvalidCall ? 2 : 1;
}

// The driver has no threads and has not touched a GPU, so it may fork.
pid_t forkRank(const ReshardTask &task, rt::JobOptions job, const net::Fd &listener,
               const Words &words) {
  std::fflush(nullptr);
  const pid_t parent = getpid(), pid = ::fork();
  if (pid != 0)
    return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  job.listenFd = job.rank == 0 ? fcntl(listener.get(), F_DUPFD_CLOEXEC, 0) : -1;
  const int code = runReshardRank(task, job, words.json, words.command);
  std::fflush(nullptr);
  _exit(code);
}

int runReshard(const Words &words) {
  Result<ReshardTask> task = prepareReshard(words.reshard);
  if (!task)
    return fail(task.status());
  net::Fd listener;
  Result<rt::JobOptions> job = meetingPlace(task->ranks, listener);
  if (!job)
    return fail(job.status());
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < task->ranks; ++rank) {
    job->rank = rank;
    ranks.push_back(forkRank(*task, *job, listener, words));
  }
  listener.reset();
  int worst = 0;
  // Whoever loses a rank finds out by the bootstrap, or at the latest by its deadline.
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    int status = 0;
    if (ranks[rank] < 0 || waitpid(ranks[rank], &status, 0) < 0)
      status = 1 << 8;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (WIFSIGNALED(status))
      std::fprintf(stderr, "coll-perf: rank %zu was ended by signal %d\n", rank, WTERMSIG(status));
    if (code != 0 && (worst == 0 || worst == 77))
      worst = code;
  }
  return worst;
}

} // namespace

Command addReshard(CLI::App &app, int argc, char **argv) {
  auto words = std::make_shared<Words>();
  words->command = shownCommand(argc, argv);
  CLI::App *reshard = app.add_subcommand(
      "reshard", "a tensor goes from one sharding to another, between processes");
  reshard->footer(
      "Times are of the slowest rank, for one reshard of several in a row; GB/s is the tensor's "
      "size by\n"
      "that; between: what crosses from rank to rank. Ranks share GPUs where these are fewer.\n\n"
      "Examples:\n"
      "  coll-perf reshard --shape=4096x4096 --senders=2 --receivers=2\n"
      "  coll-perf reshard --memory=gpu --shape=51200x51200 --json=rows.jsonl\n"
      "  coll-perf reshard --memory=gpu --shape=51200x51200 --senders=4 --receivers=4 --same");
  addReshardOptions(*reshard, words->reshard);
  reshard->add_option("--json", words->json, "append rows to this file")->group("Output");
  return {reshard, [words] { return runReshard(*words); }};
}

} // namespace coll::perf
