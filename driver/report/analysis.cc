//===- analysis.cc - the records of all ranks, combined -------------------------===//

#include "driver/report/analysis.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace coll::run {
namespace {

using RowKey = std::tuple<bool, std::string, std::string, std::string, std::string, std::string,
                          std::string, int64_t, rt::GroupLists, int>;

/// Operations of two classes are one where they are equal and the same repetition of it.
RowKey makeKey(const rt::OpInfo &op, const rt::GroupLists &groups, int repetition) {
  return {op.isInit, op.kind, op.loc,   op.name, op.reduction,
          op.dtype,  op.why,  op.bytes, groups,  repetition};
}

size_t numRanksOf(const rt::Descriptor &descriptor) {
  size_t count = 0;
  for (auto [first, last] : descriptor.ranks)
    count += static_cast<size_t>(last - first + 1);
  return count;
}

/// Collects the rows of all classes.
class RowBuilder {
public:
  explicit RowBuilder(Analysis &analysis) : analysis_(analysis) {}

  void addClass(const rt::Descriptor &descriptor, bool isInit) {
    std::map<RowKey, int> repetitions;
    std::vector<size_t> &rowOf = analysis_.rowOf[classIndex_++];
    rowOf.resize(descriptor.ops.size());
    for (size_t i = 0; i < descriptor.ops.size(); ++i) {
      const rt::OpInfo &op = descriptor.ops[i];
      if (op.isInit != isInit)
        continue;
      rt::GroupLists groups;
      if (op.group >= 0)
        groups = descriptor.groups[static_cast<size_t>(op.group)];
      int repetition = repetitions[makeKey(op, groups, 0)]++;
      auto [it, isNew] = rows_.try_emplace(makeKey(op, groups, repetition), analysis_.rows.size());
      if (isNew) {
        OperationRow &row = analysis_.rows.emplace_back();
        row.info = op;
        row.groups = groups;
        row.bytesPerCall = double(op.bytes);
      }
      rowOf[i] = it->second;
      analysis_.rows[it->second].numRanks += static_cast<int>(numRanksOf(descriptor));
    }
  }
  void restart() { classIndex_ = 0; }

private:
  Analysis &analysis_;
  size_t classIndex_ = 0;
  std::map<RowKey, size_t> rows_;
};

/// The calls of one row on one rank.
struct RowTimes {
  int rank;
  OpTimes all, warm;
  int64_t steps;

  double perCall() const {
    const OpTimes &times = warm.calls ? warm : all;
    return double(times.totalNs) / double(times.calls);
  }
};

Spread spreadOf(std::vector<RowTimes> &times) {
  auto less = [](const RowTimes &a, const RowTimes &b) { return a.perCall() < b.perCall(); };
  std::stable_sort(times.begin(), times.end(), less);
  size_t n = times.size();
  Spread spread;
  spread.min = times.front().perCall();
  spread.max = times.back().perCall();
  spread.median = (times[(n - 1) / 2].perCall() + times[n / 2].perCall()) / 2;
  spread.minRank = times.front().rank;
  spread.maxRank = times.back().rank;
  return spread;
}

void fillRow(OperationRow &row, std::vector<RowTimes> &times, double allStepsNs) {
  if (times.empty())
    return;
  OpTimes all;
  double calls = 0, bytes = 0, blocked = 0;
  for (const RowTimes &one : times) {
    all.add(one.all);
    double steps = row.info.isInit ? 1 : double(std::max<int64_t>(one.steps, 1));
    calls += double(one.all.calls) / steps;
    bytes += double(one.all.bytes) / steps;
    bool isWarm = one.warm.calls > 0 && one.steps > 1;
    blocked += isWarm ? double(one.warm.blockedNs) / double(one.steps - 1)
                      : double(one.all.blockedNs) / steps;
  }
  double n = double(times.size());
  row.callsPerStep = calls / n;
  row.bytesPerStep = row.bytesPerCall * row.callsPerStep;
  row.payloadPerStep = bytes / n;
  row.time = spreadOf(times);
  if (!row.info.isInit && allStepsNs > 0)
    row.blockedShare = std::min(1.0, blocked / allStepsNs);
}

void measureRows(Analysis &analysis) {
  std::vector<std::vector<RowTimes>> times(analysis.rows.size());
  double allStepsNs = 0;
  for (const RankSummary &rank : analysis.ranks) {
    if (!rank.record || rank.classIndex < 0)
      continue;
    allStepsNs += rank.stepNs();
    const RankRecord &record = *rank.record;
    const std::vector<size_t> &rowOf = analysis.rowOf[static_cast<size_t>(rank.classIndex)];
    for (size_t op = 0; op < std::min(record.ops.size(), rowOf.size()); ++op) {
      if (record.ops[op].calls == 0)
        continue;
      OpTimes warm = op < record.warmOps.size() ? record.warmOps[op] : OpTimes();
      times[rowOf[op]].push_back({rank.rank, record.ops[op], warm, record.numSteps});
    }
  }
  for (size_t i = 0; i < times.size(); ++i)
    fillRow(analysis.rows[i], times[i], allStepsNs);
}

RankSummary summarise(const ReportContents &contents, int rank) {
  RankSummary summary;
  summary.rank = rank;
  summary.classIndex = contents.classOf(rank);
  if (summary.classIndex >= 0)
    summary.memory = rt::memoryOf(contents.classes[static_cast<size_t>(summary.classIndex)]);
  for (const RankRecord &record : contents.ranks)
    if (record.rank == rank)
      summary.record = &record;
  if (!summary.record)
    return summary;
  const std::vector<StepBucket> &buckets = summary.record->buckets;
  bool skipsFirst = summary.record->stepsPerBucket == 1 && buckets.size() > 1;
  StepBucket sum;
  for (size_t i = skipsFirst ? 1 : 0; i < buckets.size(); ++i)
    sum.add(buckets[i]);
  summary.steps = summary.record->numSteps;
  if (sum.steps > 0) {
    summary.computeNs = double(sum.computeNs) / double(sum.steps);
    summary.blockedNs = double(sum.blockedNs) / double(sum.steps);
  }
  return summary;
}

void compareRanks(Analysis &analysis) {
  double n = 0;
  for (size_t i = 0; i < analysis.ranks.size(); ++i) {
    const RankSummary &rank = analysis.ranks[i];
    if (rank.steps == 0)
      continue;
    ++n;
    analysis.meanStepNs += rank.stepNs();
    analysis.meanBlockedNs += rank.blockedNs;
    if (!analysis.slowest || rank.computeNs > analysis.ranks[*analysis.slowest].computeNs)
      analysis.slowest = i;
  }
  if (n > 0) {
    analysis.meanStepNs /= n;
    analysis.meanBlockedNs /= n;
  }
  if (n < 2)
    analysis.slowest.reset();
}

} // namespace

Analysis analyse(const ReportContents &contents) {
  Analysis analysis;
  analysis.rowOf.resize(contents.classes.size());
  RowBuilder builder(analysis);
  for (bool isInit : {false, true}) {
    builder.restart();
    for (const rt::Descriptor &descriptor : contents.classes)
      builder.addClass(descriptor, isInit);
  }
  for (int rank = 0; rank < contents.numRanks; ++rank)
    analysis.ranks.push_back(summarise(contents, rank));
  compareRanks(analysis);
  measureRows(analysis);
  return analysis;
}

} // namespace coll::run
