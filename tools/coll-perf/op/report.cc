#include "tools/coll-perf/op/report.h"

#include "runtime/base/dtype.h"
#include "tools/coll-perf/plot.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace coll::perf {

OpReport::OpReport(const OpPlan &plan, const std::vector<Side> &sides, std::string jsonPath,
                   std::string command)
    : plan_(plan), sides_(sides), jsonPath_(std::move(jsonPath)), command_(std::move(command)) {
  std::printf("%s\n%s of %s, %d ranks; us per operation over ranks, GB/s of the slowest\n",
              machineName().c_str(), plan.op.c_str(), rt::dtypeName(plan.dtype), plan.ranks);
  std::printf("%10s %-24s %-7s %-3s %10s %10s %10s %7s %8s %8s %7s %7s\n", "size", "backend",
              "timing", "in", "min", "avg", "max", "slowest", "algbw", "busbw", "wrong", "ratio");
  std::fflush(stdout);
}

uint64_t OpReport::moved(const OpPoint &point) const {
  return bytesOf(plan_, countOf(plan_, point.task.bytes));
}

double OpReport::algorithmGbs(const OpPoint &point) const {
  return static_cast<double>(moved(point)) / std::max(point.figure.maxUs, 1e-9) * 1e-3;
}

const OpPoint *OpReport::firstOf(const OpPoint &point) const {
  for (const OpPoint &other : points_)
    if (other.side.label == sides_.front().label && other.task.bytes == point.task.bytes &&
        other.task.place == point.task.place && other.task.timing == point.task.timing)
      return &other;
  return nullptr;
}

void OpReport::add(const OpPoint &point) {
  points_.push_back(point);
  const OpFigure &figure = point.figure;
  double algorithm = algorithmGbs(point);
  std::string wrong = figure.wrong < 0 ? "-" : std::to_string(figure.wrong);
  std::printf("%10s %-24s %-7s %-3s %10.2f %10.2f %10.2f %7d %8.3f %8.3f %7s",
              formatBytes(moved(point)).c_str(), point.side.label.c_str(),
              nameOf(point.task.timing), nameOf(point.task.place), figure.minUs, figure.avgUs,
              figure.maxUs, figure.slowest, algorithm, algorithm * busFactor(plan_), wrong.c_str());
  const OpPoint *first = firstOf(point);
  if (first && point.side.label != sides_.front().label)
    std::printf(" %7.2f", figure.maxUs / std::max(first->figure.maxUs, 1e-9));
  std::printf("\n");
  std::fflush(stdout);
}

bool OpReport::hasWrong() const {
  return std::any_of(points_.begin(), points_.end(),
                     [](const OpPoint &point) { return point.figure.wrong > 0; });
}

std::string OpReport::caseName(const OpPoint &point) const {
  std::string name = plan_.op + " " + rt::dtypeName(plan_.dtype);
  if (plan_.op == "root_update")
    name += " " + plan_.optimizer;
  if (hasReduction(plan_.op))
    name += std::string(" ") + rt::reductionName(plan_.reduction);
  return name + ", " + std::to_string(plan_.ranks) + " ranks, " + sides_.front().label + ", " +
         nameOf(point.task.timing) + (point.task.place == Placement::In ? ", in place" : "");
}

Row OpReport::rowOf(const OpPoint &first, const OpPoint &point) const {
  Row row;
  row.caseName = caseName(point);
  row.size = formatBytes(moved(point));
  row.metric = "us, slowest rank";
  row.higherIsBetter = false;
  row.ours = first.figure.maxUs;
  row.more = {{"algbw", algorithmGbs(first)},
              {"busbw", algorithmGbs(first) * busFactor(plan_)},
              {"min", first.figure.minUs},
              {"avg", first.figure.avgUs}};
  if (point.side.label != sides_.front().label) {
    row.peer = point.figure.maxUs;
    row.peerName = point.side.label;
    row.more.emplace_back("peer_busbw", algorithmGbs(point) * busFactor(plan_));
  }
  return row;
}

// Writes one row for each other side, or a single row without a peer if there is none.
Status OpReport::writeRows() {
  std::vector<Row> rows;
  for (; written_ < points_.size(); ++written_) {
    const OpPoint &point = points_[written_];
    const OpPoint *first = firstOf(point);
    const bool isFirst = point.side.label == sides_.front().label;
    if (first && (!isFirst || sides_.size() == 1))
      rows.push_back(rowOf(*first, point));
  }
  return jsonPath_.empty() ? Status() : appendRows(jsonPath_, command_, rows);
}

Status OpReport::writePlot(const std::string &path) const {
  std::vector<Chart> charts;
  for (Timing timing : plan_.timings)
    for (const char *unit : {"us", "GB/s"}) {
      bool isTime = *unit == 'u';
      Chart chart{std::string(nameOf(timing)) +
                      (isTime ? ": time of the slowest rank" : ": bus bandwidth"),
                  unit,
                  {}};
      for (const Side &side : sides_)
        for (Placement place : plan_.places) {
          Curve curve{side.label + (place == Placement::In ? ", in place" : ""), {}};
          for (const OpPoint &point : points_) {
            double busbw = algorithmGbs(point) * busFactor(plan_);
            double value = isTime ? point.figure.maxUs : busbw;
            if (point.side.label == side.label && point.task.place == place &&
                point.task.timing == timing && value > 0)
              curve.points.emplace_back(static_cast<double>(moved(point)), value);
          }
          if (!curve.points.empty())
            chart.curves.push_back(std::move(curve));
        }
      if (!chart.curves.empty())
        charts.push_back(std::move(chart));
    }
  return coll::perf::writePlot(
      path, "coll-perf " + plan_.op + ", " + std::to_string(plan_.ranks) + " ranks", charts);
}

} // namespace coll::perf
