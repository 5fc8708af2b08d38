//===- view_charts.cc - charts over the steps -----------------------------------===//

#include "driver/report/chart.h"
#include "driver/report/data.h"
#include "driver/report/format.h"
#include "driver/report/series.h"
#include "driver/report/view.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace coll::run {

namespace json = llvm::json;

namespace {

constexpr int kXTicks = 6, kYTicks = 5;
/// From this ratio of the largest to the smallest loss on, the axis is logarithmic.
constexpr double kLogRatio = 50;
/// Steps are cut off where the longest takes this many times as long as this share of them.
constexpr double kOutlierRatio = 2.5, kUsualShare = 0.96;

Scale stepScale(int64_t steps) { return steps == 1 ? Scale(0.5, 1.5) : Scale(1, double(steps)); }

/// The range of the finite values, or none.
std::optional<std::pair<double, double>> rangeOf(const std::vector<SeriesPoint> &points) {
  std::optional<std::pair<double, double>> range;
  for (const SeriesPoint &point : points) {
    if (!point.numFinite)
      continue;
    if (!range)
      range = {point.min, point.max};
    range->first = std::min(range->first, point.min);
    range->second = std::max(range->second, point.max);
  }
  return range;
}

double middle(const SeriesPoint &point) { return double(point.first + point.last) / 2; }

/// The means as a line, with gaps where nothing is finite; single points become dots.
void drawLine(json::Object &chart, const std::vector<SeriesPoint> &points, const Scale &x,
              const Scale &y) {
  PathData line;
  json::Array dots;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!points[i].numFinite)
      continue;
    bool follows = i > 0 && points[i - 1].numFinite;
    bool leads = i + 1 < points.size() && points[i + 1].numFinite;
    double px = x.at(middle(points[i])), py = y.fromTop(points[i].mean);
    if (follows)
      line.lineTo(px, py);
    else
      line.moveTo(px, py);
    if (!follows && !leads)
      dots.push_back(
          json::Object{{"x", formatCoordinate(px / 10)}, {"y", formatCoordinate(py / 10)}});
  }
  chart["line"] = line.str();
  chart["dots"] = std::move(dots);
}

/// From the least to the most of each point, where points stand for several steps.
void drawBand(json::Object &chart, const std::vector<SeriesPoint> &points, const Scale &x,
              const Scale &y) {
  if (points.empty() || points.front().numSteps() == 1)
    return;
  PathData band;
  for (size_t begin = 0; begin < points.size();) {
    size_t end = begin;
    while (end < points.size() && points[end].numFinite)
      ++end;
    for (size_t i = begin; i < end; ++i) {
      double px = x.at(middle(points[i])), py = y.fromTop(points[i].max);
      i == begin ? band.moveTo(px, py) : band.lineTo(px, py);
    }
    for (size_t i = end; i > begin; --i)
      band.lineTo(x.at(middle(points[i - 1])), y.fromTop(points[i - 1].min));
    if (end > begin)
      band.close();
    begin = std::max(end, begin + 1);
  }
  chart["band"] = band.str();
}

/// The steps at which values were not finite.
void markBad(json::Object &chart, const std::vector<SeriesPoint> &points, const Scale &x) {
  json::Array bad;
  for (const SeriesPoint &point : points)
    if (point.numFinite < point.numSteps())
      bad.push_back(json::Object{{"x", formatCoordinate(x.at(middle(point)) / 10)}});
  chart["bad"] = std::move(bad);
}

std::string describeBad(const std::vector<double> &values) {
  int64_t count = 0, first = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) && ++count == 1)
      first = static_cast<int64_t>(i) + 1;
  if (count == 0)
    return "";
  return formatCount(count) + " of " + formatPlural(int64_t(values.size()), "value") +
         (count == 1 ? " is" : " are") + " not finite, the first at step " + formatCount(first);
}

json::Value viewOutput(const ScalarOutput &output, size_t index) {
  if (output.values.empty())
    return nullptr;
  std::vector<SeriesPoint> points = downsample(output.values, kMaxPoints);
  auto range = rangeOf(points);
  std::string name = viewText(output.name);
  json::Object figure{{"title", name}}, chart{{"data", "outputs." + std::to_string(index)}};
  std::string label = name + " over " + formatPlural(int64_t(output.values.size()), "step");
  if (range) {
    bool isLog = range->first > 0 && range->second / range->first >= kLogRatio;
    double margin = isLog ? 0 : (range->second / 2 - range->first / 2) * 0.08;
    Scale y(range->first - margin, range->second + margin, isLog);
    Scale x = stepScale(int64_t(output.values.size()));
    drawBand(chart, points, x, y);
    drawLine(chart, points, x, y);
    markBad(chart, points, x);
    chart["xticks"] = x.stepTicks(kXTicks);
    chart["yticks"] = y.ticks(kYTicks, true, formatNumber);
    label += ", from " + formatNumber(output.values.front()) + " to " +
             formatNumber(output.values.back());
    figure["summary"] = formatNumber(output.values.front()) + " → " +
                        formatNumber(output.values.back()) + (isLog ? "; logarithmic axis" : "");
  }
  if (std::string bad = describeBad(output.values); !bad.empty()) {
    figure["warning"] = bad;
    label += "; " + bad;
  }
  if (points.front().numSteps() > 1)
    figure["stride"] = formatCount(points.front().numSteps());
  chart["label"] = label;
  if (range)
    figure["plot"] = std::move(chart);
  return figure;
}

