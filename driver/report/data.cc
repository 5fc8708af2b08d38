//===- data.cc - a report as JSON ------------------------------------------------===//

#include "driver/report/data.h"

#include "driver/report/measured_pipeline.h"
#include "driver/report/series.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace coll::run {

namespace json = llvm::json;

namespace {

std::string text(const std::string &bytes) { return json::fixUTF8(bytes); }

json::Array toJson(const std::vector<NamedText> &texts) {
  json::Array array;
  for (const auto &[name, value] : texts)
    array.push_back(json::Object{{"name", text(name)}, {"value", text(value)}});
  return array;
}

json::Array toJson(const std::vector<std::string> &texts) {
  json::Array array;
  for (const std::string &one : texts)
    array.push_back(text(one));
  return array;
}

llvm::StringRef nameOf(Outcome outcome) {
  switch (outcome) {
  case Outcome::Unfinished:
    return "unfinished";
  case Outcome::Failed:
    return "failed";
  case Outcome::Stopped:
    return "stopped";
  case Outcome::Finished:
    return "finished";
  }
  llvm_unreachable("every outcome has a case");
}

json::Object makeRun(const ReportContents &contents) {
  json::Object phases;
  for (const auto &[name, seconds] : contents.phases)
    phases[name] = toJsonNumber(seconds);
  return json::Object{{"step", text(contents.step)},
                      {"command", text(contents.commandLine)},
                      {"outcome", nameOf(contents.outcome)},
                      {"error", text(contents.error)},
                      {"diagnostics", toJson(contents.diagnostics)},
                      {"notes", toJson(contents.notes)},
                      {"accuracy", contents.accuracy.first},
                      {"backend", contents.backend},
                      {"launcher", contents.launcher},
                      {"ranks", contents.numRanks},
                      {"version", contents.version},
                      {"started", contents.started},
                      {"machine", toJson(contents.machine)},
                      {"environment", toJson(contents.environment)},
                      {"phase_seconds", std::move(phases)}};
}

json::Object makeSeries(const std::vector<double> &values) {
  json::Array points;
  int64_t numFinite = 0;
  for (const SeriesPoint &point : downsample(values, kMaxPoints)) {
    auto number = [&](double value) {
      return point.numFinite ? toJsonNumber(value) : json::Value(nullptr);
    };
    points.push_back(json::Array{point.first, point.last, number(point.mean), number(point.min),
                                 number(point.max)});
    numFinite += point.numFinite;
  }
  return json::Object{
      {"count", int64_t(values.size())},
      {"not_finite", int64_t(values.size()) - numFinite},
      {"first", values.empty() ? json::Value(nullptr) : toJsonNumber(values.front())},
      {"last", values.empty() ? json::Value(nullptr) : toJsonNumber(values.back())},
      {"columns", json::Array{"first", "last", "mean", "min", "max"}},
      {"points", std::move(points)}};
}

json::Array makeOutputs(const ReportContents &contents) {
  json::Array outputs;
  for (const ScalarOutput &output : contents.outputs) {
    json::Object object = makeSeries(output.values);
    object["name"] = text(output.name);
    object["is_loss"] = output.isLoss;
    outputs.push_back(std::move(object));
  }
  return outputs;
}

json::Object makeMemory(const rt::RankMemory &memory) {
  return json::Object{{"state", memory.state},
                      {"batch", memory.batch + memory.nextBatch},
                      {"outputs", memory.outputs},
                      {"temporaries", memory.temporaries},
                      {"total", memory.total()}};
}

json::Array makeRanks(const Analysis &analysis) {
  json::Array ranks;
  for (const RankSummary &rank : analysis.ranks) {
    json::Object object{{"rank", rank.rank},
                        {"class", rank.classIndex},
                        {"memory_bytes", makeMemory(rank.memory)},
                        {"known", rank.record != nullptr}};
    if (const RankRecord *record = rank.record) {
      json::Array buckets;
      for (const StepBucket &bucket : record->buckets)
        buckets.push_back(
            json::Array{bucket.steps, bucket.computeNs, bucket.blockedNs, bucket.longestNs});
      object["host"] = text(record->host);
      object["process"] = record->process;
      object["peak_resident_bytes"] = record->peakResidentBytes;
      object["peak_buffer_bytes"] = record->peakBufferBytes;
      object["steps"] = record->numSteps;
      object["init_ns"] = record->initNs;
      object["compute_ns_per_step"] = toJsonNumber(rank.computeNs);
      object["communication_ns_per_step"] = toJsonNumber(rank.blockedNs);
      object["bucket_columns"] =
          json::Array{"steps", "compute_ns", "communication_ns", "longest_ns"};
      object["buckets"] = std::move(buckets);
    }
    ranks.push_back(std::move(object));
  }
  return ranks;
}

json::Array makeCollectives(const Analysis &analysis) {
  json::Array rows;
  for (const OperationRow &row : analysis.rows) {
    json::Array groups;
    for (const std::vector<int> &list : row.groups)
      groups.push_back(json::Array(list));
    json::Object object{{"function", row.info.isInit ? "init" : "step"},
                        {"kind", text(row.info.kind)},
                        {"reduction", text(row.info.reduction)},
                        {"dtype", text(row.info.dtype)},
                        {"why", text(row.info.why)},
                        {"source", text(row.info.loc)},
                        {"name", text(row.info.name)},
                        {"groups", std::move(groups)},
                        {"ranks", row.numRanks},
                        {"calls_per_step", toJsonNumber(row.callsPerStep)},
                        {"bytes_per_call", toJsonNumber(row.bytesPerCall)},
                        {"bytes_per_step", toJsonNumber(row.bytesPerStep)},
                        {"payload_bytes_per_step", toJsonNumber(row.payloadPerStep)},
                        {"share_of_step", toJsonNumber(row.blockedShare)}};
    if (row.time)
      object["ns_per_call"] = json::Object{{"min", toJsonNumber(row.time->min)},
                                           {"median", toJsonNumber(row.time->median)},
                                           {"max", toJsonNumber(row.time->max)},
                                           {"min_rank", row.time->minRank},
                                           {"max_rank", row.time->maxRank}};
    rows.push_back(std::move(object));
  }
  return rows;
}

json::Array makeChecks(const ReportContents &contents) {
  json::Array checks;
  for (const CheckTable &check : contents.checks) {
    json::Array rows;
    for (const Comparison &comparison : check.comparisons)
      rows.push_back(json::Object{
          {"name", text(comparison.name)},
          {"delta", toJsonNumber(comparison.delta)},
          {"max_reference", toJsonNumber(comparison.maxReference)},
          {"relative", toJsonNumber(comparison.relative())},
          {"noise", comparison.noise ? toJsonNumber(*comparison.noise) : json::Value(nullptr)},
          {"ok", comparison.isOk},
          {"basis", comparison.basis == Basis::Tolerance ? "tolerance"
                    : comparison.basis == Basis::Noise   ? "noise"
                                                         : "gradient"},
          {"note", text(comparison.note)}});
    checks.push_back(json::Object{
        {"title", text(check.title)}, {"is_rms", check.isRms}, {"tensors", std::move(rows)}});
  }
  return checks;
}

json::Array makeSpans(const plan::Timeline &timeline, double ns) {
  json::Array stages;
  for (const std::vector<plan::ScheduleSpan> &spans : timeline.ranks) {
    json::Array entries;
    for (const plan::ScheduleSpan &span : spans)
      entries.push_back(json::Array{plan::toString(span.entry), span.begin * ns, span.end * ns});
    stages.push_back(std::move(entries));
  }
  return stages;
}

/// Entries of each stage with begin and end, as predicted and in the last step.
json::Value makePipeline(const ReportContents &contents) {
  if (!contents.pipeline)
    return nullptr;
  const plan::Pipeline &pipeline = *contents.pipeline;
  json::Array peaks, bytes;
  for (int stage = 0; stage < pipeline.schedule.numRanks(); ++stage) {
    peaks.push_back(plan::peakKept(pipeline, stage).count);
    bytes.push_back(plan::peakKept(pipeline, stage).bytes);
  }
  const plan::Timeline predicted = pipeline.predict();
  json::Object object{{"schedule", text(pipeline.schedule.name)},
                      {"micro_batches", pipeline.schedule.numMicroBatches},
                      {"peak_activations", std::move(peaks)},
                      {"peak_kept_bytes", std::move(bytes)},
                      {"predicted_idle_fraction", predicted.idleFraction()},
                      {"predicted_ns", makeSpans(predicted, 1e3)}};
  if (std::optional<plan::Timeline> measured = measurePipeline(contents)) {
    object["measured_idle_fraction"] = measured->idleFraction();
    object["measured_ns"] = makeSpans(*measured, 1);
  }
  return object;
}

} // namespace

json::Value toJsonNumber(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

json::Object makeData(const ReportContents &contents, const Analysis &analysis) {
  std::vector<double> stepNs;
  for (double seconds : contents.stepSeconds)
    stepNs.push_back(seconds * 1e9);
  json::Object steps = makeSeries(stepNs);
  steps["planned"] = contents.plannedSteps;
  return json::Object{{"version", 1},
                      {"run", makeRun(contents)},
                      {"outputs", makeOutputs(contents)},
                      {"step_ns", std::move(steps)},
                      {"pipeline", makePipeline(contents)},
                      {"ranks", makeRanks(analysis)},
                      {"collectives", makeCollectives(analysis)},
                      {"checks", makeChecks(contents)}};
}

std::string writeForScript(const json::Value &value) {
  std::string written;
  llvm::raw_string_ostream(written) << value;
  // "</script" and "<!--" would end the element; JSON has no "<" outside of strings.
  std::string safe;
  for (char c : written)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

} // namespace coll::run
