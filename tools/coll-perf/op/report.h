// report.h - figures of operations on their way to the screen, a JSONL file and a plot.

#ifndef COLL_TOOLS_COLL_PERF_OP_REPORT_H
#define COLL_TOOLS_COLL_PERF_OP_REPORT_H

#include "tools/coll-perf/op/team.h"

namespace coll::perf {

// One side's figure of one task.
struct OpPoint {
  Side side;
  Task task;
  OpFigure figure;
};

class OpReport {
public:
  // Prints what is compared. The first side's figures are set beside each other's.
  OpReport(const OpPlan &plan, const std::vector<Side> &sides);
  void add(const OpPoint &point);
  bool hasWrong() const;
  Status writeJson(const std::string &path, const std::string &command) const;
  Status writePlot(const std::string &path) const;

private:
  uint64_t moved(const OpPoint &point) const;
  double algorithmGbs(const OpPoint &point) const;
  // The first side's figure of the same task, or null.
  const OpPoint *firstOf(const OpPoint &point) const;
  std::string caseName(const OpPoint &point) const;

  const OpPlan &plan_;
  std::vector<Side> sides_;
  std::vector<OpPoint> points_;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_REPORT_H
