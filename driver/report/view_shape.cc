//===- view_shape.cc - the rank programs as a picture ----------------------------===//
//
// Drawn like a score: lanes are staves, and where a line is full the next one begins.
//
//===------------------------------------------------------------------------===//

#include "driver/report/format.h"
#include "driver/report/shape.h"
#include "driver/report/view.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace coll::run {

namespace json = llvm::json;

namespace {

// Pixels.
constexpr double kWidth = 1040, kLabelWidth = 128, kGap = 14;
constexpr double kLaneHeight = 76, kBlockHeight = 54, kSystemTop = 26, kSystemGap = 18;
constexpr double kBarPitch = 5, kBarHeight = 13;
constexpr double kCharacter = 7.2; // of the font for labels, on average
constexpr double kCompactWidth = 14, kCompactGap = 4;
constexpr size_t kMaxBars = 40;

constexpr size_t kMaxLanes = 10, kLastLanes = 3;
/// With more blocks than this they are drawn without words; with many more, not all.
constexpr size_t kMaxWordyBlocks = 48, kMaxBlocks = 480;

struct Position {
  double left = 0, width = 0, top = 0; // top of the system
  double middle() const { return left + width / 2; }
};

class ShapePainter {
public:
  ShapePainter(const ReportContents &contents, const Analysis &analysis, const Shape &shape)
      : contents_(contents), analysis_(analysis), shape_(shape) {
    size_t blocks = 0;
    for (const ShapeRun &run : shape.runs)
      blocks += run.period;
    isCompact_ = blocks > kMaxWordyBlocks;
    chooseLanes();
  }

  json::Object paint() {
    startSystem();
    for (size_t r = 0; r < shape_.runs.size(); ++r) {
      if (numBlocks_ + shape_.runs[r].period > kMaxBlocks) {
        hiddenColumns_ = shape_.grid.size() - shape_.runs[r].first;
        break;
      }
      paintRun(shape_.runs[r]);
    }
    endSystem();
    paintLinks();
    double height = top_ + systemHeight();
    json::Object view{{"width", formatCoordinate(kWidth)},    {"height", formatCoordinate(height)},
                      {"lanes", std::move(lanes_)},           {"blocks", std::move(blocks_)},
                      {"connectors", std::move(connectors_)}, {"links", std::move(links_)},
                      {"brackets", std::move(brackets_)},     {"compact", isCompact_},
                      {"measured", shape_.isMeasured}};
    if (hiddenColumns_ > 0)
      view["hidden"] = formatPlural(int64_t(hiddenColumns_), "more operation");
    return view;
  }

private:
  /// Slots of the picture: a lane each, or one for all that are left out.
  void chooseLanes() {
    size_t n = shape_.lanes.size();
    slotOf_.resize(n);
    for (size_t l = 0; l < n; ++l) {
      bool isHidden = n > kMaxLanes && l >= kMaxLanes - kLastLanes - 1 && l < n - kLastLanes;
      if (!isHidden || hiddenSlot_ < 0)
        slots_.emplace_back();
      slots_.back().push_back(l);
      slotOf_[l] = slots_.size() - 1;
      if (isHidden)
        hiddenSlot_ = static_cast<int>(slotOf_[l]);
    }
  }

  bool isHiddenSlot(size_t slot) const { return static_cast<int>(slot) == hiddenSlot_; }
  double systemHeight() const { return kSystemTop + kLaneHeight * double(slots_.size()); }
  double laneMiddle(size_t slot, double top) const {
    return top + kSystemTop + kLaneHeight * (double(slot) + 0.5);
  }

  void startSystem() { x_ = kLabelWidth + kGap; }

