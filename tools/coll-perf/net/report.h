// report.h - figures on their way to the screen, a JSONL file and a plot.

#ifndef COLL_TOOLS_COLL_PERF_NET_REPORT_H
#define COLL_TOOLS_COLL_PERF_NET_REPORT_H

#include "tools/coll-perf/net/measure.h"

#include <string>
#include <vector>

namespace coll::perf {

// One size in one mode: medians over the repetitions.
struct Point {
  Mode mode;
  uint64_t bytes;
  Figure ours, peer; // peer.value 0: there is none
};

class Report {
public:
  // Prints what is compared.
  Report(const NetPlan &plan, const std::string &ours, const std::string &peer);
  // Prints a line of the table, with a heading where the mode changes.
  void add(const Point &point);
  Status writeJson(const std::string &path, const std::string &command) const;
  Status writePlot(const std::string &path) const;

private:
  std::string caseName() const;

  NetPlan plan_;
  std::string ours_, peer_;
  std::vector<Point> points_;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NET_REPORT_H
