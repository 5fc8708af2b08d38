//===- view_waits.cc - communication of the last step by cause ------------------===//

#include "driver/report/format.h"
#include "driver/report/view.h"
#include "driver/report/waits.h"

#include <algorithm>

namespace coll::run {

namespace json = llvm::json;

namespace {

constexpr size_t kMostRanks = 4, kMostOperations = 8;

using RankWait = std::pair<int, double>;

std::vector<RankWait> longestFirst(const std::map<int, double> &waits) {
  std::vector<RankWait> sorted(waits.begin(), waits.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RankWait &a, const RankWait &b) { return a.second > b.second; });
  return sorted;
}

json::Object cause(std::string text, double ns, double total, const char *colour) {
  return json::Object{{"cause", std::move(text)},
                      {"time", formatTime(ns)},
                      {"share", formatPercent(total > 0 ? ns / total : 0)},
                      {"percent", formatCoordinate(total > 0 ? 100 * ns / total : 0)},
                      {"colour", colour}};
}

json::Array viewCauses(const StepWaits &waits) {
  const double total = waits.times.exposedNs() + waits.times.hiddenNs;
  json::Array causes;
  const std::vector<RankWait> ranks = longestFirst(waits.waitNsFor);
  double others = 0;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (i < kMostRanks)
      causes.push_back(cause("exposed: waiting for rank " + std::to_string(ranks[i].first),
                             ranks[i].second, total, "communication"));
    else
      others += ranks[i].second;
  if (others > 0)
    causes.push_back(cause("exposed: waiting for other ranks", others, total, "communication"));
  causes.push_back(
      cause("exposed: moving data, all are there", waits.times.moveNs, total, "communication"));
  causes.push_back(
      cause("hidden: in flight while the program goes on", waits.times.hiddenNs, total, "compute"));
  return causes;
}

json::Object viewOperation(const OperationWaits &operation, const Analysis &analysis) {
  const OperationRow &row = analysis.rows[operation.row];
  const std::vector<RankWait> ranks = longestFirst(operation.waitNsFor);
  json::Object view{{"kind", viewText(describeOperation(row.info))},
                    {"colour", viewColour(row.info.kind)},
                    {"calls", formatCount(operation.calls)},
                    {"source", viewText(row.info.loc)},
                    {"why", viewText(row.info.why)},
                    {"exposed", formatTime(operation.times.exposedNs())},
                    {"wait", formatTime(operation.times.waitNs)},
                    {"hidden", formatTime(operation.times.hiddenNs)}};
  view["last"] = ranks.empty() ? std::string() : "rank " + std::to_string(ranks.front().first);
  return view;
}

} // namespace

json::Value viewWaits(const ReportContents &contents, const Analysis &analysis) {
  if (contents.classes.empty())
    return nullptr;
  const StepWaits waits = findWaits(analysis);
  if (waits.operations.empty() || waits.times.exposedNs() + waits.times.hiddenNs <= 0)
    return nullptr;
  json::Array operations;
  for (const OperationWaits &operation : waits.operations)
    if (operations.size() < kMostOperations)
      operations.push_back(viewOperation(operation, analysis));
  return json::Object{{"causes", viewCauses(waits)}, {"operations", std::move(operations)}};
}

} // namespace coll::run