  /// The lanes' lines and names.
  void endSystem() {
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      json::Object lane{{"x1", formatCoordinate(kLabelWidth)},
                        {"x2", formatCoordinate(std::min(x_, kWidth))},
                        {"y", formatCoordinate(laneMiddle(slot, top_))},
                        {"y_name", formatCoordinate(laneMiddle(slot, top_) - 3)},
                        {"y_detail", formatCoordinate(laneMiddle(slot, top_) + 12)}};
      if (isHiddenSlot(slot)) {
        lane["name"] = "…";
        lane["detail"] = formatCount(int64_t(slots_[slot].size())) + " more classes";
      } else {
        const rt::Descriptor &cls = contents_.classes[slots_[slot].front()];
        int64_t count = 0;
        for (auto [first, last] : cls.ranks)
          count += last - first + 1;
        std::string name = (count == 1 ? "rank " : "ranks ") + formatRanges(cls.ranks);
        constexpr size_t kLongest = 17;
        lane["full"] = name;
        lane["name"] = name.size() > kLongest ? formatPlural(count, "rank") : name;
        lane["detail"] = shape_.lanes.size() == 1 ? "one program for all"
                                                  : "class " + std::to_string(slots_[slot].front());
      }
      lanes_.push_back(std::move(lane));
    }
  }

  const OperationRow &rowAt(size_t column, size_t lane) const {
    size_t event = static_cast<size_t>(shape_.grid[column][lane]);
    return analysis_.rows[shape_.lanes[lane].events[event].row];
  }

  /// The first lane that has an event in the column.
  size_t firstLane(size_t column) const {
    size_t lane = 0;
    while (shape_.grid[column][lane] < 0)
      ++lane;
    return lane;
  }

  std::string secondLine(const ShapeRun &run, size_t column, size_t lane) const {
    double bytes = 0;
    for (size_t k = 0; k < run.repeats; ++k)
      bytes += rowAt(column + k * run.period, lane).bytesPerCall;
    bool showsCount = run.period == 1 && run.repeats > 1;
    return (showsCount ? "× " + formatCount(int64_t(run.repeats)) + " · " : "") +
           formatBytes(bytes);
  }

  double blockWidth(const ShapeRun &run, size_t column) const {
    if (isCompact_)
      return kCompactWidth;
    double letters = 0;
    for (size_t lane = 0; lane < shape_.lanes.size(); ++lane)
      if (shape_.grid[column][lane] >= 0)
        letters = std::max({letters, double(rowAt(column, lane).info.kind.size()),
                            double(secondLine(run, column, lane).size())});
    double bars = kBarPitch * double(std::min(run.repeats, kMaxBars));
    return std::min(std::max(letters * kCharacter + 18, bars + 18),
                    kWidth - kLabelWidth - 4 * kGap);
  }

  void paintRun(const ShapeRun &run) {
    std::vector<double> widths;
    double total = 0;
    for (size_t i = 0; i < run.period; ++i) {
      widths.push_back(blockWidth(run, run.first + i));
      total += widths.back() + gap();
    }
    if (x_ > kLabelWidth + kGap && x_ + std::min(total, kWidth - kLabelWidth) > kWidth)
      nextSystem();
    double left = x_;
    for (size_t i = 0; i < run.period; ++i) {
      if (x_ + widths[i] > kWidth && x_ > kLabelWidth + kGap) {
        nextSystem();
        left = x_;
      }
      Position position{x_, widths[i], top_};
      for (size_t k = 0; k < run.repeats; ++k)
        positions_[run.first + i + k * run.period] = position;
      paintColumn(run, run.first + i, position);
      x_ += widths[i] + gap();
      ++numBlocks_;
    }
    if (run.period > 1)
      brackets_.push_back(json::Object{{"x", formatCoordinate(left - gap() / 2)},
                                       {"y", formatCoordinate(top_ + 6)},
                                       {"width", formatCoordinate(x_ - left)},
                                       {"height", formatCoordinate(systemHeight() - 6)},
                                       {"text_x", formatCoordinate(left)},
                                       {"text_y", formatCoordinate(top_ + 19)},
                                       {"text", "× " + formatCount(int64_t(run.repeats))}});
  }

  double gap() const { return isCompact_ ? kCompactGap : kGap; }

