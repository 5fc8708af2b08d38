#include "tools/coll-perf/moe/low_latency_rank.h"

#include "tools/coll-perf/moe/cards.h"
#include "tools/coll-perf/moe/low_latency_calls.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

namespace coll::perf {

namespace {

using Clock = std::chrono::steady_clock;

// Of one call, in ns.
struct Times {
  int64_t median = 0, p99 = 0;

  static Times of(const std::vector<double> &samples) {
    return {static_cast<int64_t>(coll::perf::median(samples)),
            static_cast<int64_t>(quantile(samples, 0.99))};
  }
};

struct Figure {
  const LowLatencyPair *pair;
  int tokens, sms;
  Times inARow, alone; // calls; a round's two calls count as one
  int64_t received;    // rows a rank, mean
};

// Calls on a stream, made into a graph.
class Graph {
public:
  Graph(LowLatencyCalls &calls, const LowLatencyPair &pair, int pairs, int sms)
      : calls_(calls), cuda_(calls.room().cuda()) {
    status_ = capture(pair, pairs, sms);
  }
  ~Graph() {
    if (exec_)
      (void)cuda_.graphExecDestroy(exec_);
    if (graph_)
      (void)cuda_.graphDestroy(graph_);
  }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  const Status &status() const { return status_; }
  Status launch() {
    rt::dl::CudaScope scope(cuda_, calls_.room().gpu()->context());
    return driver(cuda_.graphLaunch(exec_, calls_.stream()), "cuGraphLaunch");
  }

private:
  Status driver(rt::dl::CudaResult result, const char *call) const {
    return calls_.room().gpu()->check(result, call);
  }
  Status capture(const LowLatencyPair &pair, int pairs, int sms) {
    rt::dl::CudaScope scope(cuda_, calls_.room().gpu()->context());
    COLL_RETURN_IF_ERROR(
        driver(cuda_.streamBeginCapture(calls_.stream(), rt::dl::kCudaCaptureThreadLocal),
               "cuStreamBeginCapture"));
    Status made;
    for (int i = 0; i < 2 * pairs && made.ok(); ++i)
      made = calls_.call(pair, i % 2, sms);
    const Status ended =
        driver(cuda_.streamEndCapture(calls_.stream(), &graph_), "cuStreamEndCapture");
    COLL_RETURN_IF_ERROR(made);
    COLL_RETURN_IF_ERROR(ended);
    return driver(cuda_.graphInstantiate(&exec_, graph_, 0), "cuGraphInstantiate");
  }

  LowLatencyCalls &calls_;
  const rt::dl::Cuda &cuda_;
  rt::dl::CudaGraph graph_ = nullptr;
  rt::dl::CudaGraphExec exec_ = nullptr;
  Status status_;
};

class LowLatencyRank {
public:
  LowLatencyRank(const MoeTask &task, Gathering &ranks) : task_(task), ranks_(ranks) {}

  Status open(const rt::JobOptions &job);
  Result<MoeReport> measure();
  Status close();

private:
  Status measureTokens(int tokens, int sms, MoeReport &report);
  Result<Figure> measurePair(const LowLatencyPair &pair, int tokens, int sms);
  // `work`: to be done `calls` calls at a time, and waited for.
  Result<Times> time(const std::function<Status()> &work, int calls);
  Status checkAll(int sms, MoeReport &report);
  void print(const Figure &figure) const;
  Row rowOf(const Figure &figure) const;
  MoePoint pointOf(const Figure &figure) const;

