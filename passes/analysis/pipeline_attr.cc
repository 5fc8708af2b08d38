//===- pipeline_attr.cc ----------------------------------------------------------===//

#include "passes/analysis/pipeline_attr.h"

#include "dialect/notes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::coll;
namespace plan = ::coll::plan;

static constexpr size_t kChunkFigures = 4, kRankFigures = 3, kTransferFigures = 8;

void mlir::coll::writePipeline(ModuleOp module, const plan::Pipeline &pipeline) {
  Builder builder(module.getContext());
  SmallVector<Attribute> chunks, ranks, transfers;
  for (const plan::PipelineChunk &chunk : pipeline.chunks)
    chunks.push_back(builder.getDenseF64ArrayAttr(
        {chunk.us.forward, chunk.us.inputGradient, chunk.us.weightGradient, chunk.keptBytes}));
  for (const plan::PipelineRank &rank : pipeline.ranks)
    ranks.push_back(
        builder.getDenseF64ArrayAttr({double(rank.numOps), rank.stateBytes, rank.sentBytes}));
  for (const plan::PipelineTransfer &transfer : pipeline.transfers)
    transfers.push_back(builder.getDenseI64ArrayAttr(
        {transfer.fromRank, transfer.toRank, transfer.tag, int64_t(transfer.producer.work),
         transfer.producer.chunk, int64_t(transfer.receiver.work), transfer.receiver.chunk,
         int64_t(transfer.bytes)}));
  const plan::Schedule &schedule = pipeline.schedule;
  module->setAttr(
      kPipelineAttr,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("schedule", builder.getStringAttr(schedule.name)),
           builder.getNamedAttr("micro_batches",
                                builder.getI64IntegerAttr(schedule.numMicroBatches)),
           builder.getNamedAttr("in_flight", builder.getI64IntegerAttr(schedule.maxInFlight)),
           builder.getNamedAttr("order", builder.getStringAttr(plan::toTable(schedule))),
           builder.getNamedAttr("chunks", builder.getArrayAttr(chunks)),
           builder.getNamedAttr("ranks", builder.getArrayAttr(ranks)),
           builder.getNamedAttr("transfers", builder.getArrayAttr(transfers))}));
}

/// The arrays of an array attribute, each of `size` numbers; empty if one is not.
template <typename Array>
static SmallVector<Array> readArrays(DictionaryAttr fields, StringRef name, size_t size) {
  SmallVector<Array> arrays;
  auto all = fields.getAs<ArrayAttr>(name);
  for (Attribute one : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto array = dyn_cast<Array>(one);
    if (!array || size_t(array.size()) != size)
      return {};
    arrays.push_back(array);
  }
  return arrays;
}

static std::optional<plan::Schedule> readSchedule(DictionaryAttr fields, size_t numRanks) {
  auto name = fields.getAs<StringAttr>("schedule");
  auto order = fields.getAs<StringAttr>("order");
  auto microBatches = fields.getAs<IntegerAttr>("micro_batches");
  auto inFlight = fields.getAs<IntegerAttr>("in_flight");
  if (!name || !order || !microBatches || !inFlight)
    return std::nullopt;
  plan::Result<plan::Schedule> schedule = plan::parseSchedule(
      order.getValue().str(), name.str(), int(numRanks), int(microBatches.getInt()));
  if (!schedule)
    return std::nullopt;
  schedule->maxInFlight = int(inFlight.getInt());
  return *schedule;
}

std::optional<plan::Pipeline> mlir::coll::readPipeline(ModuleOp module) {
  auto fields = module->getAttrOfType<DictionaryAttr>(kPipelineAttr);
  if (!fields)
    return std::nullopt;
  plan::Pipeline pipeline;
  for (auto figures : readArrays<DenseF64ArrayAttr>(fields, "chunks", kChunkFigures))
    pipeline.chunks.push_back({{figures[0], figures[1], figures[2]}, figures[3]});
  for (auto figures : readArrays<DenseF64ArrayAttr>(fields, "ranks", kRankFigures))
    pipeline.ranks.push_back({int64_t(figures[0]), figures[1], figures[2]});
  for (auto figures : readArrays<DenseI64ArrayAttr>(fields, "transfers", kTransferFigures)) {
    auto entry = [&](size_t at) {
      return plan::ScheduleEntry{plan::StageWork(std::clamp<int64_t>(figures[at], 0, 3)),
                                 int(figures[at + 1]), 0};
    };
    pipeline.transfers.push_back(
        {int(figures[0]), int(figures[1]), figures[2], entry(3), entry(5), double(figures[7])});
  }
  std::optional<plan::Schedule> schedule = readSchedule(fields, pipeline.ranks.size());
  if (!schedule || size_t(schedule->numChunks) != pipeline.chunks.size())
    return std::nullopt;
  pipeline.schedule = std::move(*schedule);
  return pipeline;
}
