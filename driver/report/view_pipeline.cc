//===- view_pipeline.cc - the schedule of a pipeline, predicted and measured -----===//

#include "driver/report/chart.h"
#include "driver/report/format.h"
#include "driver/report/measured_pipeline.h"
#include "driver/report/view.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace coll::run {

namespace json = llvm::json;

namespace {

constexpr int kMaxLanes = 16;
/// Narrower blocks, in percent of the picture, have no number.
constexpr double kNumberWidth = 1.5;
/// Pixels of the line that shows kept activations.
constexpr double kKeptHeight = 10, kKeptBottom = 34;

const char *colourOf(plan::StageWork work) {
  switch (work) {
  case plan::StageWork::Forward:
    return "forward";
  case plan::StageWork::Backward:
    return "backward";
  case plan::StageWork::InputGradient:
    return "input-gradient";
  case plan::StageWork::WeightGradient:
    return "weight-gradient";
  }
  llvm_unreachable("every work has a case");
}

const char *nameOf(plan::StageWork work) {
  switch (work) {
  case plan::StageWork::Forward:
    return "forward pass";
  case plan::StageWork::Backward:
    return "backward pass";
  case plan::StageWork::InputGradient:
    return "input gradients";
  case plan::StageWork::WeightGradient:
    return "weight gradients";
  }
  llvm_unreachable("every work has a case");
}

/// All stages, or some of them, evenly.
std::vector<int> chooseStages(int numStages) {
  std::vector<int> chosen;
  const int lanes = std::min(numStages, kMaxLanes);
  for (int lane = 0; lane < lanes; ++lane)
    chosen.push_back(lanes == 1 ? 0 : lane * (numStages - 1) / (lanes - 1));
  return chosen;
}

/// A picture of one timeline, whose unit is `ns` nanoseconds.
class Picture {
public:
  Picture(const plan::Pipeline &pipeline, const plan::Timeline &timeline, double ns)
      : pipeline_(pipeline), timeline_(timeline), ns_(ns) {
    for (int stage = 0; stage < pipeline.schedule.numRanks(); ++stage)
      mostKept_ = std::max(mostKept_, plan::peakKept(pipeline, stage).count);
  }

  json::Object view(std::string title) const {
    json::Array lanes;
    for (int stage : chooseStages(pipeline_.schedule.numRanks()))
      lanes.push_back(viewLane(stage));
    return json::Object{{"title", std::move(title)},
                        {"idle", formatPercent(timeline_.idleFraction())},
                        {"lanes", std::move(lanes)},
                        {"xticks", Scale(0, timeline_.makespan * ns_).ticks(6, false, formatTime)}};
  }

private:
  json::Object viewLane(int stage) const {
    const std::vector<plan::ScheduleSpan> &spans = timeline_.ranks[size_t(stage)];
    const std::vector<plan::KeptActivations> kept = plan::keptAfterEntries(pipeline_, stage);
    json::Array blocks, keeps;
    for (size_t i = 0; i < spans.size(); ++i) {
      blocks.push_back(viewSpan(spans[i]));
      const double until = i + 1 < spans.size() ? spans[i + 1].end : spans[i].end;
      const double height = kKeptHeight * kept[i].count / std::max(mostKept_, 1);
      if (kept[i].count > 0)
        keeps.push_back(json::Object{
            {"x", at(spans[i].end)},
            {"width", at(until - spans[i].end)},
            {"y", formatCoordinate(kKeptBottom - height)},
            {"height", formatCoordinate(height)},
            {"title", formatCount(kept[i].count) + " kept, " + formatBytes(kept[i].bytes)}});
    }
    return json::Object{{"stage", stage},
                        {"blocks", std::move(blocks)},
                        {"keeps", std::move(keeps)},
                        {"label", "stage " + std::to_string(stage) + ": idle for " +
                                      formatTime(timeline_.bubble[size_t(stage)] * ns_)}};
  }

  json::Object viewSpan(const plan::ScheduleSpan &span) const {
    const double width = 100 * (span.end - span.begin) / timeline_.makespan;
    json::Object block{{"x", at(span.begin)},
                       {"width", formatCoordinate(width)},
                       {"colour", colourOf(span.entry.work)},
                       {"odd", isLaterChunk(span.entry.chunk)},
                       {"title", std::string(nameOf(span.entry.work)) + " of micro-batch " +
                                     std::to_string(span.entry.microBatch) + chunkOf(span.entry) +
                                     ": " + formatTime((span.end - span.begin) * ns_) + " from " +
                                     formatTime(span.begin * ns_)}};
    if (width >= kNumberWidth)
      block["number"] = json::Object{{"x", at((span.begin + span.end) / 2)},
                                     {"text", std::to_string(span.entry.microBatch)}};
    return block;
  }

