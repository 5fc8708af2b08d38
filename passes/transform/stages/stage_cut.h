//===- stage_cut.h - which chunk each forward operation belongs to ----*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_CUT_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_CUT_H

#include "passes/transform/stages/step_parts.h"

namespace mlir::coll {

/// The chunk of every forward operation; results never flow to an earlier chunk.
using ChunkOf = DenseMap<Operation *, int>;

/// What running `op` once costs, in multiplications or elements.
double getWork(Operation *op);

/// Bytes of a tensor; 8 of anything else.
double getValueBytes(Type type);

/// Cuts the forward pass, in program order, so that the chunks cost about the same and few bytes
/// cross. Every chunk reads some parameter; an error says how many there could be.
FailureOr<ChunkOf> cutByCost(const StepParts &parts, int numChunks);

/// Cuts by patterns over argument names, `params/layer_0*: 0`: a parameter opens its chunk, and
/// what follows stays there up to the next one.
FailureOr<ChunkOf> cutByPatterns(const StepParts &parts, ArrayRef<std::string> patterns,
                                 int numChunks);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_CUT_H