  void nextSystem() {
    endSystem();
    top_ += systemHeight() + kSystemGap;
    startSystem();
  }

  void paintColumn(const ShapeRun &run, size_t column, const Position &position) {
    size_t last = SIZE_MAX;
    for (size_t lane = 0; lane < shape_.lanes.size(); ++lane) {
      if (shape_.grid[column][lane] < 0)
        continue;
      size_t slot = slotOf_[lane];
      const OperationRow &row = rowAt(column, lane);
      bool isTransfer = row.info.kind == "send" || row.info.kind == "recv";
      if (last != SIZE_MAX && slot != last && !isTransfer)
        connect(position, last, slot, row);
      bool isSeen = slot == last;
      if (!isTransfer || last == SIZE_MAX)
        last = slot;
      if (!isHiddenSlot(slot))
        paintBlock(run, column, lane, position);
      else if (!isSeen)
        paintDots(position, slot, row);
    }
  }

  void connect(const Position &position, size_t from, size_t to, const OperationRow &row) {
    connectors_.push_back(
        json::Object{{"x", formatCoordinate(position.middle())},
                     {"y1", formatCoordinate(laneMiddle(from, position.top) + kBlockHeight / 2)},
                     {"y2", formatCoordinate(laneMiddle(to, position.top) - kBlockHeight / 2)},
                     {"colour", viewColour(row.info.kind)}});
  }

  /// In the lane that stands for those left out.
  void paintDots(const Position &position, size_t slot, const OperationRow &row) {
    double middle = laneMiddle(slot, position.top);
    connectors_.push_back(json::Object{{"x", formatCoordinate(position.middle())},
                                       {"y1", formatCoordinate(middle - kBlockHeight / 2)},
                                       {"y2", formatCoordinate(middle + kBlockHeight / 2)},
                                       {"dotted", true},
                                       {"colour", viewColour(row.info.kind)}});
  }

  void paintBlock(const ShapeRun &run, size_t column, size_t lane, const Position &position) {
    const OperationRow &row = rowAt(column, lane);
    double middle = laneMiddle(slotOf_[lane], position.top);
    std::string what = (run.repeats > 1 ? formatCount(int64_t(run.repeats)) + " × " : "") +
                       describeOperation(row.info) + ", " + secondBytes(run, column, lane) + ", " +
                       describeGroups(row.groups, contents_.numRanks);
    if (run.repeats == 1 && !row.info.loc.empty())
      what += ", " + row.info.loc;
    json::Object block{{"x", formatCoordinate(position.left)},
                       {"y", formatCoordinate(middle - kBlockHeight / 2)},
                       {"width", formatCoordinate(position.width)},
                       {"height", formatCoordinate(kBlockHeight)},
                       {"colour", viewColour(row.info.kind)},
                       {"title", viewText(what)},
                       {"bars", bars(run, column, lane, position, middle)}};
    if (!isCompact_) {
      block["words"] = json::Object{{"x", formatCoordinate(position.left + 9)},
                                    {"y1", formatCoordinate(middle - (run.repeats > 1 ? 12 : 3))},
                                    {"y2", formatCoordinate(middle + (run.repeats > 1 ? 2 : 12))},
                                    {"kind", viewText(row.info.kind)},
                                    {"detail", secondLine(run, column, lane)}};
    }
    blocks_.push_back(std::move(block));
  }

  std::string secondBytes(const ShapeRun &run, size_t column, size_t lane) const {
    double bytes = 0;
    for (size_t k = 0; k < run.repeats; ++k)
      bytes += rowAt(column + k * run.period, lane).bytesPerCall;
    return formatBytes(bytes);
  }