  bool hasChunks() const { return pipeline_.schedule.numChunks > pipeline_.schedule.numRanks(); }
  bool isLaterChunk(int chunk) const {
    const std::vector<int> &rankOf = pipeline_.schedule.rankOfChunk;
    return std::find(rankOf.begin(), rankOf.begin() + chunk, rankOf[size_t(chunk)]) !=
           rankOf.begin() + chunk;
  }
  std::string chunkOf(const plan::ScheduleEntry &entry) const {
    return hasChunks() ? " in chunk " + std::to_string(entry.chunk) : "";
  }
  std::string at(double time) const { return formatCoordinate(100 * time / timeline_.makespan); }

  const plan::Pipeline &pipeline_;
  const plan::Timeline &timeline_;
  double ns_;
  int mostKept_ = 0;
};

double workOf(const plan::Timeline &timeline, int stage) {
  double work = 0;
  for (const plan::ScheduleSpan &span : timeline.ranks[size_t(stage)])
    work += span.end - span.begin;
  return work;
}

json::Array viewStages(const ReportContents &contents, const Analysis &analysis,
                       const plan::Timeline &predicted,
                       const std::optional<plan::Timeline> &measured) {
  const plan::Pipeline &pipeline = *contents.pipeline;
  json::Array rows;
  for (int stage = 0; stage < pipeline.schedule.numRanks(); ++stage) {
    const int first = firstRankOf(contents, stage), next = firstRankOf(contents, stage + 1);
    const plan::KeptActivations peak = plan::peakKept(pipeline, stage);
    json::Object row{
        {"stage", stage},
        {"ranks", formatRanges({{first, next - 1}})},
        {"operations", formatCount(pipeline.ranks[size_t(stage)].numOps)},
        {"predicted_work", formatTime(workOf(predicted, stage) * 1e3)},
        {"predicted_idle", formatTime(predicted.bubble[size_t(stage)] * 1e3)},
        {"measured_work", measured ? formatTime(workOf(*measured, stage)) : "–"},
        {"measured_idle", measured ? formatTime(measured->bubble[size_t(stage)]) : "–"},
        {"kept", formatCount(peak.count)},
        {"kept_bytes", formatBytes(peak.bytes)}};
    for (const RankSummary &rank : analysis.ranks)
      if (rank.rank == first)
        row["temporaries"] = formatBytes(double(rank.memory.temporaries));
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace

json::Value viewPipeline(const ReportContents &contents, const Analysis &analysis) {
  if (!contents.pipeline || contents.numRanks < contents.pipeline->schedule.numRanks())
    return nullptr;
  const plan::Pipeline &pipeline = *contents.pipeline;
  const plan::Timeline predicted = pipeline.predict();
  if (predicted.makespan <= 0)
    return nullptr;
  const std::optional<plan::Timeline> measured = measurePipeline(contents);
  json::Array pictures;
  pictures.push_back(Picture(pipeline, predicted, 1e3).view("As predicted"));
  if (measured && measured->makespan > 0)
    pictures.push_back(Picture(pipeline, *measured, 1).view("As measured, in the last step"));
  auto hasWork = [&](plan::StageWork work) {
    return llvm::any_of(pipeline.schedule.ranks, [&](const auto &entries) {
      return llvm::any_of(entries,
                          [&](const plan::ScheduleEntry &entry) { return entry.work == work; });
    });
  };
  json::Object view{{"schedule", viewText(pipeline.schedule.name)},
                    {"stages", formatPlural(pipeline.schedule.numRanks(), "stage")},
                    {"micro_batches", formatCount(pipeline.schedule.numMicroBatches)},
                    {"whole", hasWork(plan::StageWork::Backward)},
                    {"split", hasWork(plan::StageWork::WeightGradient)},
                    {"pictures", std::move(pictures)},
                    {"rows", viewStages(contents, analysis, predicted, measured)}};
  if (const int hidden = pipeline.schedule.numRanks() - kMaxLanes; hidden > 0)
    view["hidden"] = formatPlural(hidden, "more stage");
  return view;
}

} // namespace coll::run
