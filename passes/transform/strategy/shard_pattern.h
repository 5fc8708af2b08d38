//===- shard_pattern.h - shardings by patterns over argument names ----*- C++ -*-===//
//
//   params/*/kernel: [-, tp]     every argument whose path, or its end, matches
//   embedding: [dp+tp, -]        one dimension split over two axes, dp the major one
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_TRANSFORM_STRATEGY_SHARD_PATTERN_H
#define COLL_PASSES_TRANSFORM_STRATEGY_SHARD_PATTERN_H

#include "passes/transform/strategy/step_sharding.h"

namespace llvm {
class GlobPattern;
}

namespace mlir::coll {

/// A pattern matches a whole path, or what follows one of its slashes.
bool matchesPath(const llvm::GlobPattern &glob, StringRef path);

/// Whether a pattern without its sharding matches a path (StepSharding::getPath) or what follows
/// one of its slashes. False if the pattern is malformed.
bool matchesShardPattern(StringRef pattern, StringRef path);

/// Fixes the sharding of every argument that `text` matches. An error at the step, or at the
/// argument, where the text is malformed, matches nothing (the nearest paths are named), names an
/// axis that the mesh lacks or one twice, or has another rank than the argument.
LogicalResult applyShardPattern(StringRef text, StepSharding &sharding);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STRATEGY_SHARD_PATTERN_H