/// Mean over the ranks of one bucket of steps.
struct StepSpan {
  int64_t first = 0, last = 0;
  double computeNs = 0, blockedNs = 0, hostNs = 0;
};

std::vector<StepSpan> spansOf(const ReportContents &contents, const Analysis &analysis) {
  std::vector<StepSpan> spans;
  double numRanks = 0;
  for (const RankSummary &rank : analysis.ranks) {
    if (!rank.record || rank.record->buckets.empty())
      continue;
    const std::vector<StepBucket> &buckets = rank.record->buckets;
    if (spans.empty())
      spans.resize(buckets.size());
    if (buckets.size() != spans.size())
      continue; // a rank that has failed in another step
    ++numRanks;
    int64_t step = 1;
    for (size_t i = 0; i < buckets.size(); ++i) {
      spans[i].first = step;
      spans[i].last = step + buckets[i].steps - 1;
      spans[i].computeNs += double(buckets[i].computeNs) / double(buckets[i].steps);
      spans[i].blockedNs += double(buckets[i].blockedNs) / double(buckets[i].steps);
      step = spans[i].last + 1;
    }
  }
  for (StepSpan &span : spans) {
    span.computeNs /= numRanks;
    span.blockedNs /= numRanks;
    int64_t end = std::min<int64_t>(span.last, int64_t(contents.stepSeconds.size()));
    for (int64_t step = span.first; step <= end; ++step)
      span.hostNs += contents.stepSeconds[static_cast<size_t>(step - 1)] * 1e9 /
                     double(span.last - span.first + 1);
  }
  return spans;
}

/// The area between two heights, one stair per span.
std::string drawStairs(const std::vector<StepSpan> &spans, const Scale &x, const Scale &y,
                       double (*low)(const StepSpan &), double (*high)(const StepSpan &)) {
  PathData area;
  for (size_t i = 0; i < spans.size(); ++i) {
    double py = y.fromTop(high(spans[i]));
    double left = x.at(double(spans[i].first) - 0.5);
    i == 0 ? area.moveTo(left, py) : area.lineTo(left, py);
    area.lineTo(x.at(double(spans[i].last) + 0.5), py);
  }
  for (size_t i = spans.size(); i > 0; --i) {
    double py = y.fromTop(low(spans[i - 1]));
    area.lineTo(x.at(double(spans[i - 1].last) + 0.5), py);
    area.lineTo(x.at(double(spans[i - 1].first) - 0.5), py);
  }
  area.close();
  return area.str();
}

double zero(const StepSpan &) { return 0; }
double compute(const StepSpan &span) { return span.computeNs; }
double program(const StepSpan &span) { return span.computeNs + span.blockedNs; }
double whole(const StepSpan &span) { return std::max(span.hostNs, program(span)); }

/// The upper end of the axis: a few steps that the machine held up do not flatten the rest.
double topOf(const std::vector<StepSpan> &spans) {
  std::vector<double> times;
  for (const StepSpan &span : spans)
    times.push_back(whole(span));
  std::sort(times.begin(), times.end());
  double usual = times[static_cast<size_t>(kUsualShare * double(times.size() - 1))];
  bool hasOutliers = times.back() > kOutlierRatio * usual;
  return (hasOutliers ? 1.5 * usual : times.back()) * 1.08;
}

} // namespace

json::Value viewOutputs(const ReportContents &contents) {
  json::Array charts;
  for (size_t i = 0; i < contents.outputs.size(); ++i)
    if (json::Value chart = viewOutput(contents.outputs[i], i); chart.getAsObject())
      charts.push_back(std::move(chart));
  if (charts.empty())
    return nullptr;
  bool isOne = charts.size() == 1;
  return json::Object{{"charts", std::move(charts)}, {"is_one", isOne}};
}

json::Value viewStepTimes(const ReportContents &contents, const Analysis &analysis) {
  std::vector<StepSpan> spans = spansOf(contents, analysis);
  if (spans.empty())
    return nullptr;
  json::Object figure, chart;
  double top = topOf(spans);
  int64_t above = 0;
  double longest = 0;
  for (const StepSpan &span : spans)
    if (whole(span) > top) {
      above += span.last - span.first + 1;
      longest = std::max(longest, whole(span));
    }
  if (above > 0)
    figure["warning"] =
        formatPlural(above, "step") + " above the scale, up to " + formatTime(longest);
  Scale x(0.5, double(spans.back().last) + 0.5), y(0, top);
  chart["areas"] = json::Array{
      json::Object{{"colour", "compute"}, {"d", drawStairs(spans, x, y, zero, compute)}},
      json::Object{{"colour", "communication"}, {"d", drawStairs(spans, x, y, compute, program)}},
      json::Object{{"colour", "host"}, {"d", drawStairs(spans, x, y, program, whole)}}};
  chart["xticks"] = x.stepTicks(kXTicks);
  chart["yticks"] = y.ticks(kYTicks, true, formatTime);
  chart["data"] = "step_ns";
  chart["label"] = "Time per step over " + formatPlural(spans.back().last, "step") +
                   ": computing, communicating, and around the program";
  figure["plot"] = std::move(chart);
  return figure;
}

} // namespace coll::run
