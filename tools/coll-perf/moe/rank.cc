#include "tools/coll-perf/moe/rank.h"

#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/calls.h"
#include "tools/coll-perf/moe/cards.h"
#include "tools/coll-perf/moe/low_latency_rank.h"
#include "tools/coll-perf/moe/nccl_peer.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/rows.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace coll::perf {

namespace {

struct Figure {
  MoeCall call = MoeCall::Layout;
  int sms = 0;
  double us = 0;       // one call, slowest rank
  double received = 0; // tokens a rank, mean
};
// Results of one task.
struct Measured {
  std::vector<Figure> ours, peers; // peers: one for each call
  std::string peerName;
};

class MoeRank {
public:
  MoeRank(const MoeTask &task, Gathering &ranks) : task_(task), ranks_(ranks) {}

  Status open(const rt::JobOptions &job);
  Result<Measured> measure();
  // The number of wrong values on all ranks in all checks; -1: not checked.
  int64_t wrong() const { return wrong_; }
  Status close();

private:
  using Step = std::function<Status()>;

  bool isWanted(MoeCall call) const { return call != MoeCall::DispatchFp8 || task_.fp8; }
  Status addWrong(const Result<int64_t> &mine);
  // Returns the time of `work` on the slowest rank.
  Result<double> timeOnce(const Step &work, const Step &synchronize);
  Result<Figure> measureCall(MoeCall call, int sms, const Step &work, const Step &synchronize);
  Status measureOurs(int sms, std::vector<Figure> &figures);
  // Does nothing if NCCL is not available.
  Status measurePeer(Measured &measured);
  void print(const std::string &name, const Figure &figure) const;

