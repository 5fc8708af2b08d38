//===- measured_pipeline.cc ------------------------------------------------------===//

#include "driver/report/measured_pipeline.h"

#include <algorithm>
#include <limits>
#include <map>

namespace coll::run {

namespace {

using plan::StageWork;

/// A part of an entry: its forward pass, input gradients or weight gradients.
struct Part {
  size_t entry = 0;
  std::pair<int, StageWork> kind; // chunk and work
  double weight = 0;              // predicted time
};

/// The time between two calls, and what the rank computes in it.
struct Gap {
  double begin = 0, end = 0;
  std::vector<Part> parts;
};

class StageReader {
public:
  StageReader(const ReportContents &contents, int stage, const RankRecord &record)
      : pipeline_(*contents.pipeline), stage_(stage), record_(record),
        order_(pipeline_.schedule.ranks[size_t(stage)]) {
    const int index = contents.classOf(record.rank);
    if (index < 0)
      return;
    const std::vector<rt::OpInfo> &ops = contents.classes[size_t(index)].ops;
    for (const CallRecord &call : record.calls) {
      if (call.op < 0 || size_t(call.op) >= ops.size())
        continue;
      const std::string &kind = ops[size_t(call.op)].kind;
      if (kind == "send" || kind == "recv")
        calls_[{kind == "recv", call.tag}] = &call;
    }
  }

  /// The spans of the stage's entries since it entered the step; empty if a call is missing.
  std::vector<plan::ScheduleSpan> read() {
    for (size_t i = 0; i < order_.size(); ++i)
      if (!addEntry(i))
        return {};
    closeGap(endOfLast());
    for (Gap &gap : gaps_)
      trimStalls(gap);
    trimEnds();
    return divide();
  }

private:
  bool addEntry(size_t index) {
    const plan::ScheduleEntry &entry = order_[index];
    if (entry.work == StageWork::Forward)
      return addPhase(index, StageWork::Forward);
    if (entry.work != StageWork::WeightGradient && !addPhase(index, StageWork::InputGradient))
      return false;
    if (entry.work != StageWork::InputGradient)
      addPart(index, StageWork::WeightGradient);
    return true;
  }

  void addPart(size_t index, StageWork work) {
    const int chunk = order_[index].chunk;
    const double us = pipeline_.chunks[size_t(chunk)].us.of(work);
    gaps_.back().parts.push_back({index, {chunk, work}, us});
  }

  /// What it receives, computes and sends.
  bool addPhase(size_t index, StageWork work) {
    const plan::ScheduleEntry &entry = order_[index];
    for (const plan::PipelineTransfer &transfer : pipeline_.transfers)
      if (transfer.toRank == stage_ && transfer.receiver.chunk == entry.chunk &&
          transfer.receiver.work == work && !addCall(true, transfer.tag + entry.microBatch))
        return false;
    addPart(index, work);
    for (const plan::PipelineTransfer &transfer : pipeline_.transfers)
      if (transfer.fromRank == stage_ && transfer.producer.chunk == entry.chunk &&
          transfer.producer.work == work && !addCall(false, transfer.tag + entry.microBatch))
        return false;
    return true;
  }

  bool addCall(bool isReceive, int64_t tag) {
    auto found = calls_.find({isReceive, tag});
    if (found == calls_.end() || found->second->endNs < 0)
      return false;
    closeGap(double(found->second->beginNs));
    gaps_.back().begin = double(isReceive ? found->second->endNs : found->second->beginNs);
    return true;
  }

  void closeGap(double end) {
    gaps_.back().end = std::max(end, gaps_.back().begin);
    gaps_.push_back({gaps_.back().end, gaps_.back().end, {}});
  }

  /// The next call of any kind after the last entry.
  double endOfLast() const {
    double end = double(record_.lastNs);
    for (const CallRecord &call : record_.calls)
      if (double(call.beginNs) > gaps_.back().begin)
        end = std::min(end, double(call.beginNs));
    return end;
  }

  /// Before it sends, a rank may wait for an earlier send to be received.
  void trimStalls(Gap &gap) const {
    for (const auto &[key, call] : calls_) {
      const double begin = double(call->endNs - call->blockedNs);
      if (!key.first && begin > gap.begin && double(call->endNs) <= gap.end)
        gap.end = std::min(gap.end, begin);
    }
  }

