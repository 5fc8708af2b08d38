// report.h - writes figures of operations to the screen, a JSONL file and a plot.

#ifndef COLL_TOOLS_COLL_PERF_OP_REPORT_H
#define COLL_TOOLS_COLL_PERF_OP_REPORT_H

#include "tools/coll-perf/op/team.h"
#include "tools/coll-perf/rows.h"

#include <string>
#include <vector>

namespace coll::perf {

// One side's figure of one task.
struct OpPoint {
  Side side;
  Task task;
  OpFigure figure;
};

class OpReport {
public:
  // Prints what is compared. The figures of the other sides are compared with those of the first.
  // Rows go to `jsonPath`, if it is not empty, with the command that made them.
  OpReport(const OpPlan &plan, const std::vector<Side> &sides, std::string jsonPath,
           std::string command);
  void add(const OpPoint &point);
  bool isEmpty() const { return points_.empty(); }
  bool hasWrong() const;
  // Writes rows for all points since the last call.
  Status writeRows();
  Status writePlot(const std::string &path) const;

private:
  uint64_t moved(const OpPoint &point) const;
  double algorithmGbs(const OpPoint &point) const;
  // Returns the first side's figure of the same task, or null.
  const OpPoint *firstOf(const OpPoint &point) const;
  std::string caseName(const OpPoint &point) const;
  Row rowOf(const OpPoint &first, const OpPoint &point) const;

  const OpPlan &plan_;
  std::vector<Side> sides_;
  const std::string jsonPath_, command_;
  std::vector<OpPoint> points_;
  size_t written_ = 0; // points
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_REPORT_H
