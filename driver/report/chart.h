//===- chart.h - axes and lines of charts -------------------------------*- C++ -*-===//
//
// A chart's plot is a picture of 1000 by 1000 units that the page stretches; its labels are
// text beside it, placed in percent, so that they keep their size on every screen.
//
//===------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_REPORT_CHART_H
#define COLL_DRIVER_REPORT_CHART_H

#include "llvm/Support/JSON.h"

#include <functional>
#include <string>
#include <vector>

namespace coll::run {

/// Maps values to 0 … 1000.
class Scale {
public:
  /// From `low` to `high`, which are made to differ; logarithmic ones are positive.
  Scale(double low, double high, bool isLog = false);

  double at(double value) const;
  /// As at(), from the top.
  double fromTop(double value) const { return 1000 - at(value); }
  bool isLog() const { return isLog_; }

  using Format = std::function<std::string(double)>;
  /// Round values within the scale, at most about `count`: [{"at": percent, "unit": 0 … 1000,
  /// "shift": percent of the label's own width that it stands before that place, "text"}].
  llvm::json::Array ticks(int count, bool isFromTop, const Format &format) const;
  /// The same for an axis of steps: whole numbers only.
  llvm::json::Array stepTicks(int count) const;

private:
  std::vector<double> tickValues(int count) const;
  llvm::json::Array toTicks(const std::vector<double> &values, bool isFromTop,
                            const Format &format) const;

  double low_, high_;
  bool isLog_;
};

/// SVG path data, points in 0 … 1000.
class PathData {
public:
  void moveTo(double x, double y) { add('M', x, y); }
  void lineTo(double x, double y) { add('L', x, y); }
  void close() { text_ += 'Z'; }
  bool empty() const { return text_.empty(); }
  const std::string &str() const { return text_; }

private:
  void add(char command, double x, double y);
  std::string text_;
};

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_CHART_H
