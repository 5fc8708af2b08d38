//===- layer_folding.h - a step with few of its repeated layers ----------*- C++ -*-===//
//
// The layers of a network repeat the same operations: forward, backward and in the update. Each
// layer adds the same to the cost of a step, so the costs of two short steps predict that of a long
// one:
//
//   cost(126 layers) = cost(2 layers) + 62 · (cost(4 layers) - cost(2 layers))
//
//===------------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_LAYER_FOLDING_H
#define COLL_COMPILER_LAYER_FOLDING_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace coll::run {

/// `count` consecutive segments of `period` operations in a block, starting at operation number
/// `first`, each equal to the one before.
struct RepeatedRun {
  size_t first = 0, period = 1, count = 0;

  size_t end() const { return first + period * count; }
};

/// Runs without overlaps, the longest first, given a hash per operation. `least` is the smallest
/// count.
std::vector<RepeatedRun> findRepeatedRuns(const std::vector<uint64_t> &hashes, size_t least);

struct FoldedStep {
  mlir::OwningOpRef<mlir::ModuleOp> shorter, longer;
  /// How many times the difference between `longer` and `shorter` is missing in `shorter`.
  double repeats = 0;

  /// The value for the whole step of a quantity that has these values in the short steps.
  double extrapolate(double ofShorter, double ofLonger) const {
    return ofShorter + repeats * (ofLonger - ofShorter);
  }
};

/// Leaves out most of the layers of @step in `module`, a step at L0 without calls, their arguments
/// and the results that update these. Layers whose arguments differ in their shardings, or in which
/// of the `shards` patterns match them, do not repeat. Nothing if fewer than six layers do.
std::optional<FoldedStep> foldLayers(mlir::ModuleOp module, const std::vector<std::string> &shards);

} // namespace coll::run

#endif // COLL_COMPILER_LAYER_FOLDING_H
