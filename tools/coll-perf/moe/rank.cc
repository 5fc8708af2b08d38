#include "tools/coll-perf/moe/rank.h"

#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/calls.h"
#include "tools/coll-perf/moe/cards.h"
#include "tools/coll-perf/moe/low_latency_rank.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/rows.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstdio>

namespace coll::perf {

namespace {

struct Figure {
  MoeCall call = MoeCall::Layout;
  int sms = 0;
  double us = 0;       // one call, slowest rank
  double received = 0; // tokens a rank, mean
};

class MoeRank {
public:
  MoeRank(const MoeTask &task, Gathering &ranks) : task_(task), ranks_(ranks) {}

  Status open(const rt::JobOptions &job);
  Result<std::vector<Figure>> measure();
  // Wrong values on all ranks in all checks; -1: none was made.
  int64_t wrong() const { return wrong_; }
  Status close();

private:
  Status checkAll(const rt::MoeConfig &config);
  Result<double> timeOnce(MoeCall call, const rt::MoeConfig &config);
  Result<Figure> measureCall(MoeCall call, const rt::MoeConfig &config);

  const MoeTask &task_;
  Gathering &ranks_;
  std::unique_ptr<net::Transport> transport_; // between nodes
  std::unique_ptr<MoeCalls> calls_;
  double received_ = 0;
  int64_t wrong_ = -1;
};

Status MoeRank::open(const rt::JobOptions &job) {
  Result<std::unique_ptr<net::Transport>> transport = connectNodes(task_, job);
  COLL_RETURN_IF_ERROR(ranks_.agree(transport.status()));
  transport_ = transport.take();
  Result<std::unique_ptr<MoeCalls>> calls =
      MoeCalls::create(task_, ranks_.rank(), transport_.get());
  COLL_RETURN_IF_ERROR(ranks_.agree(calls.status()));
  calls_ = calls.take();
  return syncAll(ranks_, calls_->buffer());
}

Status MoeRank::checkAll(const rt::MoeConfig &config) {
  Result<int64_t> mine = calls_->check(config);
  Result<std::vector<int64_t>> all = ranks_.agree(mine.status(), mine.ok() ? *mine : 0);
  if (!all)
    return all.status();
  wrong_ = std::max<int64_t>(wrong_, 0);
  for (int64_t count : *all)
    wrong_ += count;
  return Status::okay();
}

Result<double> MoeRank::timeOnce(MoeCall call, const rt::MoeConfig &config) {
  Status status;
  for (int i = 0; i < task_.warmup && status.ok(); ++i)
    status = calls_->call(call, config);
  if (status.ok())
    status = calls_->synchronize();
  COLL_RETURN_IF_ERROR(ranks_.agree(status));
  Result<int64_t> start = ranks_.commonStart();
  if (!start)
    return start.status();
  for (int i = 0; i < task_.iterations && status.ok(); ++i)
    status = calls_->call(call, config);
  if (status.ok())
    status = calls_->synchronize();
  Result<std::vector<int64_t>> all = ranks_.agree(status, net::nowUs() - *start);
  if (!all)
    return all.status();
  return static_cast<double>(*std::max_element(all->begin(), all->end())) / task_.iterations;
}

Result<Figure> MoeRank::measureCall(MoeCall call, const rt::MoeConfig &config) {
  std::vector<double> times;
  for (int i = 0; i < task_.repeat; ++i) {
    Result<double> us = timeOnce(call, config);
    if (!us)
      return us.status().annotate(nameOf(call));
    times.push_back(*us);
  }
  return Figure{call, config.numSms, median(times), received_};
}

double bytesOf(const MoeTask &task, const Figure &figure) {
  const double row = figure.call == MoeCall::DispatchFp8 ? task.hidden + 4.0 * task.numScales()
                                                         : task.hidden * 2.0;
  return figure.call == MoeCall::Layout ? 0 : figure.received * row;
}

Result<std::vector<Figure>> MoeRank::measure() {
  std::vector<Figure> figures;
  for (int sms : task_.sms) {
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
      COLL_RETURN_IF_ERROR(checkAll(config));
    // The check's dispatches are over on all ranks before others begin.
    COLL_RETURN_IF_ERROR(ranks_.agree(calls_->begin(config)));
    for (MoeCall call : task_.calls) {
      if ((call == MoeCall::DispatchFp8 && !task_.fp8) ||
          (call == MoeCall::Layout && sms != task_.sms[0]))
        continue;
      Result<Figure> figure = measureCall(call, config);
      if (!figure)
        return figure.status();
      figures.push_back(*figure);
      if (ranks_.rank() != 0)
        continue;
      std::printf("%-28s %5d %10.1f %8.1f\n", nameOf(call), sms, figure->us,
                  bytesOf(task_, *figure) / figure->us * 1e-3);
      std::fflush(stdout);
    }
  }
  return figures;
}

Status MoeRank::close() {
  // Nobody frees what others still read.
  COLL_RETURN_IF_ERROR(ranks_.agree(calls_->synchronize()));
  return calls_->buffer().destroy();
}

std::vector<Row> rowsOf(const MoeTask &task, const std::vector<Figure> &figures) {
  std::vector<Row> rows;
  for (const Figure &figure : figures) {
    Row row;
    row.caseName = std::string("moe ") + nameOf(figure.call) + ", " + std::to_string(task.ranks) +
                   " processes" +
                   (task.nodes > 1 ? " as " + std::to_string(task.nodes) + " nodes" : "") +
                   ", top-" + std::to_string(task.topk) + " of " + std::to_string(task.experts);
    row.size = std::to_string(task.tokens) + " x " + std::to_string(task.hidden);
    row.metric = "us, slowest rank";
    row.higherIsBetter = false;
    row.ours = figure.us;
    row.more = {{"sms", figure.sms},
                {"received_tokens", figure.received},
                {"received_gbps", bytesOf(task, figure) / figure.us * 1e-3}};
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<MoePoint> pointsOf(const MoeTask &task, const std::vector<Figure> &figures) {
  std::vector<MoePoint> points;
  for (const Figure &figure : figures)
    points.push_back(
        {nameOf(figure.call), figure.sms, figure.us, bytesOf(task, figure) / figure.us * 1e-3});
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

// Rank 0 reports; the process's exit code.
int finish(int rank, const MoeTask &task, const MoeReport &report, const MoeFiles &files) {
  if (rank != 0)
    return report.wrong > 0;
  std::printf("wrong values: %s\n", report.wrong < 0 ? "-" : std::to_string(report.wrong).c_str());
  if (Status written = writeFiles(task, report, files); !written.ok())
    return fail(written);
  return report.wrong > 0;
}

int runLowLatency(const MoeTask &task, Gathering &ranks, const rt::JobOptions &job,
                  const MoeFiles &files) {
  Result<MoeReport> report = measureLowLatency(task, ranks, job);
  if (!report)
    return fail(report.status(), ranks.rank());
  return finish(ranks.rank(), task, *report, files);
}

} // namespace

int runMoeRank(const MoeTask &task, const rt::JobOptions &job, const MoeFiles &files) {
  Result<std::unique_ptr<Gathering>> ranks = Gathering::open(job, task.timeoutUs + 30'000'000);
  if (!ranks)
    return fail(ranks.status(), job.rank);
  if (!task.lowLatencyTokens.empty())
    return runLowLatency(task, **ranks, job, files);
  MoeRank self(task, **ranks);
  if (Status opened = self.open(job); !opened.ok())
    return fail(opened, job.rank);
  if (job.rank == 0) {
    std::printf(
        "%s\nmoe: %d ranks, nodes: %d, %d tokens x %d, top-%d of %d experts\n%-28s %5s %10s %8s\n",
        machineName().c_str(), task.ranks, task.nodes, task.tokens, task.hidden, task.topk,
        task.experts, "call", "SMs", "us", "GB/s");
    std::fflush(stdout);
  }
  Result<std::vector<Figure>> figures = self.measure();
  if (!figures)
    return fail(figures.status(), job.rank);
  if (Status closed = self.close(); !closed.ok())
    return fail(closed, job.rank);
  return finish(job.rank, task, {rowsOf(task, *figures), pointsOf(task, *figures), self.wrong()},
                files);
}

} // namespace coll::perf
