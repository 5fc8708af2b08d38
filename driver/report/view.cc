//===- view.cc - a report as the templates take it ------------------------------===//

#include "driver/report/view.h"

#include "driver/report/format.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

#include <algorithm>

namespace coll::run {

namespace json = llvm::json;

namespace {

/// The file and its folder: steps are often called step.mlir.
std::string nameOf(llvm::StringRef path) {
  llvm::StringRef folder = llvm::sys::path::filename(llvm::sys::path::parent_path(path));
  llvm::StringRef file = llvm::sys::path::filename(path);
  bool isTelling = !folder.empty() && folder != "." && folder != ".." && folder != "/";
  return isTelling ? (folder + "/" + file).str() : file.str();
}

json::Array viewTexts(const std::vector<NamedText> &texts) {
  json::Array array;
  for (const auto &[name, value] : texts)
    array.push_back(json::Object{{"name", viewText(name)}, {"value", viewText(value)}});
  return array;
}

json::Array viewLines(const std::vector<std::string> &lines) {
  json::Array array;
  for (const std::string &line : lines)
    array.push_back(viewText(line));
  return array;
}

bool areChecksOk(const ReportContents &contents) {
  for (const CheckTable &check : contents.checks)
    for (const Comparison &comparison : check.comparisons)
      if (!comparison.isOk)
        return false;
  return true;
}

json::Object viewOutcome(const ReportContents &contents) {
  switch (contents.outcome) {
  case Outcome::Unfinished:
    return json::Object{{"class", "warn"}, {"text", "not finished"}};
  case Outcome::Stopped:
    return json::Object{{"class", "warn"}, {"text", "stopped"}};
  case Outcome::Failed:
    return json::Object{{"class", "bad"},
                        {"text", areChecksOk(contents) ? "failed" : "check failed"}};
  case Outcome::Finished:
    break;
  }
  return json::Object{{"class", "good"},
                      {"text", contents.checks.empty() ? "finished" : "checked"}};
}

double medianStepNs(const ReportContents &contents) {
  std::vector<double> times = contents.stepSeconds;
  if (times.size() > 1)
    times.erase(times.begin());
  auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle * 1e9;
}

json::Object tile(std::string name, std::string value, std::string detail) {
  return json::Object{
      {"name", std::move(name)}, {"value", std::move(value)}, {"detail", std::move(detail)}};
}

void addStepTiles(json::Array &tiles, const ReportContents &contents, const Analysis &analysis) {
  if (!contents.stepSeconds.empty()) {
    double ns = medianStepNs(contents);
    tiles.push_back(
        tile("Time per step", formatTime(ns), "median; " + formatRate(1e9 / std::max(ns, 1.0))));
  }
  if (analysis.meanStepNs > 0 && contents.numRanks > 1)
    tiles.push_back(tile("Communication",
                         formatPercent(analysis.meanBlockedNs / analysis.meanStepNs),
                         formatTime(analysis.meanBlockedNs) + " per step and rank"));
}

void addTrafficTile(json::Array &tiles, const ReportContents &contents, const Analysis &analysis) {
  double bytes = 0, calls = 0;
  for (const OperationRow &row : analysis.rows) {
    if (row.info.isInit || contents.numRanks == 0)
      continue;
    bytes += row.payloadPerStep * row.numRanks / contents.numRanks;
    calls += row.callsPerStep * row.numRanks / contents.numRanks;
  }
  if (calls > 0)
    tiles.push_back(tile("Traffic", formatBytes(bytes),
                         "of payload per step and rank, in " + formatNumber(calls) +
                             (calls == 1 ? " call" : " calls")));
}

json::Array viewTiles(const ReportContents &contents, const Analysis &analysis) {
  json::Array tiles;
  int64_t done = int64_t(contents.stepSeconds.size());
  tiles.push_back(tile("Steps", formatCount(done),
                       done == contents.plannedSteps
                           ? "on " + formatPlural(contents.numRanks, "rank")
                           : "of " + formatCount(contents.plannedSteps) + ", on " +
                                 formatPlural(contents.numRanks, "rank")));
  addStepTiles(tiles, contents, analysis);
  addTrafficTile(tiles, contents, analysis);
  for (const ScalarOutput &output : contents.outputs)
    if (output.isLoss && !output.values.empty())
      tiles.push_back(tile("Loss", formatNumber(output.values.back()),
                           "from " + formatNumber(output.values.front())));
  int64_t memory = 0;
  for (const RankSummary &rank : analysis.ranks)
    memory = std::max(memory, rank.memory.total());
  if (memory > 0)
    tiles.push_back(tile("Memory", formatBytes(double(memory)), "per rank, at most"));
  if (const auto &[share, counts] = contents.accuracy; !share.empty())
    tiles.push_back(tile("Accuracy", share, counts + " held out"));
  return tiles;
}

json::Array viewDetails(const ReportContents &contents) {
  std::vector<NamedText> details = {{"Step", contents.step}, {"Command", contents.commandLine}};
  std::string ranks = formatPlural(contents.numRanks, "rank");
  if (!contents.launcher.empty())
    ranks += ", a process each, started by " + contents.launcher;
  else
    ranks += ", threads of one process";
  if (contents.numRanks > 0)
    details.emplace_back("Ranks", ranks);
  if (!contents.classes.empty() && !contents.classes[0].axes.empty()) {
    std::string mesh;
    for (const rt::MeshAxis &axis : contents.classes[0].axes)
      mesh += (mesh.empty() ? "" : ", ") + axis.name + " = " + std::to_string(axis.size);
    details.emplace_back("Mesh", mesh);
  }
  details.emplace_back("Backend", contents.backend);
  details.emplace_back("Version", "coll " + contents.version);
  details.emplace_back("Started", contents.started);
  details.insert(details.end(), contents.machine.begin(), contents.machine.end());
  return viewTexts(details);
}

json::Array viewPhases(const ReportContents &contents) {
  json::Array phases;
  for (const auto &[name, seconds] : contents.phases)
    phases.push_back(json::Object{{"name", name}, {"value", formatTime(seconds * 1e9)}});
  return phases;
}

/// Null values are left out, so that sections of the template are.
void set(json::Object &view, llvm::StringRef name, json::Value value) {
  if (value.kind() != json::Value::Null)
    view[name] = std::move(value);
}

} // namespace

std::string viewText(const std::string &bytes) { return json::fixUTF8(bytes); }

std::string viewColour(const std::string &kind) {
  return llvm::StringSwitch<std::string>(kind)
      .Cases({"all_reduce", "reduce"}, "reduce")
      .Case("reduce_scatter", "reduce-scatter")
      .Cases({"all_gather", "gather"}, "gather")
      .Cases({"broadcast", "scatter"}, "spread")
      .Cases({"all_to_all", "permute", "dispatch", "combine"}, "exchange")
      .Cases({"send", "recv"}, "transfer")
      .Default("sync");
}

std::string describeOperation(const rt::OpInfo &op) {
  std::string text = op.kind;
  for (const std::string *word : {&op.reduction, &op.dtype})
    if (!word->empty())
      text += " " + *word;
  return text;
}

json::Object makeView(const ReportContents &contents, const Analysis &analysis) {
  json::Object view{{"name", viewText(nameOf(contents.step))},
                    {"outcome", viewOutcome(contents)},
                    {"started", contents.started},
                    {"version", contents.version},
                    {"details", viewDetails(contents)},
                    {"environment", viewTexts(contents.environment)},
                    {"has_environment", !contents.environment.empty()},
                    {"phases", viewPhases(contents)},
                    {"has_phases", !contents.phases.empty()},
                    {"notes", viewLines(contents.notes)},
                    {"has_notes", !contents.notes.empty()}};
  if (contents.outcome == Outcome::Failed)
    view["error"] = json::Object{{"text", viewText(contents.error)},
                                 {"diagnostics", viewLines(contents.diagnostics)},
                                 {"has_diagnostics", !contents.diagnostics.empty()}};
  view["unfinished"] = contents.outcome == Outcome::Unfinished;
  view["has_tiles"] = contents.numRanks > 0;
  view["tiles"] = viewTiles(contents, analysis);
  set(view, "outputs", viewOutputs(contents));
  set(view, "times", viewTimes(contents, analysis));
  set(view, "pipeline", viewPipeline(contents, analysis));
  set(view, "timeline", viewTimeline(contents, analysis));
  set(view, "waits", viewWaits(contents, analysis));
  set(view, "shape", viewShape(contents, analysis));
  set(view, "collectives", viewCollectives(contents, analysis));
  set(view, "memory", viewMemory(contents, analysis));
  set(view, "checks", viewChecks(contents));
  return view;
}

} // namespace coll::run
