//===- stage_report.cc -----------------------------------------------------------===//

#include "passes/transform/stages/stage_report.h"

#include "plan/schedule/simulate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::coll;
namespace plan = ::coll::plan;

static constexpr size_t kMaxColumns = 160;

namespace {

struct ChunkFacts {
  unsigned numOps = 0;
  plan::WorkTimes work{0, 0, 0};
  double keptBytes = 0; // of a micro-batch, from its forward pass to its backward pass
};

struct RankFacts {
  unsigned numOps = 0;
  double work = 0; // of a micro-batch
  double stateBytes = 0, peakBytes = 0, sentBytes = 0;
};

class Reporter {
public:
  Reporter(const StepParts &parts, const StagePlacement &placement, const plan::Schedule &schedule,
           ArrayRef<StageTransfer> transfers)
      : parts_(parts), placement_(placement), schedule_(schedule), chunks_(schedule.numChunks),
        ranks_(schedule.numRanks()) {
    readOps();
    readState();
    for (const StageTransfer &transfer : transfers)
      ranks_[transfer.fromRank].sentBytes += getValueBytes(transfer.value.getType());
    for (int rank = 0; rank < schedule.numRanks(); ++rank)
      ranks_[rank].peakBytes = findPeak(rank);
  }

  std::string describe() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    std::vector<plan::WorkTimes> times;
    for (const ChunkFacts &chunk : chunks_)
      times.push_back(chunk.work);
    plan::Timeline timeline = *plan::simulate(schedule_, times);
    os << llvm::formatv("{0}: {1} stages, {2} micro-batches; by the operations' work, ranks idle "
                        "{3:f1} % of the time\n",
                        schedule_.name, schedule_.numRanks(), schedule_.numMicroBatches,
                        100 * timeline.idleFraction());
    os << "stage  operations        work  state bytes  kept bytes at peak  sent bytes\n";
    for (auto [rank, facts] : llvm::enumerate(ranks_))
      os << llvm::formatv("{0,5}  {1,10}  {2,10:f0}  {3,11:f0}  {4,18:f0}  {5,10:f0}\n", rank,
                          facts.numOps, facts.work, facts.stateBytes, facts.peakBytes,
                          facts.sentBytes);
    plan::Timeline even = *plan::simulate(schedule_, {{}});
    os << plan::drawTimeline(schedule_, even, 1, kMaxColumns);
    return StringRef(text).rtrim().str();
  }

private:
  void readOps() {
    Block &block = parts_.getStep().getBody().front();
    for (Operation &op : block.without_terminator()) {
      if (parts_.isFree(&op) || !parts_.isVarying(&op))
        continue;
      Placement placement = placement_.get(&op);
      ChunkFacts &chunk = chunks_[placement.chunk];
      RankFacts &rank = ranks_[schedule_.rankOfChunk[placement.chunk]];
      double work = getWork(&op);
      ++rank.numOps;
      rank.work += work;
      (placement.phase == Phase::Forward         ? chunk.work.forward
       : placement.phase == Phase::InputGradient ? chunk.work.inputGradient
                                                 : chunk.work.weightGradient) += work;
      if (placement.phase == Phase::Forward)
        addKept(&op, block);
    }
  }

  /// Results that backward operations read are kept by the chunks that do.
  void addKept(Operation *op, Block &block) {
    for (Value result : op->getResults()) {
      DenseSet<int> keepers;
      for (Operation *nested : result.getUsers()) {
        Operation *user = block.findAncestorOpInBlock(*nested);
        if (parts_.isVarying(user) && !parts_.isForward(user))
          keepers.insert(placement_.get(user).chunk);
      }
      for (int chunk : keepers)
        chunks_[chunk].keptBytes += getValueBytes(result.getType());
    }
  }

  void readState() {
    for (unsigned index : parts_.getStateArguments()) {
      Value state = parts_.getStep().getArgument(index);
      if (!parts_.isReplicatedState(state))
        ranks_[schedule_.rankOfChunk[placement_.getChunk(state)]].stateBytes +=
            getValueBytes(state.getType());
    }
  }

  double findPeak(int rank) const {
    double kept = 0, peak = 0;
    for (const plan::ScheduleEntry &entry : schedule_.ranks[rank]) {
      double bytes = chunks_[entry.chunk].keptBytes;
      if (entry.work == plan::Work::Forward)
        peak = std::max(peak, kept += bytes);
      if (entry.work == plan::Work::Backward || entry.work == plan::Work::WeightGradient)
        kept -= bytes;
    }
    return peak;
  }

  const StepParts &parts_;
  const StagePlacement &placement_;
  const plan::Schedule &schedule_;
  std::vector<ChunkFacts> chunks_;
  std::vector<RankFacts> ranks_;
};

} // namespace

std::string mlir::coll::describeStages(const StepParts &parts, const StagePlacement &placement,
                                       const plan::Schedule &schedule,
                                       ArrayRef<StageTransfer> transfers) {
  return Reporter(parts, placement, schedule, transfers).describe();
}
