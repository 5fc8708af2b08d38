//===- view_timeline.cc - timeline of the last step -----------------------------===//

#include "driver/report/chart.h"
#include "driver/report/format.h"
#include "driver/report/view.h"

#include <algorithm>

namespace coll::run {

namespace json = llvm::json;

namespace {

constexpr size_t kMaxLanes = 16;
/// Calls of one kind that are nearer to each other than this share of the picture are one.
constexpr double kMergeGap = 0.0008;

/// The ranks of the picture: all, or the one that computes longest and others, evenly.
std::vector<size_t> chooseRanks(const Analysis &analysis) {
  std::vector<size_t> known, chosen;
  for (size_t i = 0; i < analysis.ranks.size(); ++i)
    if (analysis.ranks[i].record && analysis.ranks[i].record->lastEnterNs > 0)
      known.push_back(i);
  if (known.size() <= kMaxLanes)
    return known;
  for (size_t lane = 0; lane < kMaxLanes; ++lane)
    chosen.push_back(known[lane * (known.size() - 1) / (kMaxLanes - 1)]);
  if (analysis.slowest && !std::binary_search(chosen.begin(), chosen.end(), *analysis.slowest)) {
    chosen.back() = *analysis.slowest;
    std::sort(chosen.begin(), chosen.end());
  }
  return chosen;
}

/// Calls that are drawn as one.
struct Block {
  std::string kind, what;
  double beginNs = 0, endNs = 0;
  int64_t calls = 1;
  bool isOpen = false;     // has not ended
  bool isInFlight = false; // asynchronous: the program went on
};

class Lane {
public:
  Lane(const Analysis &analysis, const RankSummary &rank, double offsetNs, double spanNs)
      : analysis_(analysis), rank_(rank), offset_(offsetNs), span_(spanNs) {}

  json::Object view() {
    const RankRecord &record = *rank_.record;
    for (const CallRecord &call : record.calls)
      addCall(call);
    double end = record.lastNs >= 0 ? double(record.lastNs) : span_ - offset_;
    json::Array blocks;
    for (const Block &block : blocks_)
      blocks.push_back(toJson(block));
    return json::Object{{"rank", rank_.rank},
                        {"x", at(0)},
                        {"width", width(end)},
                        {"failed", record.hasFailed},
                        {"label", "rank " + std::to_string(rank_.rank) + ": " +
                                      formatPlural(int64_t(record.calls.size()), "call") + " in " +
                                      formatTime(end)},
                        {"blocks", std::move(blocks)}};
  }

private:
  void addCall(const CallRecord &call) {
    Block block;
    block.isOpen = call.endNs < 0;
    block.beginNs = double(call.beginNs);
    double leave = rank_.record->lastNs >= 0 ? double(rank_.record->lastNs) : span_ - offset_;
    block.endNs = block.isOpen ? leave : double(call.endNs);
    block.isInFlight = !block.isOpen && call.blockedNs < (call.endNs - call.beginNs) * 9 / 10;
    if (const OperationRow *row = findRow(call.op)) {
      block.kind = row->info.kind;
      block.what = describeOperation(row->info);
    }
    if (!blocks_.empty() && canMerge(blocks_.back(), block)) {
      blocks_.back().endNs = std::max(blocks_.back().endNs, block.endNs);
      ++blocks_.back().calls;
      return;
    }
    blocks_.push_back(std::move(block));
  }

  bool canMerge(const Block &a, const Block &b) const {
    return a.kind == b.kind && !a.isOpen && !b.isOpen && !a.isInFlight && !b.isInFlight &&
           b.beginNs - a.endNs < kMergeGap * span_;
  }

  const OperationRow *findRow(int32_t op) const {
    if (rank_.classIndex < 0 || op < 0)
      return nullptr;
    const std::vector<size_t> &rowOf = analysis_.rowOf[static_cast<size_t>(rank_.classIndex)];
    return static_cast<size_t>(op) < rowOf.size() ? &analysis_.rows[rowOf[static_cast<size_t>(op)]]
                                                  : nullptr;
  }

  json::Object toJson(const Block &block) const {
    std::string what = block.calls > 1 ? formatCount(block.calls) + " × " + block.kind : block.what;
    return json::Object{
        {"x", at(block.beginNs)},
        {"width", width(block.endNs - block.beginNs)},
        {"colour", viewColour(block.kind)},
        {"open", block.isOpen},
        {"in_flight", block.isInFlight},
        {"title", viewText(what) + ": " +
                      (block.isOpen ? "not ended" : formatTime(block.endNs - block.beginNs)) +
                      " from " + formatTime(block.beginNs)}};
  }

  std::string at(double ns) const { return formatCoordinate(100 * (ns + offset_) / span_); }
  std::string width(double ns) const { return formatCoordinate(std::max(100 * ns / span_, 0.05)); }

  const Analysis &analysis_;
  const RankSummary &rank_;
  double offset_, span_;
  std::vector<Block> blocks_;
};

/// When the rank entered, after the first: only clocks of one machine can be compared.
double offsetOf(const RankSummary &rank, const std::vector<RankSummary> &ranks,
                const std::vector<size_t> &chosen) {
  int64_t first = rank.record->lastEnterNs;
  for (size_t i : chosen) {
    if (ranks[i].record->host != rank.record->host)
      return 0;
    first = std::min(first, ranks[i].record->lastEnterNs);
  }
  return double(rank.record->lastEnterNs - first);
}

double durationOf(const RankRecord &record) {
  if (record.lastNs >= 0)
    return double(record.lastNs);
  double latest = 1;
  for (const CallRecord &call : record.calls)
    latest = std::max({latest, double(call.beginNs) * 1.05, double(call.endNs)});
  return latest;
}

} // namespace

json::Value viewTimeline(const ReportContents &contents, const Analysis &analysis) {
  std::vector<size_t> chosen = chooseRanks(analysis);
  double span = 0;
  bool hasCalls = false, hasFailed = false;
  int64_t step = 0;
  for (size_t i : chosen) {
    const RankRecord &record = *analysis.ranks[i].record;
    span = std::max(span, durationOf(record) + offsetOf(analysis.ranks[i], analysis.ranks, chosen));
    hasCalls |= !record.calls.empty();
    hasFailed |= record.hasFailed;
    step = std::max(step, record.numSteps);
  }
  if (chosen.empty() || !hasCalls || span <= 0)
    return nullptr;
  bool isStep = step > 0 || contents.outcome == Outcome::Failed;
  if (!isStep)
    return nullptr;
  json::Array lanes;
  for (size_t i : chosen) {
    const RankSummary &rank = analysis.ranks[i];
    double offset = offsetOf(rank, analysis.ranks, chosen);
    json::Object lane = Lane(analysis, rank, offset, span).view();
    lane["slowest"] = analysis.slowest == i;
    lanes.push_back(std::move(lane));
  }
  json::Object view{{"lanes", std::move(lanes)},
                    {"xticks", Scale(0, span).ticks(6, false, formatTime)},
                    {"title", hasFailed ? "The failed run's last moments"
                                        : "Step " + formatCount(step) + ", rank by rank"}};
  size_t hidden = contents.ranks.size() - chosen.size();
  if (hidden > 0)
    view["hidden"] = formatPlural(int64_t(hidden), "more rank");
  return view;
}

} // namespace coll::run
