#include "tools/coll-perf/net/report.h"

#include "tools/coll-perf/plot.h"
#include "tools/coll-perf/units.h"

#include <cstdio>
#include <utility>

namespace coll::perf {

namespace {

std::string heading(const NetPlan &plan, Mode mode) {
  std::string op = plan.op == Op::Send ? "message" : std::string("remote ") + nameOf(plan.op);
  switch (mode) {
  case Mode::Latency:
    return "latency: us for one " + op + ", one at a time (median, 99 %)";
  case Mode::OneWay:
    return "one way: GB/s";
  case Mode::BothWays:
    break;
  }
  return "both ways at once: GB/s in each direction";
}

const char *metric(Mode mode) {
  return mode == Mode::Latency  ? "us latency"
         : mode == Mode::OneWay ? "GB/s one way"
                                : "GB/s per direction, both ways";
}

} // namespace

Report::Report(const NetPlan &plan, const std::string &ours, const std::string &peer,
               std::string jsonPath, std::string command)
    : plan_(plan), ours_(ours), peer_(peer), jsonPath_(std::move(jsonPath)),
      command_(std::move(command)) {
  std::printf("%s\nours: %s\npeer: %s\n%s; medians of %d\n", machineName().c_str(), ours.c_str(),
              peer.empty() ? "none" : peer.c_str(), caseName().c_str(), plan.repeat);
}

std::string Report::caseName() const {
  return plan_.transport + " " + nameOf(plan_.op) + ", " + std::to_string(plan_.connections) +
         " connections, " + std::to_string(plan_.inflight) + " in flight, " +
         (plan_.sockets ? std::to_string(plan_.sockets) : "default") + " sockets each" +
         (plan_.rails > 1 ? ", over " + std::to_string(plan_.rails) + " devices" : "");
}

Row Report::rowOf(const Point &point) const {
  Row row;
  row.caseName = caseName();
  row.peerName = peer_;
  row.size = formatBytes(point.bytes);
  row.metric = metric(point.mode);
  row.ours = point.ours.value;
  row.peer = point.peer.value;
  row.higherIsBetter = point.mode != Mode::Latency;
  if (point.mode == Mode::Latency)
    row.more.emplace_back("p99", point.ours.p99);
  row.more.emplace_back("cores", point.ours.cores);
  if (point.peer.value)
    row.more.emplace_back("peer_cores", point.peer.cores);
  return row;
}

Status Report::add(const Point &point) {
  if (points_.empty() || points_.back().mode != point.mode) {
    std::printf("\n%s\n%12s %10s", heading(plan_, point.mode).c_str(), "size", "ours");
    if (point.mode == Mode::Latency)
      std::printf(" %10s", "99 %");
    std::printf(" %7s %10s %7s %7s\n", "cores", "peer", "cores", "ratio");
  }
  points_.push_back(point);
  std::printf("%12s %10.3f", formatBytes(point.bytes).c_str(), point.ours.value);
  if (point.mode == Mode::Latency)
    std::printf(" %10.3f", point.ours.p99);
  std::printf(" %7.2f", point.ours.cores);
  if (point.peer.value)
    std::printf(" %10.3f %7.2f %7.2f", point.peer.value, point.peer.cores, rowOf(point).ratio());
  std::printf("\n");
  std::fflush(stdout);
  return jsonPath_.empty() ? Status() : appendRows(jsonPath_, command_, {rowOf(point)});
}

Status Report::writePlot(const std::string &path) const {
  std::vector<Chart> charts;
  for (Mode mode : plan_.modes) {
    Curve ours{ours_.substr(0, ours_.find(',')), {}}, peer{peer_.substr(0, peer_.find(',')), {}};
    for (const Point &point : points_) {
      if (point.mode != mode)
        continue;
      auto bytes = static_cast<double>(point.bytes);
      ours.points.emplace_back(bytes, point.ours.value);
      if (point.peer.value)
        peer.points.emplace_back(bytes, point.peer.value);
    }
    Chart chart{heading(plan_, mode), mode == Mode::Latency ? "us" : "GB/s", {ours}};
    if (!peer.points.empty())
      chart.curves.push_back(peer);
    charts.push_back(std::move(chart));
  }
  return coll::perf::writePlot(path, "coll-perf net: " + caseName(), charts);
}

} // namespace coll::perf
