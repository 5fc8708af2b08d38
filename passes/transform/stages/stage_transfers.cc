//===- stage_transfers.cc --------------------------------------------------------===//

#include "passes/transform/stages/stage_transfers.h"

using namespace mlir;
using namespace mlir::coll;

/// The first entry of a rank, for a micro-batch, of those that may read the value: a forward pass
/// of a later chunk, else the backward pass of the last of its chunks that do.
static Placement chooseReceiver(const Placement &producer, ArrayRef<Placement> readers) {
  std::optional<int> forward;
  int backward = 0;
  for (const Placement &reader : readers) {
    if (reader.phase == Phase::Forward)
      forward = std::min(forward.value_or(reader.chunk), reader.chunk);
    backward = std::max(backward, reader.chunk);
  }
  // A chunk that reads it only in its backward pass receives it with the forward pass.
  if (producer.phase == Phase::Forward && !forward)
    for (const Placement &reader : readers)
      if (reader.chunk > producer.chunk)
        forward = std::min(forward.value_or(reader.chunk), reader.chunk);
  return forward ? Placement{Phase::Forward, *forward} : Placement{Phase::InputGradient, backward};
}

std::vector<StageTransfer> mlir::coll::findTransfers(const StepParts &parts,
                                                     const StagePlacement &placement,
                                                     const ::coll::plan::Schedule &schedule) {
  std::vector<StageTransfer> transfers;
  Block &block = parts.getStep().getBody().front();
  int64_t tag = 0;
  for (Operation &op : block) {
    if (!parts.isVarying(&op) || parts.isFree(&op))
      continue;
    Placement producer = placement.get(&op);
    int fromRank = schedule.rankOfChunk[producer.chunk];
    for (Value result : op.getResults()) {
      llvm::MapVector<int, SmallVector<Placement>> readers; // by rank
      for (Operation *nested : result.getUsers()) {
        Operation *user = block.findAncestorOpInBlock(*nested);
        if (!parts.isVarying(user))
          continue; // a sum adds up where its terms are
        Placement reader = placement.get(user);
        int rank = schedule.rankOfChunk[reader.chunk];
        if (rank != fromRank)
          readers[rank].push_back(reader);
      }
      for (auto &[rank, placements] : readers) {
        transfers.push_back(
            {result, producer, chooseReceiver(producer, placements), fromRank, rank, tag});
        tag += schedule.numMicroBatches;
      }
    }
  }
  return transfers;
}

UniformMoves mlir::coll::findUniformMoves(const StepParts &parts, const StagePlacement &placement,
                                          const ::coll::plan::Schedule &schedule) {
  UniformMoves moves;
  for (Operation &op : parts.getStep().getBody().front().without_terminator()) {
    if (parts.isFree(&op))
      continue;
    int rank = schedule.rankOfChunk[placement.get(&op).chunk];
    for (Value value : getReadValues(&op))
      if (!parts.isVarying(value) && !parts.isFree(value) &&
          schedule.rankOfChunk[placement.getChunk(value)] != rank)
        moves[&op].push_back(value);
  }
  return moves;
}
