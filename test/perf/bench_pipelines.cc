// bench-pipelines - idle time of pipeline schedules, measured beside the formulas.
//
//   bench-pipelines FILE.jsonl [UNIT_MS]
//
// Ranks are threads that send and receive over backend `threads` as compiled stages do: receive,
// work, wait until there is room in flight, start to send. Instead of working they sleep, so that a
// processor for each stage is not needed. Each schedule runs twice: as the papers have it, where a
// backward pass hands its gradients on when it ends, beside their formulas; and as compiled stages
// do, which send gradients before they compute those of weights, beside a simulation. A forward
// pass takes UNIT_MS (30 by default), and so do input gradients and weight gradients, in stages of
// equal work. Activations are allocated with each forward pass and freed when its weight gradients
// are done.

#include "plan/schedule/hand_on.h"
#include "runtime/backend/backend.h"
#include "tools/coll-perf/rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <thread>

namespace {

using namespace coll;
using coll::plan::Schedule;
using coll::plan::ScheduleEntry;
using coll::plan::StageWork;
using Clock = std::chrono::steady_clock;

constexpr int64_t kElems = 4096;

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "bench-pipelines: %s\n", message.c_str());
  std::exit(1);
}

void check(const rt::Status &status) {
  if (!status.ok())
    fail(status.toString());
}

struct RankTimes {
  double idle = 0; // seconds between its first entry and its last
  Clock::time_point begin, end;
  int peak = 0;
};

class Stage {
public:
  Stage(const Schedule &schedule, bool isEarly, int rank, rt::Endpoint &endpoint,
        rt::Communicator &group, double unitSeconds)
      : schedule_(schedule), isEarly_(isEarly),
        maxInFlight_(size_t(plan::neededInFlight(schedule))), rank_(rank), endpoint_(endpoint),
        group_(group), unit_(unitSeconds) {}

  RankTimes run() {
    Clock::time_point last;
    bool isFirst = true;
    for (const ScheduleEntry &entry : schedule_.ranks[size_t(rank_)]) {
      if (entry.work != StageWork::WeightGradient)
        receive(entry);
      const Clock::time_point begin = Clock::now();
      if (isFirst)
        times_.begin = begin;
      else
        times_.idle += std::chrono::duration<double>(begin - last).count();
      isFirst = false;
      last = times_.end = work(entry, begin);
    }
    for (auto &[to, sent] : sent_)
      waitUntil(0, sent);
    return times_;
  }

private:
  bool isForward(const ScheduleEntry &entry) const { return entry.work == StageWork::Forward; }

  int64_t tagOf(bool forward, int chunk, int microBatch) const {
    return ((forward ? 0 : 1) * schedule_.numChunks + chunk) * schedule_.numMicroBatches +
           microBatch;
  }

  // The rank of a neighbour in the pass; -1 if there is none, or if it is this rank.
  int rankOf(int chunk) const {
    if (chunk < 0 || chunk >= schedule_.numChunks)
      return -1;
    const int rank = schedule_.rankOfChunk[size_t(chunk)];
    return rank == rank_ ? -1 : rank;
  }

  void receive(const ScheduleEntry &entry) {
    const int from = rankOf(entry.chunk + (isForward(entry) ? -1 : 1));
    if (from < 0)
      return;
    rt::Call call =
        makeCall(rt::OpKind::Recv, from, tagOf(isForward(entry), entry.chunk, entry.microBatch));
    call.dst = inbox_.data();
    check(group_.run(call));
  }

  Clock::time_point work(const ScheduleEntry &entry, Clock::time_point begin) {
    const bool isWhole = entry.work == StageWork::Backward;
    if (isForward(entry)) {
      kept_[{entry.chunk, entry.microBatch}].resize(size_t(kElems));
      times_.peak = std::max(times_.peak, int(kept_.size()));
    }
    Clock::time_point end = sleepFrom(begin);
    if (isWhole && !isEarly_)
      end = sleepFrom(end);
    if (entry.work != StageWork::WeightGradient)
      send(entry);
    if (isWhole && isEarly_) {
      const Clock::time_point sent = Clock::now(); // it may have waited for room
      times_.idle += std::chrono::duration<double>(sent - end).count();
      end = sleepFrom(sent);
    }
    if (isWhole || entry.work == StageWork::WeightGradient)
      kept_.erase({entry.chunk, entry.microBatch});
    return end;
  }

  Clock::time_point sleepFrom(Clock::time_point begin) const {
    std::this_thread::sleep_until(
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(unit_)));
    return Clock::now();
  }

  struct Sent {
    std::vector<float> data;
    rt::Request *request = nullptr;
  };

  void send(const ScheduleEntry &entry) {
    const int toChunk = entry.chunk + (isForward(entry) ? 1 : -1);
    const int to = rankOf(toChunk);
    if (to < 0)
      return;
    std::deque<Sent> &sent = sent_[{toChunk, isForward(entry)}];
    waitUntil(maxInFlight_ - 1, sent);
    Sent &next = sent.emplace_back();
    next.data.assign(size_t(kElems), float(entry.microBatch));
    rt::Call call =
        makeCall(rt::OpKind::Send, to, tagOf(isForward(entry), toChunk, entry.microBatch));
    call.src = next.data.data();
    rt::Result<rt::Request *> request = group_.start(call);
    check(request.status());
    next.request = *request;
  }

  void waitUntil(size_t left, std::deque<Sent> &sent) {
    for (; sent.size() > left; sent.pop_front())
      check(endpoint_.wait(sent.front().request));
  }

  static rt::Call makeCall(rt::OpKind kind, int peer, int64_t tag) {
    rt::Call call;
    call.kind = kind;
    call.peer = peer;
    call.tag = tag;
    call.count = kElems;
    return call;
  }

  const Schedule &schedule_;
  bool isEarly_;
  size_t maxInFlight_;
  int rank_;
  rt::Endpoint &endpoint_;
  rt::Communicator &group_;
  double unit_;
  RankTimes times_;
  std::vector<float> inbox_ = std::vector<float>(size_t(kElems));
  std::map<std::pair<int, int>, std::vector<float>> kept_; // by chunk and micro-batch
  std::map<std::pair<int, bool>, std::deque<Sent>> sent_;  // by receiving chunk and direction
};

