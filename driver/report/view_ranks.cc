//===- view_ranks.cc - time and memory, rank by rank -----------------------------===//

#include "driver/report/format.h"
#include "driver/report/view.h"

#include <algorithm>
#include <set>

namespace coll::run {

namespace json = llvm::json;

namespace {

/// The rank that computes longest is called slow from this lead over the median on.
constexpr double kSlowLead = 1.05;

std::string percent(double part, double whole) {
  return formatCoordinate(whole > 0 ? 100 * part / whole : 0);
}

double medianCompute(const Analysis &analysis) {
  std::vector<double> times;
  for (const RankSummary &rank : analysis.ranks)
    if (rank.steps > 0)
      times.push_back(rank.computeNs);
  std::sort(times.begin(), times.end());
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
}

std::string describeSlowest(const Analysis &analysis) {
  if (!analysis.slowest)
    return "";
  const RankSummary &slowest = analysis.ranks[*analysis.slowest];
  double median = medianCompute(analysis);
  if (median <= 0)
    return "";
  std::string text = "Rank " + std::to_string(slowest.rank) + " computes longest, " +
                     formatTime(slowest.computeNs) + " per step";
  double lead = slowest.computeNs / median - 1;
  text += ", " + formatPercent(lead) + " above the median";
  if (lead < kSlowLead - 1)
    return text + ".";
  return text + "; the others wait for it, which shows as communication.";
}

/// A note for readers of the times.
std::string describeSharing(const ReportContents &contents) {
  if (contents.cores == 0 || contents.numRanks <= contents.cores)
    return "";
  std::set<std::string> hosts;
  for (const RankRecord &record : contents.ranks)
    hosts.insert(record.host);
  if (hosts.size() > 1)
    return "";
  return formatPlural(contents.numRanks, "rank") + " share " +
         formatPlural(contents.cores, "core") +
         ": a rank that has none counts as computing or as communicating, whatever it was at.";
}

} // namespace

json::Value viewTimes(const ReportContents &contents, const Analysis &analysis) {
  double longest = 0;
  for (const RankSummary &rank : analysis.ranks)
    longest = std::max(longest, rank.stepNs());
  if (longest <= 0)
    return nullptr;
  json::Array rows;
  for (size_t i = 0; i < analysis.ranks.size(); ++i) {
    const RankSummary &rank = analysis.ranks[i];
    bool isKnown = rank.steps > 0;
    double share = isKnown ? rank.blockedNs / rank.stepNs() : 0;
    rows.push_back(json::Object{{"rank", rank.rank},
                                {"known", isKnown},
                                {"slowest", analysis.slowest == i},
                                {"compute", formatTime(rank.computeNs)},
                                {"communication", formatTime(rank.blockedNs)},
                                {"step", formatTime(rank.stepNs())},
                                {"share", formatPercent(share)},
                                {"compute_percent", percent(rank.computeNs, longest)},
                                {"communication_percent", percent(rank.blockedNs, longest)}});
  }
  json::Object view{{"rows", std::move(rows)}, {"summary", describeSlowest(analysis)}};
  if (std::string caveat = describeSharing(contents); !caveat.empty())
    view["caveat"] = caveat;
  if (json::Value chart = viewStepTimes(contents, analysis); chart.getAsObject())
    view["step_times"] = std::move(chart);
  return view;
}

json::Value viewMemory(const ReportContents &contents, const Analysis &analysis) {
  if (contents.classes.empty() || analysis.ranks.empty())
    return nullptr;
  int64_t most = 1;
  std::set<std::pair<std::string, int64_t>> processes;
  for (const RankSummary &rank : analysis.ranks) {
    most = std::max(most, rank.memory.total());
    if (rank.record)
      processes.insert({rank.record->host, rank.record->process});
  }
  // One process with several ranks has one figure; so it stands in the text.
  bool hasPeaks = processes.size() > 1 || analysis.ranks.size() == 1;
  json::Array rows;
  for (const RankSummary &rank : analysis.ranks) {
    const rt::RankMemory &memory = rank.memory;
    json::Array parts;
    for (auto [name, bytes] : {std::pair("state", memory.state),
                               {"batch", memory.batch + memory.nextBatch},
                               {"outputs", memory.outputs},
                               {"temporaries", memory.temporaries}})
      parts.push_back(json::Object{{"name", name},
                                   {"bytes", formatBytes(double(bytes))},
                                   {"percent", percent(double(bytes), double(most))}});
    json::Object row{{"rank", rank.rank},
                     {"parts", std::move(parts)},
                     {"total", formatBytes(double(memory.total()))}};
    if (hasPeaks)
      row["peak"] = rank.record ? formatBytes(double(rank.record->peakResidentBytes)) : "not known";
    rows.push_back(std::move(row));
  }
  json::Object view{{"rows", std::move(rows)}, {"has_peaks", hasPeaks}};
  const RankRecord *first = analysis.ranks.front().record;
  if (!hasPeaks && first)
    view["process_peak"] = formatBytes(double(first->peakResidentBytes));
  return view;
}

} // namespace coll::run
