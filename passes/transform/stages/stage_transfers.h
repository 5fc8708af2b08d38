//===- stage_transfers.h - the transfers between stages ---------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_TRANSFERS_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_TRANSFERS_H

#include "passes/transform/stages/stage_placement.h"
#include "plan/schedule/schedule.h"

namespace mlir::coll {

/// A value that a stage makes for each micro-batch and another one needs. It is sent behind the
/// entry that makes it and received before one entry, whichever later ones read it as well.
struct StageTransfer {
  Value value;
  Placement producer;
  Placement receiver; // Forward or InputGradient: the entry that it is received before
  int fromRank, toRank;
  int64_t tag; // of micro-batch 0; the others follow

  /// Between neighbouring chunks, in the direction of the pass: the schedule bounds how many of
  /// them are in flight. Others are waited for at the end.
  bool isBounded() const {
    return producer.phase == receiver.phase &&
           (producer.phase == Phase::Forward ? receiver.chunk == producer.chunk + 1
                                             : receiver.chunk == producer.chunk - 1);
  }
};

std::vector<StageTransfer> findTransfers(const StepParts &parts, const StagePlacement &placement,
                                         const ::coll::plan::Schedule &schedule);

/// Values that exist once for all micro-batches and that operations of another stage read.
using UniformMoves = DenseMap<Operation *, SmallVector<Value>>;

UniformMoves findUniformMoves(const StepParts &parts, const StagePlacement &placement,
                              const ::coll::plan::Schedule &schedule);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_TRANSFERS_H
