#include "tools/coll-perf/op/team.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::perf {

namespace {

using Json = nlohmann::json;

// Limits in addition to the backend's own deadline: for the start, and between two signs of life.
// Once one rank has failed, the others have kSilenceUs to notice it.
constexpr int64_t kStartUs = 120'000'000;
constexpr int64_t kSilenceUs = 10'000'000;
constexpr int64_t kTurnUs = 5'000;
constexpr int64_t kGraceUs = 2'000'000;

} // namespace

Status Team::fork(int rank, const std::optional<LocalJob> &job) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return net::linkError("socketpair", errno);
  net::Fd mine(ends[0]), theirs(ends[1]);
  std::fflush(nullptr);
  pid_t parent = getpid(), pid = ::fork();
  if (pid < 0)
    return net::linkError("fork", errno);
  if (pid == 0) {
    endWithParent(parent);
    mine.reset();
    workers_.clear(); // the driver's ends of the other workers' sockets
    std::optional<rt::JobOptions> own;
    if (job)
      own = placeOf(*job, rank);
    LineSocket driver(std::move(theirs));
    int code = runWorker(plan_, side_, own, driver);
    std::fflush(nullptr);
    _exit(code);
  }
  Worker worker;
  worker.pid = pid;
  worker.socket = std::make_unique<LineSocket>(std::move(mine));
  worker.name = job ? "rank " + std::to_string(rank) : "the process of all ranks";
  workers_.push_back(std::move(worker));
  return {};
}

Result<std::unique_ptr<Team>> Team::start(const OpPlan &plan, const Side &side) {
  std::unique_ptr<Team> team(new Team(plan, side));
  std::optional<LocalJob> job;
  if (side.processes) {
    Result<LocalJob> made = makeLocalJob(plan.ranks);
    if (!made)
      return made.status();
    job = made.take();
  }
  for (int rank = 0; rank < (job ? plan.ranks : 1); ++rank)
    COLL_RETURN_IF_ERROR(team->fork(rank, job));
  Status first;
  for (const Result<std::string> &ready : team->answers(plan.timeoutUs + kStartUs)) {
    if (!ready && (first.ok() || first.code() == kCollAborted || first.code() == kCollPeer))
      first = ready.status();
  }
  if (!first.ok())
    return first;
  return team;
}

std::optional<Result<std::string>> Team::hear(Worker &worker, int64_t silenceUs, int64_t endUs) {
  Result<std::string> heard = worker.socket->receive(kTurnUs);
  const int64_t now = net::nowUs();
  if (!heard && heard.status().code() == kCollTimeout &&
      now < std::min(worker.heardUs + silenceUs, endUs))
    return std::nullopt;
  if (!heard)
    return Result<std::string>(
        (heard.status().code() == kCollPeer ? Status(kCollPeer, endOf(worker)) : heard.status())
            .annotate(side_.label + ", " + worker.name +
                      (worker.at.empty() ? "" : ", last seen at its " + worker.at)));
  const std::string line = heard.take();
  const Json answer = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (answer.is_discarded() || !answer.is_object())
    return Result<std::string>(
        Status::internal(side_.label + ", " + worker.name + " answers \"" + line + "\""));
  worker.heardUs = now;
  worker.at = answer.value("at", std::string());
  if (!worker.at.empty())
    return std::nullopt;
  if (answer.contains("error"))
    return Result<std::string>(
        Status(static_cast<CollCode>(answer.value("code", static_cast<int>(kCollInternal))),
               answer.value("error", std::string())));
  return Result<std::string>(line);
}

// Polls the workers in turn, so that the end of one is noticed while another is silent.
std::vector<Result<std::string>> Team::answers(int64_t silenceUs) {
  std::vector<std::optional<Result<std::string>>> heard(workers_.size());
  for (Worker &worker : workers_)
    worker.heardUs = net::nowUs();
  int64_t endUs = std::numeric_limits<int64_t>::max();
  for (size_t left = workers_.size(); left > 0;)
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (heard[i] || !(heard[i] = hear(workers_[i], silenceUs, endUs)))
        continue;
      --left;
      if (!*heard[i])
        endUs = std::min(endUs, net::nowUs() + kSilenceUs);
    }
  std::vector<Result<std::string>> answers;
  for (std::optional<Result<std::string>> &answer : heard)
    answers.push_back(std::move(*answer));
  return answers;
}

std::string Team::endOf(Worker &worker) {
  int status = 0;
  const int64_t deadline = net::nowUs() + kGraceUs;
  while (waitpid(worker.pid, &status, WNOHANG) == 0) {
    if (net::nowUs() > deadline)
      return "its process closed the connection";
    usleep(1000);
  }
  worker.pid = 0;
  return WIFSIGNALED(status)
             ? "its process was ended by signal " + std::to_string(WTERMSIG(status))
             : "its process has ended with code " + std::to_string(WEXITSTATUS(status));
}

Result<OpFigure> Team::measure(const Task &task) {
  Json order = {{"bytes", task.bytes},
                {"in_place", task.place == Placement::In},
                {"timing", static_cast<int>(task.timing)}};
  for (Worker &worker : workers_)
    COLL_RETURN_IF_ERROR(
        worker.socket->send(order.dump()).annotate(side_.label + ", " + worker.name));
  OpFigure figure;
  Status first;
  int count = 0;
  const std::vector<Result<std::string>> lines = answers(plan_.timeoutUs + kSilenceUs);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i]) {
      // The reason is a process that has ended; the failures of the others follow from it.
      if (first.ok() || first.code() == kCollAborted || workers_[i].pid == 0)
        first = lines[i].status();
      continue;
    }
    const Json answer = Json::parse(*lines[i]);
    const Json ranks = answer.value("ranks", Json::array());
    for (const Json &rank : ranks) {
      double us = rank.value("us", 0.0);
      int64_t wrong = rank.value("wrong", int64_t(-1));
      figure.minUs = count == 0 ? us : std::min(figure.minUs, us);
      if (us > figure.maxUs)
        figure.slowest = rank.value("rank", 0);
      figure.maxUs = std::max(figure.maxUs, us);
      figure.avgUs += us;
      if (wrong >= 0)
        figure.wrong = std::max<int64_t>(figure.wrong, 0) + wrong;
      ++count;
    }
  }
  if (!first.ok())
    return first;
  figure.avgUs /= std::max(count, 1);
  return figure;
}

Team::~Team() {
  // Tells them to end. Closing the socket is not enough, because processes of later teams hold
  // copies of this end.
  for (Worker &worker : workers_)
    shutdown(worker.socket->fd(), SHUT_RDWR);
  int64_t deadline = net::nowUs() + kGraceUs;
  for (Worker &worker : workers_) {
    while (worker.pid > 0 && waitpid(worker.pid, nullptr, WNOHANG) == 0) {
      if (net::nowUs() > deadline)
        kill(worker.pid, SIGKILL);
      usleep(1000);
    }
  }
}

} // namespace coll::perf
