// plot.h - curves over message sizes or other numbers, as an SVG or PNG file.

#ifndef COLL_TOOLS_COLL_PERF_PLOT_H
#define COLL_TOOLS_COLL_PERF_PLOT_H

#include "runtime/base/status.h"

#include <string>
#include <utility>
#include <vector>

namespace coll::perf {

struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points; // bytes or another number, value; both above 0
};

// One chart, with bytes (or another number) on the horizontal axis and values on the vertical one,
// both logarithmic.
struct Chart {
  std::string title;
  std::string unit;
  std::vector<Curve> curves;
  std::string countOf = {}; // "tokens": the horizontal axis has these, not bytes
};

// Returns the chart's curve of that name, and creates it if there is none.
Curve &curveOf(Chart &chart, const std::string &label);

// Draws the charts one below the other.
std::string drawSvg(const std::string &title, const std::vector<Chart> &charts);

inline constexpr char kPlotHelp[] = "write curves to this file (.svg; .png needs rsvg-convert)";
// Returns why no plot of that name can be written, or "".
std::string whyNotPlottable(const std::string &path);
// Writes a PNG file if the name ends in .png, else SVG.
rt::Status writePlot(const std::string &path, const std::string &title,
                     const std::vector<Chart> &charts);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_PLOT_H