  /// Calls before the first entry and after the last one belong to no entry. The first and the last
  /// entry are assumed to take as long as others of their kind.
  void trimEnds() {
    std::map<std::pair<int, StageWork>, std::vector<double>> known;
    for (size_t i = 1; i + 2 < gaps_.size(); ++i)
      if (gaps_[i].parts.size() == 1)
        known[gaps_[i].parts[0].kind].push_back(gaps_[i].end - gaps_[i].begin);
    auto usual = [&](const Gap &gap) {
      double sum = 0;
      for (const Part &part : gap.parts) {
        std::vector<double> &times = known[part.kind];
        if (times.empty())
          return gap.end - gap.begin;
        std::sort(times.begin(), times.end());
        sum += times[times.size() / 2];
      }
      return std::min(sum, gap.end - gap.begin);
    };
    Gap &first = gaps_.front(), &last = gaps_[gaps_.size() - 2];
    first.begin = first.end - usual(first);
    last.end = last.begin + usual(last);
  }

  std::vector<plan::ScheduleSpan> divide() const {
    std::vector<plan::ScheduleSpan> spans;
    for (const Gap &gap : gaps_) {
      double all = 0, before = 0;
      for (const Part &part : gap.parts)
        all += part.weight;
      for (const Part &part : gap.parts) {
        const double share = all > 0 ? part.weight / all : 1.0 / double(gap.parts.size());
        const double begin = gap.begin + before * (gap.end - gap.begin);
        before += share;
        const double end = gap.begin + before * (gap.end - gap.begin);
        if (spans.size() == part.entry)
          spans.push_back({order_[part.entry], begin, end});
        else
          spans[part.entry].end = end;
      }
    }
    return spans;
  }

  const plan::Pipeline &pipeline_;
  int stage_;
  const RankRecord &record_;
  const std::vector<plan::ScheduleEntry> &order_;
  std::map<std::pair<bool, int64_t>, const CallRecord *> calls_; // by (is received, tag)
  std::vector<Gap> gaps_ = std::vector<Gap>(1);
};

const RankRecord *findRecord(const ReportContents &contents, int rank) {
  for (const RankRecord &record : contents.ranks)
    if (record.rank == rank)
      return record.lastNs >= 0 && !record.hasFailed && record.numSteps > 0 ? &record : nullptr;
  return nullptr;
}

/// Moves the spans so that the first one begins at zero, and fills in the rest.
plan::Timeline finish(plan::Timeline timeline) {
  double first = std::numeric_limits<double>::infinity();
  for (const auto &spans : timeline.ranks)
    first = std::min(first, spans.front().begin);
  for (auto &spans : timeline.ranks) {
    double busy = 0;
    for (plan::ScheduleSpan &span : spans) {
      span.begin -= first;
      span.end -= first;
      busy += span.end - span.begin;
    }
    timeline.makespan = std::max(timeline.makespan, spans.back().end);
    timeline.bubble.push_back(std::max(spans.back().end - spans.front().begin - busy, 0.0));
  }
  return timeline;
}

} // namespace

int firstRankOf(const ReportContents &contents, int stage) {
  return stage * (contents.numRanks / contents.pipeline->schedule.numRanks());
}

std::optional<plan::Timeline> measurePipeline(const ReportContents &contents) {
  const int numStages = contents.pipeline->schedule.numRanks();
  std::vector<const RankRecord *> records;
  for (int stage = 0; stage < numStages; ++stage) {
    records.push_back(findRecord(contents, firstRankOf(contents, stage)));
    if (!records.back())
      return std::nullopt;
  }
  int64_t entered = records.front()->lastEnterNs;
  bool isOneHost = true; // only clocks of one machine can be compared
  for (const RankRecord *record : records) {
    entered = std::min(entered, record->lastEnterNs);
    isOneHost &= record->host == records.front()->host;
  }
  plan::Timeline timeline;
  for (int stage = 0; stage < numStages; ++stage) {
    const RankRecord &record = *records[size_t(stage)];
    auto spans = StageReader(contents, stage, record).read();
    if (spans.empty() || spans.size() != contents.pipeline->schedule.ranks[size_t(stage)].size())
      return std::nullopt;
    for (plan::ScheduleSpan &span : spans) {
      const double offset = isOneHost ? double(record.lastEnterNs - entered) : 0;
      span.begin += offset;
      span.end += offset;
    }
    timeline.ranks.push_back(std::move(spans));
  }
  return finish(std::move(timeline));
}

} // namespace coll::run