  const MoeTask &task_;
  Gathering &ranks_;
  std::unique_ptr<net::Transport> transport_; // between nodes
  std::unique_ptr<MoeCalls> calls_;
  double received_ = 0;
  int64_t wrong_ = -1;
};

Status MoeRank::open(const rt::JobOptions &job) {
  return openCalls(task_, job, ranks_, transport_, calls_);
}

Status MoeRank::addWrong(const Result<int64_t> &mine) {
  Result<std::vector<int64_t>> all = ranks_.agree(mine.status(), mine.ok() ? *mine : 0);
  if (!all)
    return all.status();
  wrong_ = std::max<int64_t>(wrong_, 0);
  for (int64_t count : *all)
    wrong_ += count;
  return Status::okay();
}

Result<double> MoeRank::timeOnce(const Step &work, const Step &synchronize) {
  Status status;
  for (int i = 0; i < task_.warmup && status.ok(); ++i)
    status = work();
  if (status.ok())
    status = synchronize();
  COLL_RETURN_IF_ERROR(ranks_.agree(status));
  Result<int64_t> start = ranks_.commonStart();
  if (!start)
    return start.status();
  for (int i = 0; i < task_.iterations && status.ok(); ++i)
    status = work();
  if (status.ok())
    status = synchronize();
  Result<std::vector<int64_t>> all = ranks_.agree(status, net::nowUs() - *start);
  if (!all)
    return all.status();
  return static_cast<double>(*std::max_element(all->begin(), all->end())) / task_.iterations;
}

Result<Figure> MoeRank::measureCall(MoeCall call, int sms, const Step &work,
                                    const Step &synchronize) {
  std::vector<double> times;
  for (int i = 0; i < task_.repeat; ++i) {
    Result<double> us = timeOnce(work, synchronize);
    if (!us)
      return us.status().annotate(nameOf(call));
    times.push_back(*us);
  }
  return Figure{call, sms, median(times), received_};
}

double bytesOf(const MoeTask &task, const Figure &figure) {
  const double row = figure.call == MoeCall::DispatchFp8 ? task.hidden + 4.0 * task.numScales()
                                                         : task.hidden * 2.0;
  return figure.call == MoeCall::Layout ? 0 : figure.received * row;
}

void MoeRank::print(const std::string &name, const Figure &figure) const {
  if (ranks_.rank() != 0)
    return;
  std::printf("%-28s %5s %10.1f %8.1f\n", name.c_str(),
              figure.sms ? std::to_string(figure.sms).c_str() : "", figure.us,
              bytesOf(task_, figure) / figure.us * 1e-3);
  std::fflush(stdout);
}

Status MoeRank::measureOurs(int sms, std::vector<Figure> &figures) {
  rt::MoeConfig config;
  config.numSms = sms;
  COLL_RETURN_IF_ERROR(ranks_.agree(calls_->begin(config)));
  Result<std::vector<int64_t>> received = ranks_.agree({}, calls_->numReceived());
  if (!received)
    return received.status();
  received_ = 0;
  for (int64_t count : *received)
    received_ += static_cast<double>(count) / task_.ranks;
  if (task_.check)
    COLL_RETURN_IF_ERROR(addWrong(calls_->check(config)));
  // The check's dispatches must have ended on all ranks before others begin.
  COLL_RETURN_IF_ERROR(ranks_.agree(calls_->begin(config)));
  for (MoeCall call : task_.calls) {
    if (!isWanted(call) || (call == MoeCall::Layout && sms != task_.sms[0]))
      continue;
    Result<Figure> figure = measureCall(
        call, sms, [&] { return calls_->call(call, config); },
        [&] { return calls_->synchronize(); });
    if (!figure)
      return figure.status();
    figures.push_back(*figure);
    print(nameOf(call), *figure);
  }
  return Status::okay();
}

Status MoeRank::measurePeer(Measured &measured) {
  Result<std::unique_ptr<NcclMoePeer>> made = NcclMoePeer::join(task_, ranks_);
  if (!made || !*made)
    return made.status();
  NcclMoePeer &peer = **made;
  measured.peerName = peer.name();
  if (task_.check)
    COLL_RETURN_IF_ERROR(addWrong(peer.check()).annotate("NCCL"));
  for (MoeCall call : task_.calls) {
    if (!isWanted(call) || !NcclMoePeer::has(call))
      continue;
    Result<Figure> figure =
        measureCall(call, 0, [&] { return peer.call(call); }, [&] { return peer.synchronize(); });
    if (!figure)
      return figure.status().annotate("NCCL");
    measured.peers.push_back(*figure);
    print(std::string("NCCL ") + nameOf(call), *figure);
  }
  // No rank leaves while others still send to it.
  return ranks_.agree(peer.synchronize());
}

Result<Measured> MoeRank::measure() {
  Measured measured;
  for (int sms : task_.sms)
    COLL_RETURN_IF_ERROR(measureOurs(sms, measured.ours));
  if (task_.nccl)
    COLL_RETURN_IF_ERROR(measurePeer(measured));
  return measured;
}

Status MoeRank::close() {
  // No rank frees memory that others still read.
  COLL_RETURN_IF_ERROR(ranks_.agree(calls_->synchronize()));
  return calls_->buffer().destroy();
}

// Returns the figure of NCCL that a call is compared with, or null.
const Figure *peerOf(const Measured &measured, MoeCall call) {
  const MoeCall same = call == MoeCall::CombineCopied ? MoeCall::Combine : call;
  for (const Figure &peer : measured.peers)
    if (peer.call == same)
      return &peer;
  return nullptr;
}

std::vector<Row> rowsOf(const MoeTask &task, const Measured &measured) {
  std::vector<Row> rows;
  for (const Figure &figure : measured.ours) {
    Row row;
    row.caseName = std::string("moe ") + nameOf(figure.call) + ", " + std::to_string(task.ranks) +
                   " processes" +
                   (task.nodes > 1 ? " as " + std::to_string(task.nodes) + " nodes" : "") +
                   task.routes();
    row.size = std::to_string(task.tokens) + " x " + std::to_string(task.hidden);
    row.metric = "us, slowest rank";
    row.higherIsBetter = false;
    row.ours = figure.us;
    if (const Figure *peer = peerOf(measured, figure.call)) {
      row.peer = peer->us;
      row.peerName = measured.peerName;
    }
    row.more = {{"sms", figure.sms},
                {"received_tokens", figure.received},
                {"received_gbps", bytesOf(task, figure) / figure.us * 1e-3}};
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<MoePoint> pointsOf(const MoeTask &task, const Measured &measured) {
  std::vector<MoePoint> points;
  for (const Figure &figure : measured.ours)
    points.push_back(
        {nameOf(figure.call), figure.sms, figure.us, bytesOf(task, figure) / figure.us * 1e-3});
  // NCCL's figures are the same for each number of multiprocessors.
  for (const Figure &figure : measured.peers)
    for (int sms : task.sms)
      points.push_back({std::string("NCCL ") + nameOf(figure.call), sms, figure.us,
                        bytesOf(task, figure) / figure.us * 1e-3});
  return points;
}

Status writeFiles(const MoeTask &task, const MoeReport &report, const MoeFiles &files) {
  if (!files.json.empty())
    COLL_RETURN_IF_ERROR(appendRows(files.json, files.command, report.rows));
  if (files.plot.empty())
    return Status::okay();
  const bool isLowLatency = !task.lowLatencyTokens.empty();
  const std::string title = std::string("coll-perf moe") + (isLowLatency ? " --low-latency" : "") +
                            ": " + std::to_string(task.ranks) + " ranks, top-" +
                            std::to_string(task.topk) + " of " + std::to_string(task.experts);
  return writePlot(files.plot, title,
                   moeCharts(report.points, isLowLatency ? "tokens" : "multiprocessors"));
}

// Rank 0 reports; returns the exit code.
int finish(int rank, const MoeTask &task, const MoeReport &report, const MoeFiles &files) {
  if (rank != 0)
    return report.wrong > 0;
  std::printf("wrong values: %s\n", report.wrong < 0 ? "-" : std::to_string(report.wrong).c_str());
  if (Status written = writeFiles(task, report, files); !written.ok())
    return fail(written);
  return report.wrong > 0;
}

Result<MoeReport> measureNormal(const MoeTask &task, Gathering &ranks, const rt::JobOptions &job) {
  MoeRank self(task, ranks);
  COLL_RETURN_IF_ERROR(self.open(job));
  if (ranks.rank() == 0) {
    std::printf("%s\nmoe: %d ranks, nodes: %d, %d tokens x %d%s\n%-28s %5s %10s %8s\n",
                machineName().c_str(), task.ranks, task.nodes, task.tokens, task.hidden,
                task.routes().c_str(), "call", "SMs", "us", "GB/s");
    std::fflush(stdout);
  }
  Result<Measured> measured = self.measure();
  if (!measured)
    return measured.status();
  COLL_RETURN_IF_ERROR(self.close());
  return MoeReport{rowsOf(task, *measured), pointsOf(task, *measured), self.wrong()};
}

// `of` is added to the names of the report's curves to distinguish them from others; it may be
// empty.
void append(MoeReport &all, const MoeReport &one, const std::string &of) {
  all.rows.insert(all.rows.end(), one.rows.begin(), one.rows.end());
  for (MoePoint point : one.points) {
    point.curve += of;
    all.points.push_back(std::move(point));
  }
  if (one.wrong >= 0)
    all.wrong = std::max<int64_t>(all.wrong, 0) + one.wrong;
}

} // namespace

int runMoeRank(const std::vector<MoeTask> &tasks, const rt::JobOptions &job,
               const MoeFiles &files) {
  const MoeTask &first = tasks.front();
  Result<std::unique_ptr<Gathering>> ranks = Gathering::open(job, first.timeoutUs + 30'000'000);
  if (!ranks)
    return fail(ranks.status(), job.rank);
  MoeReport all;
  for (const MoeTask &task : tasks) {
    const std::string of =
        tasks.size() == 1 ? ""
                          : ", " + std::to_string(task.tokens) + " tokens, " + nameOf(task.skew);
    Result<MoeReport> report = task.lowLatencyTokens.empty()
                                   ? measureNormal(task, **ranks, job)
                                   : measureLowLatency(task, **ranks, job);
    if (!report)
      return fail(report.status(), job.rank);
    append(all, *report, of);
  }
  return finish(job.rank, first, all, files);
}

} // namespace coll::perf