  const MoeTask &task_;
  Gathering &ranks_;
  std::unique_ptr<net::Transport> transport_; // between nodes
  std::unique_ptr<LowLatencyCalls> calls_;
};

Status LowLatencyRank::open(const rt::JobOptions &job) {
  Result<std::unique_ptr<net::Transport>> transport = connectNodes(task_, job);
  COLL_RETURN_IF_ERROR(ranks_.agree(transport.status()));
  transport_ = transport.take();
  Result<std::unique_ptr<LowLatencyCalls>> calls =
      LowLatencyCalls::create(task_, ranks_.rank(), transport_.get());
  COLL_RETURN_IF_ERROR(ranks_.agree(calls.status()));
  calls_ = calls.take();
  return syncAll(ranks_, calls_->buffer());
}

Result<Times> LowLatencyRank::time(const std::function<Status()> &work, int calls) {
  const auto once = [&] {
    COLL_RETURN_IF_ERROR(work());
    return calls_->synchronize();
  };
  Status status;
  for (int i = 0; i < task_.warmup && status.ok(); ++i)
    status = once();
  COLL_RETURN_IF_ERROR(ranks_.agree(status));
  if (Result<int64_t> start = ranks_.commonStart(); !start)
    return start.status();
  std::vector<double> samples;
  for (int i = 0; i < task_.repeat && status.ok(); ++i) {
    const Clock::time_point begin = Clock::now();
    status = once();
    samples.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
                      calls);
  }
  // Of the slowest rank.
  Times times = Times::of(samples);
  for (int64_t *value : {&times.median, &times.p99}) {
    Result<std::vector<int64_t>> all = ranks_.agree(status, *value);
    if (!all)
      return all.status();
    *value = *std::max_element(all->begin(), all->end());
  }
  return times;
}

Result<Figure> LowLatencyRank::measurePair(const LowLatencyPair &pair, int tokens, int sms) {
  Figure figure = {&pair, tokens, sms, {}, {}, 0};
  const int callsOfPair = pair.isRound() ? 1 : 2;
  Result<Times> alone = time(
      [&] {
        COLL_RETURN_IF_ERROR(calls_->call(pair, 0, sms));
        return pair.isRound() ? calls_->call(pair, 1, sms) : Status::okay();
      },
      1);
  if (!alone)
    return alone.status().annotate(pair.name);
  figure.alone = *alone;
  Graph graph(*calls_, pair, task_.iterations, sms);
  COLL_RETURN_IF_ERROR(ranks_.agree(graph.status()));
  Result<Times> inARow = time([&] { return graph.launch(); }, callsOfPair * task_.iterations);
  if (!inARow)
    return inARow.status().annotate(pair.name);
  figure.inARow = *inARow;
  Result<int64_t> mine = calls_->numReceived();
  Result<std::vector<int64_t>> received = ranks_.agree(mine.status(), mine.ok() ? *mine : 0);
  if (!received)
    return received.status();
  for (int64_t count : *received)
    figure.received += count / task_.ranks;
  return figure;
}

Status LowLatencyRank::checkAll(int sms, MoeReport &report) {
  Result<int64_t> mine = calls_->check(sms);
  Result<std::vector<int64_t>> all = ranks_.agree(mine.status(), mine.ok() ? *mine : 0);
  if (!all)
    return all.status();
  report.wrong = std::max<int64_t>(report.wrong, 0);
  for (int64_t count : *all)
    report.wrong += count;
  return Status::okay();
}

// Bytes of rows that a rank gets from experts, or sends them.
double bytesOf(const MoeTask &task, const Figure &figure) {
  const double fp8 = task.hidden + 4.0 * task.numScales(), bf16 = task.hidden * 2.0;
  const double sent = figure.pair->fp8 ? fp8 : bf16;
  const double back = figure.pair->log ? task.hidden * 1.25 + 4.0 * task.numScales() : bf16;
  double bytes = 0;
  for (bool dispatches : figure.pair->isDispatch)
    bytes += (dispatches ? sent : back) / (figure.pair->isRound() ? 1 : 2);
  return bytes * static_cast<double>(figure.received);
}

double us(int64_t ns) { return static_cast<double>(ns) * 1e-3; }

void LowLatencyRank::print(const Figure &figure) const {
  if (ranks_.rank() != 0)
    return;
  std::printf("%-28s %6d %5d %9.2f %9.2f %9.2f %9.2f %8.1f\n", figure.pair->name, figure.tokens,
              figure.sms, us(figure.inARow.median), us(figure.inARow.p99), us(figure.alone.median),
              us(figure.alone.p99), bytesOf(task_, figure) / us(figure.inARow.median) * 1e-3);
  std::fflush(stdout);
}

Row LowLatencyRank::rowOf(const Figure &figure) const {
  Row row;
  row.caseName = std::string("moe low latency, ") +
                 (figure.pair->hooked ? "dispatch fp8 + combine bf16, hooks" : figure.pair->name) +
                 ", " + std::to_string(task_.ranks) + " processes" +
                 (task_.nodes > 1 ? " as " + std::to_string(task_.nodes) + " nodes" : "") +
                 task_.routes();
  row.size = std::to_string(figure.tokens) + " x " + std::to_string(task_.hidden);
  row.metric = "us in a graph, slowest rank";
  row.higherIsBetter = false;
  row.ours = us(figure.inARow.median);
  row.more = {{"p99", us(figure.inARow.p99)},
              {"alone", us(figure.alone.median)},
              {"alone_p99", us(figure.alone.p99)},
              {"sms", figure.sms},
              {"received_rows", static_cast<double>(figure.received)},
              {"gbps", bytesOf(task_, figure) / us(figure.inARow.median) * 1e-3}};
  return row;
}

MoePoint LowLatencyRank::pointOf(const Figure &figure) const {
  const bool isOneOfMany = task_.sms.size() > 1;
  const double time = us(figure.inARow.median);
  return {figure.pair->name + (isOneOfMany ? ", " + std::to_string(figure.sms) + " SMs" : ""),
          figure.tokens, time, bytesOf(task_, figure) / time * 1e-3};
}

Status LowLatencyRank::measureTokens(int tokens, int sms, MoeReport &report) {
  calls_->use(tokens);
  if (task_.check)
    COLL_RETURN_IF_ERROR(checkAll(sms, report));
  for (const LowLatencyPair &pair : lowLatencyPairs()) {
    if (pair.fp8 && !task_.fp8)
      continue;
    Result<Figure> figure = measurePair(pair, tokens, sms);
    if (!figure)
      return figure.status();
    print(*figure);
    report.rows.push_back(rowOf(*figure));
    report.points.push_back(pointOf(*figure));
  }
  return Status::okay();
}

Result<MoeReport> LowLatencyRank::measure() {
  if (ranks_.rank() == 0) {
    std::printf("%s\nmoe, low latency: %d ranks, nodes: %d, hidden %d%s\n"
                "%-28s %6s %5s %9s %9s %9s %9s %8s\n",
                machineName().c_str(), task_.ranks, task_.nodes, task_.hidden,
                task_.routes().c_str(), "call", "tokens", "SMs", "us", "p99", "alone", "p99",
                "GB/s");
    std::fflush(stdout);
  }
  MoeReport report;
  for (int sms : task_.sms)
    for (int tokens : task_.lowLatencyTokens)
      COLL_RETURN_IF_ERROR(measureTokens(tokens, sms, report));
  return report;
}

Status LowLatencyRank::close() {
  // Nobody frees what others still write to.
  COLL_RETURN_IF_ERROR(ranks_.agree(calls_->synchronize()));
  return calls_->buffer().destroy();
}

} // namespace

Result<MoeReport> measureLowLatency(const MoeTask &task, Gathering &ranks,
                                    const rt::JobOptions &job) {
  LowLatencyRank self(task, ranks);
  COLL_RETURN_IF_ERROR(self.open(job));
  Result<MoeReport> report = self.measure();
  if (report.ok())
    COLL_RETURN_IF_ERROR(self.close());
  return report;
}

} // namespace coll::perf
