//===- stage_emitter.h - the step of one stage ------------------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_EMITTER_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_EMITTER_H

#include "passes/transform/stages/stage_transfers.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <deque>
#include <map>

namespace mlir::coll {

/// Data that all stages of a step share.
struct StagedStep {
  const StepParts &parts;
  const StagePlacement &placement;
  const ::coll::plan::Schedule &schedule;
  ArrayRef<StageTransfer> transfers;
  const UniformMoves &moves;
  int maxInFlight;  // transfers between two chunks
  MeshOp mesh;      // of the partitioned step, with the time axis
  GroupAttr stages; // the axis of stages
};

/// How a batch argument of the partitioned step is split over time.
struct TimeSplit {
  unsigned dim = 0;
  int64_t rows = 0; // of a micro-batch on one rank
};
std::optional<TimeSplit> getTimeSplit(func::FuncOp step, unsigned argument);

/// Writes the program of one stage: first operations that run once, then the entries of its
/// schedule, then the updates. Operations are cloned for each micro-batch.
class StageEmitter {
public:
  /// `function` has all arguments of the step, those split over time with the rows of all
  /// micro-batches; its body is empty.
  StageEmitter(const StagedStep &staged, int rank, func::FuncOp function);

  /// A result of the stage, with its number in the step.
  struct Result {
    unsigned number;
    Value value;
  };
  /// The results that this stage returns, in order. Also marks the arguments that it keeps.
  SmallVector<Result> emit();
  bool keepsArgument(unsigned index) const { return kept_[index]; }

private:
  // Facts about an operation that are needed each time it is cloned.
  struct OpFacts {
    SmallVector<Value> reads;
    bool holdsTime = false; // a coordinate in time, in its regions
  };

  void emitOnce();
  void emitEntries();
  void emitPhase(int chunk, Phase phase, int batch);
  void receive(int chunk, Phase phase, int batch);
  void send(int chunk, Phase phase, int batch);
  void addTerms(int chunk, Phase phase, int batch);
  void emitUpdates();
  void finishSum(AllReduceOp sum);
  SmallVector<Result> collectResults();

  void sortOps();
  const OpFacts &getFacts(Operation *op);
  bool isMine(int chunk) const { return staged_.schedule.rankOfChunk[chunk] == rank_; }
  Value get(Value value, int batch);
  Value getBatchArgument(BlockArgument argument, int batch);
  void clone(Operation *op, int batch);
  Value emitAxisIndex(OpBuilder &builder, AxisIndexOp index, int batch);
  /// Sends a value that exists once for all micro-batches to a rank. All ranks' programs ask for
  /// the same moves in the same order.
  void move(Value value, int toRank);
  void moveOperands(Operation *op);
  StartOp startSend(Value source, int toRank, int64_t tag, StringRef why);
  Value emitReceive(Value like, int fromRank, int64_t tag, StringRef why);
  void waitFor(size_t leave, std::deque<SmallVector<StartOp>> &sent);

  const StagedStep &staged_;
  const StepParts &parts_;
  int rank_;
  func::FuncOp step_, function_;
  OpBuilder builder_;
  DenseMap<Operation *, OpFacts> facts_;
  // The operations that the rank runs for each micro-batch, and the sums whose terms they compute.
  struct PhaseOps {
    SmallVector<Operation *> ops;
    SmallVector<AllReduceOp> sums;
    SmallVector<const StageTransfer *> received, sent;
  };
  std::map<std::pair<int, Phase>, PhaseOps> phases_;
  DenseMap<Value, Value> once_;
  std::vector<DenseMap<Value, Value>> batches_;
  DenseMap<Operation *, Value> sums_;
  SmallVector<bool> kept_;
  // Sends in flight: by receiver, chunk and phase, those of one entry together; and unbounded ones.
  std::map<std::tuple<int, int, Phase>, std::deque<SmallVector<StartOp>>> sent_;
  std::deque<SmallVector<StartOp>> sentAside_;
  DenseSet<std::pair<Value, int>> moved_;
  int64_t nextTag_ = 0;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_EMITTER_H
