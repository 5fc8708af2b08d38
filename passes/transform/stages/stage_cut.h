//===- stage_cut.h - which chunk each forward operation belongs to ----*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_CUT_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_CUT_H

#include "passes/transform/stages/step_parts.h"
#include "plan/cost_model.h"
#include "plan/schedule/schedule.h"

namespace mlir::coll {

/// The chunk of every forward operation; results never flow to an earlier chunk.
using ChunkOf = DenseMap<Operation *, int>;

/// Predicted microseconds of running `op` once, by a model over a topology.
double getWorkUs(Operation *op, const ::coll::plan::CostModel &model);

/// Bytes of a tensor; 8 of anything else.
double getValueBytes(Type type);

/// Cuts the forward pass into the chunks of a schedule, in program order, so that they cost about
/// the same, their backward passes included, and few bytes cross. Every chunk reads a parameter; if
/// that is impossible, the error says how many chunks are possible.
FailureOr<ChunkOf> cutByCost(const StepParts &parts, const ::coll::plan::Schedule &schedule,
                             const ::coll::plan::CostModel &model);

/// Cuts by patterns over argument names, `params/layer_0*: 0`: a parameter opens its chunk, and
/// what follows stays there up to the next one. Patterns over named scopes of JAX,
/// `scope:Block_1: 1`, put the operations of a scope there.
FailureOr<ChunkOf> cutByPatterns(const StepParts &parts, ArrayRef<std::string> patterns,
                                 int numChunks);

/// Cuts by the patterns; without any, by the stages that scopes of the step name, else by cost.
FailureOr<ChunkOf> cutForward(const StepParts &parts, SmallVector<std::string> patterns,
                              const ::coll::plan::Schedule &schedule,
                              const ::coll::plan::CostModel &model);

/// Predicted time of the work on a rank of the assumed topology.
::coll::plan::CostModel makeStageModel();

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_CUT_H
