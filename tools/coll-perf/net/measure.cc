#include "tools/coll-perf/net/measure.h"

#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sys/resource.h>

namespace coll::perf {

namespace {

// Returns the processor time of this process and of the programs that it has run.
double cpuSeconds() {
  auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  double total = 0;
  for (auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    getrusage(who, &usage);
    total += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return total;
}

// One run of `count` messages, the same on both ranks.
struct Run {
  double seconds = 0;
  double cpu = 0;
  std::vector<double> timesUs;
};

Result<Run> once(Link &link, Mode mode, uint64_t bytes, uint64_t count) {
  Run run;
  double before = cpuSeconds();
  if (mode == Mode::Latency) {
    COLL_RETURN_IF_ERROR(link.pingPong(bytes, count, run.timesUs));
    run.seconds = std::accumulate(run.timesUs.begin(), run.timesUs.end(), 0.0) * 1e-6;
  } else {
    Result<double> seconds = link.stream(bytes, count, mode == Mode::BothWays);
    if (!seconds.ok())
      return seconds.status();
    run.seconds = *seconds;
  }
  run.cpu = cpuSeconds() - before;
  return run;
}

Figure figureOf(const NetPlan &plan, Mode mode, uint64_t bytes, uint64_t count, const Run &run) {
  Figure figure;
  figure.cores = run.seconds > 0 ? run.cpu / run.seconds : 0;
  if (mode == Mode::Latency) {
    // Half a round trip is one way of a message; a one-sided operation counts completely.
    double share = plan.op == Op::Send ? 0.5 : 1;
    figure.value = median(run.timesUs) * share;
    figure.p99 = quantile(run.timesUs, 0.99) * share;
    return figure;
  }
  figure.value = static_cast<double>(bytes) * static_cast<double>(count) *
                 static_cast<double>(plan.connections) / run.seconds * 1e-9;
  return figure;
}

} // namespace

Result<Figure> measure(Job &job, Link &link, const NetPlan &plan, Mode mode, uint64_t bytes,
                       uint64_t &count) {
  // A ping-pong needs many round trips to show its worst cases.
  const uint64_t most = mode == Mode::Latency ? 1'000'000 : uint64_t(1) << 40;
  count = std::max<uint64_t>(count, 8);
  while (true) {
    Result<std::string> agreed = job.swap(std::to_string(count));
    if (!agreed.ok())
      return agreed.status();
    Result<Run> run = once(link, mode, bytes, count);
    if (!run.ok())
      return run.status();
    bool last = run->seconds >= plan.seconds * 0.6 || count >= most;
    Result<std::string> peerCpu = job.swap(last ? "done" : "again");
    if (!peerCpu.ok())
      return peerCpu.status();
    run->cpu += std::strtod(peerCpu->c_str(), nullptr);
    if (last)
      return figureOf(plan, mode, bytes, count, *run);
    double factor = std::clamp(plan.seconds / std::max(run->seconds, 1e-6), 1.5, 50.0);
    count = std::min(most, static_cast<uint64_t>(static_cast<double>(count) * factor) + 1);
  }
}

Status follow(Job &job, Link &link, Mode mode, uint64_t bytes) {
  while (true) {
    Result<std::string> count = job.swap("");
    if (!count.ok())
      return count.status();
    Result<Run> run = once(link, mode, bytes, std::strtoull(count->c_str(), nullptr, 10));
    if (!run.ok())
      return run.status();
    Result<std::string> state = job.swap(std::to_string(run->cpu));
    if (!state.ok() || *state == "done")
      return state.status();
  }
}

} // namespace coll::perf
