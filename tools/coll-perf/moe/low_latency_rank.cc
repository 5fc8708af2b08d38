#include "tools/coll-perf/moe/low_latency_rank.h"

#include "tools/coll-perf/moe/cards.h"
#include "tools/coll-perf/moe/low_latency_calls.h"
#include "tools/coll-perf/moe/nccl_peer.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

namespace coll::perf {

namespace {

using Clock = std::chrono::steady_clock;

// Times of one call, in ns.
struct Times {
  int64_t median = 0, p99 = 0;

  static Times of(const std::vector<double> &samples) {
    return {static_cast<int64_t>(coll::perf::median(samples)),
            static_cast<int64_t>(quantile(samples, 0.99))};
  }
};

struct Figure {
  const LowLatencyPair *pair;
  int tokens, sms;     // sms: of NCCL's -1
  Times inARow, alone; // calls; a round's two calls count as one
  int64_t received;    // rows a rank, mean
};

// Makes the calls of a pair.
struct Maker {
  const GpuRoom &room;
  rt::dl::CudaStream stream;
  std::function<Status(const LowLatencyPair &pair, int which)> call;
  std::function<Status()> synchronize;
  std::function<Result<int64_t>()> numReceived; // rows of the last dispatch
};

// Calls on a stream, captured as a graph.
class Graph {
public:
  Graph(const Maker &maker, const LowLatencyPair &pair, int pairs)
      : maker_(maker), cuda_(maker.room.cuda()) {
    status_ = capture(pair, pairs);
  }
  ~Graph() {
    rt::dl::CudaScope scope(cuda_, maker_.room.gpu()->context());
    if (exec_)
      (void)cuda_.graphExecDestroy(exec_);
    if (graph_)
      (void)cuda_.graphDestroy(graph_);
  }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  const Status &status() const { return status_; }
  Status launch() {
    rt::dl::CudaScope scope(cuda_, maker_.room.gpu()->context());
    return driver(cuda_.graphLaunch(exec_, maker_.stream), "cuGraphLaunch");
  }

private:
  Status driver(rt::dl::CudaResult result, const char *call) const {
    return maker_.room.gpu()->check(result, call);
  }
  Status capture(const LowLatencyPair &pair, int pairs) {
    rt::dl::CudaScope scope(cuda_, maker_.room.gpu()->context());
    COLL_RETURN_IF_ERROR(
        driver(cuda_.streamBeginCapture(maker_.stream, rt::dl::kCudaCaptureThreadLocal),
               "cuStreamBeginCapture"));
    Status made;
    for (int i = 0; i < 2 * pairs && made.ok(); ++i)
      made = maker_.call(pair, i % 2);
    const Status ended =
        driver(cuda_.streamEndCapture(maker_.stream, &graph_), "cuStreamEndCapture");
    COLL_RETURN_IF_ERROR(made);
    COLL_RETURN_IF_ERROR(ended);
    return driver(cuda_.graphInstantiate(&exec_, graph_, 0), "cuGraphInstantiate");
  }

  const Maker &maker_;
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
  Status measureTokens(int tokens, int sms);
  // Does nothing if NCCL is not available.
  Status measurePeer();
  Result<Figure> measurePair(const Maker &maker, const LowLatencyPair &pair, int tokens, int sms);
  // `work` makes `calls` calls each time; the function runs it repeatedly and waits for it.
  Result<Times> time(const Maker &maker, const std::function<Status()> &work, int calls);
  Status addWrong(const Result<int64_t> &mine);
  void print(const std::string &name, const Figure &figure) const;
  const Figure *peerOf(const Figure &figure) const;
  Row rowOf(const Figure &figure) const;
  MoePoint pointOf(const std::string &name, const Figure &figure) const;

