#include "tools/coll-perf/plot.h"

#include "tools/coll-perf/output.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace coll::perf {

namespace {

constexpr double kWidth = 760, kHeight = 300, kLeft = 70, kRight = 190, kTop = 36, kBottom = 44;
const char *const kColors[] = {"#1f6fb4", "#d1662b", "#3a923a", "#8558a6", "#7f7f7f"};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", value);
  return text;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string text(double x, double y, const std::string &words, const char *anchor,
                 const char *extra = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\" " +
         extra + ">" + escaped(words) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char *color) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
         "\" y2=\"" + number(y2) + "\" stroke=\"" + color + "\"/>\n";
}

// Converts values to positions. `low` and `high` are logarithms.
struct Scale {
  double low = INFINITY, high = -INFINITY, from = 0, to = 0;
  void take(double log) {
    low = std::min(low, log);
    high = std::max(high, log);
  }
  double at(double log) const {
    return high > low ? from + (log - low) / (high - low) * (to - from) : (from + to) / 2;
  }
};

// The powers of ten between low and high, and their multiples by 2 and 5.
std::vector<double> ticks(const Scale &scale) {
  std::vector<double> result;
  for (int power = static_cast<int>(std::floor(scale.low)); power <= scale.high; ++power)
    for (double step : {1.0, 2.0, 5.0}) {
      double value = step * std::pow(10, power);
      if (std::log10(value) >= scale.low && std::log10(value) <= scale.high)
        result.push_back(value);
    }
  return result;
}

std::string amount(const Chart &chart, double value) {
  return chart.countOf.empty() ? formatBytes(static_cast<uint64_t>(value)) : number(value);
}

std::string axes(const Chart &chart, const Scale &x, const Scale &y, double top) {
  std::string out = text(kLeft, top + 20, chart.title, "start", "font-weight=\"bold\"");
  for (double value : ticks(y)) {
    double at = y.at(std::log10(value));
    out += line(x.from, at, x.to, at, "#dddddd");
    out += text(x.from - 6, at + 4, number(value), "end");
  }
  int step = std::max(1, static_cast<int>((x.high - x.low) / 8 + 0.5));
  for (int power = static_cast<int>(std::ceil(x.low)); power <= x.high; power += step) {
    double at = x.at(power);
    out += line(at, y.from, at, y.to, "#eeeeee");
    out += text(at, y.from + 18, amount(chart, std::exp2(power)), "middle");
  }
  out += line(x.from, y.from, x.to, y.from, "#333333");
  out += line(x.from, y.from, x.from, y.to, "#333333");
  out += text(x.to + 12, y.from + 18, chart.countOf, "start");
  return out + text(x.from - 6, y.to - 8, chart.unit, "end");
}

std::string drawCurve(const Chart &chart, size_t index, const Scale &x, const Scale &y,
                      double top) {
  Curve curve = chart.curves[index];
  std::sort(curve.points.begin(), curve.points.end()); // they may have been measured in any order
  std::string color = kColors[index % 5], path, dots;
  for (const auto &[place, value] : curve.points) {
    std::string px = number(x.at(std::log2(place))), py = number(y.at(std::log10(value)));
    path += px + "," + py + " ";
    dots += "<circle cx=\"" + px + "\" cy=\"" + py + "\" r=\"3\" fill=\"" + color + "\"><title>" +
            amount(chart, place) + ": " + number(value) + "</title></circle>\n";
  }
  double legend = top + kTop + 16 * static_cast<double>(index) + 8;
  return "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + color + "\" points=\"" + path +
         "\"/>\n" + dots +
         line(kWidth - kRight + 12, legend, kWidth - kRight + 30, legend, color.c_str()) +
         text(kWidth - kRight + 36, legend + 4, curve.label, "start");
}

std::string drawChart(const Chart &chart, double top) {
  Scale x, y;
  for (const Curve &curve : chart.curves)
    for (const auto &[bytes, value] : curve.points) {
      x.take(std::log2(bytes));
      y.take(std::log10(value));
    }
  if (x.low > x.high)
    return "";
  x.from = kLeft, x.to = kWidth - kRight;
  y.from = top + kHeight - kBottom, y.to = top + kTop;
  y.low -= 0.05, y.high += 0.05;
  std::string out = axes(chart, x, y, top);
  for (size_t i = 0; i < chart.curves.size(); ++i)
    out += drawCurve(chart, i, x, y, top);
  return out;
}

bool endsWith(const std::string &path, const std::string &end) {
  return path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
}

bool isPng(const std::string &path) { return endsWith(path, ".png"); }

constexpr char kHasConverter[] = "rsvg-convert --version >/dev/null 2>&1";

rt::Status convert(const std::string &svg, const std::string &path) {
  // Twice the size, so that it is sharp on a dense screen.
  std::string command = "rsvg-convert --zoom=2 --format=png --output='";
  for (char c : path)
    command += c == '\'' ? "'\\''" : std::string(1, c);
  std::FILE *pipe = popen((command + "'").c_str(), "w");
  if (!pipe)
    return {kCollInternal, "rsvg-convert cannot be started"};
  const bool isWritten = std::fwrite(svg.data(), 1, svg.size(), pipe) == svg.size();
  if (pclose(pipe) != 0 || !isWritten)
    return {kCollInvalidCall, "rsvg-convert cannot write \"" + path + "\""};
  return {};
}

} // namespace

Curve &curveOf(Chart &chart, const std::string &label) {
  for (Curve &curve : chart.curves)
    if (curve.label == label)
      return curve;
  chart.curves.push_back({label, {}});
  return chart.curves.back();
}

std::string drawSvg(const std::string &title, const std::vector<Chart> &charts) {
  double height = 40 + kHeight * static_cast<double>(charts.size());
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(kWidth) +
                    "\" height=\"" + number(height) + "\" font-family=\"sans-serif\" " +
                    "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
                    text(kLeft, 26, title, "start", "font-size=\"15\"");
  for (size_t i = 0; i < charts.size(); ++i)
    out += drawChart(charts[i], 40 + kHeight * static_cast<double>(i));
  return out + "</svg>\n";
}

std::string whyNotPlottable(const std::string &path) {
  if (std::string why = whyNotWritable(path); !why.empty())
    return why;
  if (!isPng(path) && !endsWith(path, ".svg"))
    return "the name of the file has to end in .svg or .png, not \"" + path + "\"";
  if (isPng(path) && std::system(kHasConverter) != 0)
    return "a PNG file needs rsvg-convert (Debian's package is librsvg2-bin); SVG needs nothing";
  return {};
}

rt::Status writePlot(const std::string &path, const std::string &title,
                     const std::vector<Chart> &charts) {
  const std::string svg = drawSvg(title, charts);
  return isPng(path) ? convert(svg, path) : replaceFile(path, svg);
}

} // namespace coll::perf