  /// A bar per operation of a folded block; its length is the logarithm of its bytes.
  json::Array bars(const ShapeRun &run, size_t column, size_t lane, const Position &position,
                   double middle) const {
    json::Array bars;
    if (run.repeats == 1 || isCompact_)
      return bars;
    size_t count = std::min(run.repeats, kMaxBars);
    double pitch = (position.width - 18) / double(count);
    for (size_t i = 0; i < count; ++i) {
      double most = 0;
      for (size_t k = i * run.repeats / count; k < (i + 1) * run.repeats / count; ++k)
        most = std::max(most, rowAt(column + k * run.period, lane).bytesPerCall);
      double length = std::clamp(std::log10(most + 1) / 9, 0.12, 1.0) * kBarHeight;
      bars.push_back(json::Object{{"x", formatCoordinate(position.left + 9 + pitch * double(i))},
                                  {"y", formatCoordinate(middle + kBlockHeight / 2 - 6 - length)},
                                  {"width", formatCoordinate(std::max(pitch - 1, 0.8))},
                                  {"height", formatCoordinate(length)}});
    }
    return bars;
  }

  /// Arrows from sends to their recvs; one for all repetitions.
  void paintLinks() {
    for (const ShapeLink &link : shape_.links) {
      size_t from = shape_.lanes[link.fromLane].events[link.fromEvent].column;
      size_t to = shape_.lanes[link.toLane].events[link.toEvent].column;
      auto a = positions_.find(from), b = positions_.find(to);
      if (a == positions_.end() || b == positions_.end() || a->second.top != b->second.top)
        continue;
      paintLink(link, a->second, b->second);
    }
  }

  void paintLink(const ShapeLink &link, const Position &a, const Position &b) {
    size_t from = slotOf_[link.fromLane], to = slotOf_[link.toLane];
    double half = kBlockHeight / 2;
    double x1 = a.middle(), x2 = b.middle();
    std::string path;
    auto pair = [](double x, double y) { return formatCoordinate(x) + " " + formatCoordinate(y); };
    if (from == to) {
      double y = laneMiddle(from, a.top) - half;
      path = "M" + pair(x1, y) + " C" + pair(x1, y - 22) + " " + pair(x2, y - 22) + " " +
             pair(x2, y - 2);
    } else {
      bool isDown = to > from;
      double y1 = laneMiddle(from, a.top) + (isDown ? half : -half);
      double y2 = laneMiddle(to, a.top) - (isDown ? half + 2 : -half - 2);
      double bend = (y2 - y1) / 2;
      path = "M" + pair(x1, y1) + " C" + pair(x1, y1 + bend) + " " + pair(x2, y2 - bend) + " " +
             pair(x2, y2);
    }
    if (std::find(drawn_.begin(), drawn_.end(), path) != drawn_.end())
      return;
    drawn_.push_back(path);
    links_.push_back(json::Object{{"d", path}});
  }

  const ReportContents &contents_;
  const Analysis &analysis_;
  const Shape &shape_;
  bool isCompact_ = false;
  std::vector<std::vector<size_t>> slots_;
  std::vector<size_t> slotOf_;
  int hiddenSlot_ = -1;

  double x_ = 0, top_ = 0;
  size_t numBlocks_ = 0, hiddenColumns_ = 0;
  std::map<size_t, Position> positions_; // by column
  std::vector<std::string> drawn_;
  json::Array lanes_, blocks_, connectors_, links_, brackets_;
};

std::string describeShape(const ReportContents &contents, const Shape &shape) {
  size_t operations = 0;
  for (const ShapeLane &lane : shape.lanes)
    operations = std::max(operations, lane.events.size());
  return formatPlural(contents.numRanks, "rank") + " in " +
         (shape.lanes.size() == 1 ? "one class"
                                  : formatCount(int64_t(shape.lanes.size())) + " classes") +
         ", up to " + formatPlural(int64_t(operations), "communication operation") + " each";
}

} // namespace

json::Value viewShape(const ReportContents &contents, const Analysis &analysis) {
  Shape shape = makeShape(contents, analysis);
  if (shape.grid.empty())
    return nullptr;
  json::Object view = ShapePainter(contents, analysis, shape).paint();
  view["label"] = describeShape(contents, shape);
  return view;
}

} // namespace coll::run