  const MoeTask &task_;
  Gathering &ranks_;
  std::unique_ptr<net::Transport> transport_; // between nodes
  std::unique_ptr<LowLatencyCalls> calls_;
  std::vector<Figure> ours_, peers_;
  std::string peerName_;
  int64_t wrong_ = -1;
};

Status LowLatencyRank::open(const rt::JobOptions &job) {
  return openCalls(task_, job, ranks_, transport_, calls_);
}

Result<Times> LowLatencyRank::time(const Maker &maker, const std::function<Status()> &work,
                                   int calls) {
  const auto once = [&] {
    COLL_RETURN_IF_ERROR(work());
    return maker.synchronize();
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
  // Times of the slowest rank.
  Times times = Times::of(samples);
  for (int64_t *value : {&times.median, &times.p99}) {
    Result<std::vector<int64_t>> all = ranks_.agree(status, *value);
    if (!all)
      return all.status();
    *value = *std::max_element(all->begin(), all->end());
  }
  return times;
}

Result<Figure> LowLatencyRank::measurePair(const Maker &maker, const LowLatencyPair &pair,
                                           int tokens, int sms) {
  Figure figure = {&pair, tokens, sms, {}, {}, 0};
  const int callsOfPair = pair.isRound() ? 1 : 2;
  Result<Times> alone = time(
      maker,
      [&] {
        COLL_RETURN_IF_ERROR(maker.call(pair, 0));
        return pair.isRound() ? maker.call(pair, 1) : Status::okay();
      },
      1);
  if (!alone)
    return alone.status().annotate(pair.name);
  figure.alone = *alone;
  Graph graph(maker, pair, task_.iterations);
  COLL_RETURN_IF_ERROR(ranks_.agree(graph.status()));
  Result<Times> inARow =
      time(maker, [&] { return graph.launch(); }, callsOfPair * task_.iterations);
  if (!inARow)
    return inARow.status().annotate(pair.name);
  figure.inARow = *inARow;
  Result<int64_t> mine = maker.numReceived();
  Result<std::vector<int64_t>> received = ranks_.agree(mine.status(), mine.ok() ? *mine : 0);
  if (!received)
    return received.status();
  for (int64_t count : *received)
    figure.received += count / task_.ranks;
  return figure;
}

Status LowLatencyRank::addWrong(const Result<int64_t> &mine) {
  Result<std::vector<int64_t>> all = ranks_.agree(mine.status(), mine.ok() ? *mine : 0);
  if (!all)
    return all.status();
  wrong_ = std::max<int64_t>(wrong_, 0);
  for (int64_t count : *all)
    wrong_ += count;
  return Status::okay();
}

// The bytes of rows that a rank receives from experts, or sends to them.
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

void LowLatencyRank::print(const std::string &name, const Figure &figure) const {
  if (ranks_.rank() != 0)
    return;
  std::printf("%-32s %6d %5s %9.2f %9.2f %9.2f %9.2f %8.1f\n", name.c_str(), figure.tokens,
              figure.sms < 0 ? "" : std::to_string(figure.sms).c_str(), us(figure.inARow.median),
              us(figure.inARow.p99), us(figure.alone.median), us(figure.alone.p99),
              bytesOf(task_, figure) / us(figure.inARow.median) * 1e-3);
  std::fflush(stdout);
}

// Returns the figure of NCCL that one of ours is compared with; null if there is none. NCCL has
// neither hooks nor a compressed format, so those are compared with its plain calls.
const Figure *LowLatencyRank::peerOf(const Figure &figure) const {
  for (const Figure &peer : peers_)
    if (peer.tokens == figure.tokens && peer.pair->isDispatch == figure.pair->isDispatch &&
        peer.pair->fp8 == figure.pair->fp8)
      return &peer;
  return nullptr;
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
  if (const Figure *peer = peerOf(figure)) {
    row.peer = us(peer->inARow.median);
    row.peerName = peerName_;
    row.more.insert(row.more.end(), {{"peer_p99", us(peer->inARow.p99)},
                                     {"peer_alone", us(peer->alone.median)},
                                     {"peer_alone_p99", us(peer->alone.p99)}});
  }
  return row;
}

MoePoint LowLatencyRank::pointOf(const std::string &name, const Figure &figure) const {
  const bool isOneOfMany = figure.sms >= 0 && task_.sms.size() > 1;
  const double time = us(figure.inARow.median);
  return {name + (isOneOfMany ? ", " + std::to_string(figure.sms) + " SMs" : ""), figure.tokens,
          time, bytesOf(task_, figure) / time * 1e-3};
}

Status LowLatencyRank::measureTokens(int tokens, int sms) {
  calls_->use(tokens);
  const Maker maker = {
      calls_->room(), calls_->stream(),
      [&](const LowLatencyPair &pair, int which) { return calls_->call(pair, which, sms); },
      [&] { return calls_->synchronize(); }, [&] { return calls_->numReceived(); }};
  if (task_.check)
    COLL_RETURN_IF_ERROR(addWrong(calls_->check(sms)));
  for (const LowLatencyPair &pair : lowLatencyPairs()) {
    if (pair.fp8 && !task_.fp8)
      continue;
    Result<Figure> figure = measurePair(maker, pair, tokens, sms);
    if (!figure)
      return figure.status();
    print(pair.name, *figure);
    ours_.push_back(*figure);
  }
  return Status::okay();
}

Status LowLatencyRank::measurePeer() {
  Result<std::unique_ptr<NcclMoePeer>> made = NcclMoePeer::join(task_, ranks_);
  if (!made || !*made)
    return made.status();
  NcclMoePeer &peer = **made;
  peerName_ = peer.name();
  const Maker maker = {
      peer.room(), peer.stream(),
      [&](const LowLatencyPair &pair, int which) {
        return peer.call(!pair.isDispatch[static_cast<size_t>(which)] ? MoeCall::Combine
                         : pair.fp8                                   ? MoeCall::DispatchFp8
                                                                      : MoeCall::Dispatch);
      },
      [&] { return peer.synchronize(); }, [&] { return Result<int64_t>(peer.numReceived()); }};
  for (int tokens : task_.lowLatencyTokens) {
    COLL_RETURN_IF_ERROR(ranks_.agree(peer.use(tokens)).annotate("NCCL"));
    if (task_.check)
      COLL_RETURN_IF_ERROR(addWrong(peer.check()).annotate("NCCL"));
    for (const LowLatencyPair &pair : lowLatencyPairs()) {
      if (pair.log || pair.hooked || (pair.fp8 && !task_.fp8))
        continue;
      Result<Figure> figure = measurePair(maker, pair, tokens, /*sms=*/-1);
      if (!figure)
        return figure.status().annotate("NCCL");
      print(std::string("NCCL ") + pair.name, *figure);
      peers_.push_back(*figure);
    }
  }
  // No rank leaves while others still send to it.
  return ranks_.agree(peer.synchronize());
}

Result<MoeReport> LowLatencyRank::measure() {
  if (ranks_.rank() == 0) {
    std::printf("%s\nmoe, low latency: %d ranks, nodes: %d, hidden %d%s\n"
                "%-32s %6s %5s %9s %9s %9s %9s %8s\n",
                machineName().c_str(), task_.ranks, task_.nodes, task_.hidden,
                task_.routes().c_str(), "call", "tokens", "SMs", "us", "p99", "alone", "p99",
                "GB/s");
    std::fflush(stdout);
  }
  for (int sms : task_.sms)
    for (int tokens : task_.lowLatencyTokens)
      COLL_RETURN_IF_ERROR(measureTokens(tokens, sms));
  if (task_.nccl)
    COLL_RETURN_IF_ERROR(measurePeer());
  MoeReport report;
  report.wrong = wrong_;
  for (const Figure &figure : ours_) {
    report.rows.push_back(rowOf(figure));
    report.points.push_back(pointOf(figure.pair->name, figure));
  }
  for (const Figure &figure : peers_)
    report.points.push_back(pointOf(std::string("NCCL ") + figure.pair->name, figure));
  return report;
}

Status LowLatencyRank::close() {
  // No rank frees memory that others still write to.
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
