// report.h - writes figures to the screen, a JSONL file and a plot.

#ifndef COLL_TOOLS_COLL_PERF_NET_REPORT_H
#define COLL_TOOLS_COLL_PERF_NET_REPORT_H

#include "tools/coll-perf/net/measure.h"
#include "tools/coll-perf/rows.h"

#include <string>
#include <vector>

namespace coll::perf {

// One size in one mode; the figures are medians over the repetitions.
struct Point {
  Mode mode;
  uint64_t bytes;
  Figure ours, peer; // peer.value 0: there is none
};

class Report {
public:
  // Prints what is compared. `jsonPath` may be empty.
  Report(const NetPlan &plan, const std::string &ours, const std::string &peer,
         std::string jsonPath, std::string command);
  // Prints a line of the table, with a heading if the mode changes, and writes the row.
  Status add(const Point &point);
  Status writePlot(const std::string &path) const;

private:
  std::string caseName() const;
  Row rowOf(const Point &point) const;

  NetPlan plan_;
  std::string ours_, peer_, jsonPath_, command_;
  std::vector<Point> points_;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NET_REPORT_H
