//===- pipeline_json.cc -----------------------------------------------------------===//

#include "compiler/pipeline_json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace coll::plan {

namespace json = llvm::json;

static json::Array spansOf(const std::vector<ScheduleSpan> &spans) {
  json::Array array;
  for (const ScheduleSpan &span : spans)
    array.push_back(json::Array{toString(span.entry), span.begin, span.end});
  return array;
}

static json::Value makeStage(const Pipeline &pipeline, const Timeline &predicted, int rank) {
  const PipelineRank &facts = pipeline.ranks[size_t(rank)];
  const KeptActivations peak = peakKept(pipeline, rank);
  return json::Object{{"operations", facts.numOps},
                      {"state_bytes", facts.stateBytes},
                      {"sent_bytes", facts.sentBytes},
                      {"peak_activations", peak.count},
                      {"peak_kept_bytes", peak.bytes},
                      {"idle_us", predicted.bubble[size_t(rank)]},
                      {"entries", spansOf(predicted.ranks[size_t(rank)])}};
}

static json::Value makeTransfer(const PipelineTransfer &transfer) {
  return json::Array{transfer.fromRank,
                     transfer.toRank,
                     transfer.tag,
                     int64_t(transfer.producer.work),
                     transfer.producer.chunk,
                     int64_t(transfer.receiver.work),
                     transfer.receiver.chunk,
                     transfer.bytes};
}

static bool fromJSON(const json::Value &value, PipelineTransfer &transfer, json::Path path) {
  std::vector<double> numbers;
  if (!json::fromJSON(value, numbers, path) || numbers.size() != 8)
    return false;
  auto entry = [&](size_t at) {
    return ScheduleEntry{StageWork(std::clamp(int(numbers[at]), 0, 3)), int(numbers[at + 1]), 0};
  };
  transfer = {int(numbers[0]), int(numbers[1]), int64_t(numbers[2]),
              entry(3),        entry(5),        numbers[7]};
  return true;
}

static bool fromJSON(const json::Value &value, PipelineChunk &chunk, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("forward_us", chunk.us.forward) &&
         map.map("input_gradient_us", chunk.us.inputGradient) &&
         map.map("weight_gradient_us", chunk.us.weightGradient) &&
         map.map("kept_bytes", chunk.keptBytes);
}

static bool fromJSON(const json::Value &value, PipelineRank &rank, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("operations", rank.numOps) && map.map("state_bytes", rank.stateBytes) &&
         map.map("sent_bytes", rank.sentBytes);
}

json::Value toJSON(const Pipeline &pipeline) {
  const Timeline predicted = pipeline.predict();
  json::Array chunks, stages, transfers;
  for (const PipelineChunk &chunk : pipeline.chunks)
    chunks.push_back(json::Object{{"forward_us", chunk.us.forward},
                                  {"input_gradient_us", chunk.us.inputGradient},
                                  {"weight_gradient_us", chunk.us.weightGradient},
                                  {"kept_bytes", chunk.keptBytes}});
  for (int rank = 0; rank < pipeline.schedule.numRanks(); ++rank)
    stages.push_back(makeStage(pipeline, predicted, rank));
  for (const PipelineTransfer &transfer : pipeline.transfers)
    transfers.push_back(makeTransfer(transfer));
  return json::Object{{"schedule", json::fixUTF8(pipeline.schedule.name)},
                      {"micro_batches", pipeline.schedule.numMicroBatches},
                      {"in_flight", pipeline.schedule.maxInFlight},
                      {"order", toTable(pipeline.schedule)},
                      {"makespan_us", predicted.makespan},
                      {"idle_fraction", predicted.idleFraction()},
                      {"chunks", std::move(chunks)},
                      {"stages", std::move(stages)},
                      {"transfers", std::move(transfers)}};
}

bool fromJSON(const json::Value &value, Pipeline &pipeline, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string name, order;
  int64_t microBatches = 0, inFlight = 0;
  if (!map || !map.map("schedule", name) || !map.map("order", order) ||
      !map.map("micro_batches", microBatches) || !map.map("in_flight", inFlight) ||
      !map.map("chunks", pipeline.chunks) || !map.map("stages", pipeline.ranks) ||
      !map.map("transfers", pipeline.transfers))
    return false;
  Result<Schedule> schedule =
      parseSchedule(order, name, int(pipeline.ranks.size()), int(microBatches));
  if (!schedule || size_t(schedule->numChunks) != pipeline.chunks.size())
    return false;
  pipeline.schedule = std::move(*schedule);
  pipeline.schedule.maxInFlight = int(inFlight);
  return true;
}

} // namespace coll::plan
