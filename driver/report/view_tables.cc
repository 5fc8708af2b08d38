//===- view_tables.cc - collectives and checks as tables -------------------------===//

#include "driver/report/format.h"
#include "driver/report/view.h"

#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace coll::run {

namespace json = llvm::json;

namespace {

std::string describeList(const std::vector<int> &ranks) {
  constexpr size_t kShown = 8;
  bool isRun = ranks.size() > 2;
  for (size_t i = 1; i < ranks.size(); ++i)
    isRun &= ranks[i] == ranks[0] + static_cast<int>(i);
  if (isRun)
    return "[" + std::to_string(ranks.front()) + "–" + std::to_string(ranks.back()) + "]";
  std::string text = "[";
  for (size_t i = 0; i < std::min(ranks.size(), kShown); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text + (ranks.size() > kShown ? ", …]" : "]");
}

/// A number with the value that the table is sorted by.
json::Object cell(std::string text, double value) {
  return json::Object{{"text", std::move(text)}, {"value", std::isfinite(value) ? value : 0}};
}

json::Object viewRow(const OperationRow &row, size_t index, double longest, int numRanks) {
  json::Object view{
      {"index", int64_t(index) + 1},
      {"kind", viewText(row.info.kind)},
      {"colour", viewColour(row.info.kind)},
      {"detail", viewText(row.info.reduction.empty() ? row.info.dtype
                                                     : row.info.reduction + " " + row.info.dtype)},
      {"group", describeGroups(row.groups, numRanks)},
      {"bytes_call", cell(formatBytes(row.bytesPerCall), row.bytesPerCall)},
      {"calls", cell(formatNumber(row.callsPerStep), row.callsPerStep)},
      {"bytes_step", cell(formatBytes(row.bytesPerStep), row.bytesPerStep)}};
  for (auto [name, value] :
       {std::pair("why", &row.info.why), {"source", &row.info.loc}, {"name", &row.info.name}})
    view[name] = value->empty() ? json::Value(false) : json::Value(viewText(*value));
  if (row.numRanks < numRanks)
    view["ranks"] = formatPlural(row.numRanks, "rank");
  if (!row.time)
    return view;
  const Spread &time = *row.time;
  auto percent = [&](double ns) { return formatCoordinate(longest > 0 ? 100 * ns / longest : 0); };
  view["time"] = json::Object{{"min", formatTime(time.min)},
                              {"median", cell(formatTime(time.median), time.median)},
                              {"max", formatTime(time.max)},
                              {"min_rank", time.minRank},
                              {"max_rank", time.maxRank},
                              {"from", percent(time.min)},
                              {"length", percent(time.max - time.min)},
                              {"at", percent(time.median)}};
  view["share"] = cell(formatPercent(row.blockedShare), row.blockedShare);
  view["share_percent"] = formatCoordinate(100 * row.blockedShare);
  return view;
}

/// "12 × all_reduce sum f32" over the rows of a table.
json::Array summariseKinds(const std::vector<const OperationRow *> &rows) {
  struct Sum {
    int64_t ops = 0;
    double bytes = 0, share = 0;
  };
  std::map<std::string, Sum> sums;
  for (const OperationRow *row : rows) {
    Sum &sum = sums[row->info.kind];
    ++sum.ops;
    sum.bytes += row->bytesPerStep;
    sum.share += row->blockedShare;
  }
  json::Array kinds;
  for (const auto &[kind, sum] : sums)
    kinds.push_back(json::Object{{"kind", viewText(kind)},
                                 {"colour", viewColour(kind)},
                                 {"ops", formatCount(sum.ops)},
                                 {"bytes", formatBytes(sum.bytes)},
                                 {"share", formatPercent(sum.share)}});
  return kinds;
}

json::Value viewFunction(const std::vector<const OperationRow *> &rows, bool isInit, int numRanks) {
  if (rows.empty())
    return nullptr;
  double longest = 0;
  for (const OperationRow *row : rows)
    if (row->time)
      longest = std::max(longest, row->time->max);
  json::Array table;
  for (size_t i = 0; i < rows.size(); ++i)
    table.push_back(viewRow(*rows[i], i, longest, numRanks));
  return json::Object{{"is_init", isInit},
                      {"rows", std::move(table)},
                      {"can_filter", rows.size() > 8},
                      {"kinds", summariseKinds(rows)},
                      {"count", formatPlural(int64_t(rows.size()), "operation")}};
}

} // namespace

std::string describeGroups(const rt::GroupLists &groups, int numRanks) {
  constexpr size_t kShown = 3;
  if (groups.size() == 1 && static_cast<int>(groups[0].size()) == numRanks)
    return "all " + formatPlural(numRanks, "rank");
  std::string text;
  bool isEqual = std::all_of(groups.begin(), groups.end(), [&](const std::vector<int> &list) {
    return list.size() == groups.front().size();
  });
  if (groups.size() > 1)
    text = formatPlural(int64_t(groups.size()), "group") +
           (isEqual ? " of " + std::to_string(groups.front().size()) : "") + ": ";
  for (size_t i = 0; i < std::min(groups.size(), kShown); ++i)
    text += (i ? " " : "") + describeList(groups[i]);
  return text + (groups.size() > kShown ? " …" : "");
}

json::Value viewCollectives(const ReportContents &contents, const Analysis &analysis) {
  if (contents.classes.empty())
    return nullptr;
  std::vector<const OperationRow *> step, init;
  for (const OperationRow &row : analysis.rows)
    (row.info.isInit ? init : step).push_back(&row);
  json::Object view{{"none", step.empty()}};
  for (bool isInit : {false, true})
    if (json::Value table = viewFunction(isInit ? init : step, isInit, contents.numRanks);
        table.getAsObject())
      view[isInit ? "init" : "step"] = std::move(table);
  return view;
}

json::Value viewChecks(const ReportContents &contents) {
  json::Array checks;
  for (const CheckTable &check : contents.checks) {
    json::Array rows;
    bool isOk = true;
    for (const Comparison &comparison : check.comparisons) {
      isOk &= comparison.isOk;
      json::Object row{
          {"name", viewText(comparison.name)},
          {"delta", cell(formatNumber(comparison.delta), comparison.delta)},
          {"reference", cell(formatNumber(comparison.maxReference), comparison.maxReference)},
          {"relative", cell(formatNumber(comparison.relative()), comparison.relative())},
          {"ok", comparison.isOk}};
      if (comparison.noise)
        row["noise"] = cell(formatNumber(*comparison.noise), *comparison.noise);
      if (comparison.isOk && comparison.basis != Basis::Tolerance)
        row["basis"] = comparison.basis == Basis::Noise ? "by noise" : "by gradient";
      if (!comparison.note.empty())
        row["note"] = viewText(comparison.note);
      rows.push_back(std::move(row));
    }
    checks.push_back(json::Object{{"title", viewText(check.title)},
                                  {"ok", isOk},
                                  {"delta_name", check.isRms ? "rms Δ" : "max |Δ|"},
                                  {"summary", summarize(check.comparisons)},
                                  {"rows", std::move(rows)}});
  }
  if (checks.empty())
    return nullptr;
  return json::Object{{"tables", std::move(checks)}};
}

} // namespace coll::run
