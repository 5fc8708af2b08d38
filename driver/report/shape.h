//===- shape.h - the rank programs, side by side ------------------------*- C++ -*-===//
//
// Lanes are classes of ranks; a lane's events are its communication operations in order.
// Events that meet share a column; columns that repeat are folded into one run.
//
//===------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_REPORT_SHAPE_H
#define COLL_DRIVER_REPORT_SHAPE_H

#include "driver/report/analysis.h"

namespace coll::run {

struct ShapeEvent {
  size_t row = 0;  // of Analysis::rows
  int peer = -1;   // rank of the other side of a send or recv
  int64_t tag = 0; // of a send or recv
  size_t column = 0;
};

struct ShapeLane {
  int classIndex = 0;
  std::vector<ShapeEvent> events;
};

/// A send in one lane and the recv that takes it.
struct ShapeLink {
  size_t fromLane, fromEvent, toLane, toEvent;
};

/// `period` columns from `first` on, `repeats` times.
struct ShapeRun {
  size_t first = 0, period = 1, repeats = 1;
};

struct Shape {
  std::vector<ShapeLane> lanes;
  std::vector<ShapeLink> links;
  std::vector<ShapeRun> runs;
  bool isMeasured = false; // events are those of a step that ran, not of the program's text
  // The event of each lane in each column, or -1.
  std::vector<std::vector<int64_t>> grid;
};

Shape makeShape(const ReportContents &contents, const Analysis &analysis);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_SHAPE_H