std::vector<RankTimes> runPipeline(const Schedule &schedule, bool isEarly, double unitSeconds) {
  const int numRanks = schedule.numRanks();
  rt::BackendOptions options;
  options.numRanks = numRanks;
  rt::Result<std::unique_ptr<rt::Backend>> backend = rt::createBackend("threads", options);
  check(backend.status());
  std::vector<RankTimes> times;
  times.resize(size_t(numRanks));
  std::vector<int> all;
  for (int rank = 0; rank < numRanks; ++rank)
    all.push_back(rank);
  std::vector<std::unique_ptr<rt::Endpoint>> endpoints;
  for (int rank = 0; rank < numRanks; ++rank) {
    rt::Result<std::unique_ptr<rt::Endpoint>> endpoint = (*backend)->endpoint(rank);
    check(endpoint.status());
    endpoints.push_back(std::move(*endpoint));
    endpoints.back()->enter(); // all of them, before any makes a call
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < numRanks; ++rank)
    threads.emplace_back([&, rank] {
      rt::Endpoint &endpoint = *endpoints[size_t(rank)];
      rt::Result<std::unique_ptr<rt::Communicator>> group = endpoint.communicator(all);
      check(group.status());
      check((*group)->run(rt::Call())); // a barrier
      times[size_t(rank)] = Stage(schedule, isEarly, rank, endpoint, **group, unitSeconds).run();
      check((*group)->run(rt::Call()));
      endpoint.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
  return times;
}

perf::Row measure(const std::string &name, int numRanks, bool isEarly, double unit) {
  const int numMicroBatches = 3 * numRanks;
  const plan::Result<Schedule> schedule = plan::makeSchedule(name, numRanks, numMicroBatches);
  if (!schedule)
    fail(schedule.error());
  const std::vector<RankTimes> times = runPipeline(*schedule, isEarly, unit);
  double idle = 0;
  int peak = 0;
  Clock::time_point begin = times[0].begin, end = times[0].end;
  for (const RankTimes &rank : times) {
    idle = std::max(idle, rank.idle);
    peak = std::max(peak, rank.peak);
    begin = std::min(begin, rank.begin);
    end = std::max(end, rank.end);
  }
  const double step = std::chrono::duration<double>(end - begin).count();
  const plan::Timeline simulated =
      *(isEarly ? plan::simulateCompiled(*schedule, {{}}) : plan::simulate(*schedule, {{}}));
  const std::optional<double> published =
      isEarly ? std::nullopt : plan::publishedBubble(*schedule, {});
  const double formula = published.value_or(simulated.largestBubble());
  const double predictedStep = simulated.makespan * unit;
  perf::Row row;
  row.caseName = name + ", " + std::to_string(numRanks) + " stages x " +
                 std::to_string(numMicroBatches) + " micro-batches" +
                 (isEarly ? ", gradients sent early" : "");
  row.size = std::to_string(schedule->numChunks) + " chunks";
  row.metric = "idle, in forward passes of a chunk";
  row.ours = idle / unit;
  row.peer = formula;
  row.peerName = published ? "formula of the paper" : "simulated";
  row.higherIsBetter = false;
  row.more = {{"idle_off_percent_of_step", 100 * (idle - formula * unit) / step},
              {"step_s", step},
              {"predicted_step_s", predictedStep},
              {"step_off_percent", 100 * (step / predictedStep - 1)},
              {"peak_activations", peak},
              {"peak_formula", plan::publishedPeak(*schedule).value_or(-1)}};
  std::printf("%-76s idle %6.2f, formula %6.2f (%+.1f %% of the step); step %+.1f %%; peak %d, "
              "formula %d\n",
              row.caseName.c_str(), row.ours, formula, row.more[0].second, row.more[3].second, peak,
              int(row.more[5].second));
  std::fflush(stdout);
  return row;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: bench-pipelines FILE.jsonl [UNIT_MS]\n");
    return 2;
  }
  const double unit = (argc > 2 ? std::atof(argv[2]) : 30) / 1e3;
  if (!(unit > 0))
    fail("UNIT_MS is a number of milliseconds, above 0");
  std::vector<perf::Row> rows;
  for (const char *name :
       {"gpipe", "1f1b", "interleaved", "interleaved:3", "zb-h1", "zb-h2", "zbv", "dualpipev"})
    for (int numRanks : {2, 4, 8})
      for (bool isEarly : {false, true})
        rows.push_back(measure(name, numRanks, isEarly, unit));
  check(perf::appendRows(argv[1], "bench-pipelines", rows));
  return 0;
}
