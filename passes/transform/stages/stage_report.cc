//===- stage_report.cc -----------------------------------------------------------===//

#include "passes/transform/stages/stage_report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::coll;
namespace plan = ::coll::plan;

static constexpr size_t kMaxColumns = 160;

namespace {

class Reader {
public:
  Reader(const StepParts &parts, const StagePlacement &placement, const plan::Schedule &schedule,
         const plan::CostModel &model)
      : parts_(parts), placement_(placement), model_(model) {
    pipeline_.schedule = schedule;
    pipeline_.chunks.assign(schedule.numChunks, {{0, 0, 0}, 0});
    pipeline_.ranks.resize(schedule.numRanks());
  }

  plan::Pipeline read(ArrayRef<StageTransfer> transfers) {
    readOps();
    readState();
    for (const StageTransfer &transfer : transfers) {
      const double bytes = getValueBytes(transfer.value.getType());
      pipeline_.ranks[transfer.fromRank].sentBytes += bytes;
      pipeline_.transfers.push_back({transfer.fromRank, transfer.toRank, transfer.tag,
                                     toEntry(transfer.producer), toEntry(transfer.receiver),
                                     bytes});
    }
    return std::move(pipeline_);
  }

private:
  static plan::ScheduleEntry toEntry(Placement placement) {
    return {placement.phase == Phase::Forward ? plan::StageWork::Forward
                                              : plan::StageWork::InputGradient,
            placement.chunk, 0};
  }

  int rankOf(int chunk) const { return pipeline_.schedule.rankOfChunk[chunk]; }

  void readOps() {
    Block &block = parts_.getStep().getBody().front();
    for (Operation &op : block.without_terminator()) {
      if (parts_.isFree(&op) || !parts_.isVarying(&op))
        continue;
      Placement placement = placement_.get(&op);
      plan::PipelineChunk &chunk = pipeline_.chunks[placement.chunk];
      ++pipeline_.ranks[rankOf(placement.chunk)].numOps;
      (placement.phase == Phase::Forward         ? chunk.us.forward
       : placement.phase == Phase::InputGradient ? chunk.us.inputGradient
                                                 : chunk.us.weightGradient) +=
          getWorkUs(&op, model_);
      if (placement.phase == Phase::Forward)
        addKept(&op, block);
    }
  }

  /// Results that backward operations read are kept by the chunks of these operations.
  void addKept(Operation *op, Block &block) {
    for (Value result : op->getResults()) {
      DenseSet<int> keepers;
      for (Operation *nested : result.getUsers()) {
        Operation *user = block.findAncestorOpInBlock(*nested);
        if (parts_.isVarying(user) && !parts_.isForward(user))
          keepers.insert(placement_.get(user).chunk);
      }
      for (int chunk : keepers)
        pipeline_.chunks[chunk].keptBytes += getValueBytes(result.getType());
    }
  }

  void readState() {
    for (unsigned index : parts_.getStateArguments()) {
      Value state = parts_.getStep().getArgument(index);
      if (!parts_.isReplicatedState(state))
        pipeline_.ranks[rankOf(placement_.getChunk(state))].stateBytes +=
            getValueBytes(state.getType());
    }
  }

  const StepParts &parts_;
  const StagePlacement &placement_;
  const plan::CostModel &model_;
  plan::Pipeline pipeline_;
};

} // namespace

plan::Pipeline mlir::coll::describePipeline(const StepParts &parts, const StagePlacement &placement,
                                            const plan::Schedule &schedule,
                                            ArrayRef<StageTransfer> transfers,
                                            const plan::CostModel &model) {
  return Reader(parts, placement, schedule, model).read(transfers);
}

std::string mlir::coll::describeStages(const plan::Pipeline &pipeline) {
  const plan::Schedule &schedule = pipeline.schedule;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0}: {1} stages, {2} micro-batches; by the operations' work, ranks idle "
                      "{3:f1} % of the time\n",
                      schedule.name, schedule.numRanks(), schedule.numMicroBatches,
                      100 * pipeline.predict().idleFraction());
  os << "stage  operations  us of a micro-batch  state bytes  kept bytes at peak  sent bytes\n";
  for (auto [rank, facts] : llvm::enumerate(pipeline.ranks))
    os << llvm::formatv("{0,5}  {1,10}  {2,19:f1}  {3,11:f0}  {4,18:f0}  {5,10:f0}\n", rank,
                        facts.numOps, pipeline.workUs(int(rank)), facts.stateBytes,
                        plan::peakKept(pipeline, int(rank)).bytes, facts.sentBytes);
  plan::Timeline even = *plan::simulate(schedule, {{}});
  os << plan::drawTimeline(schedule, even, 1, kMaxColumns);
  return StringRef(text).rtrim().str();
}
