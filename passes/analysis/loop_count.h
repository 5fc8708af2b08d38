//===- loop_count.h - while loops with a known number of iterations ---*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_LOOP_COUNT_H
#define COLL_PASSES_ANALYSIS_LOOP_COUNT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cstdint>
#include <optional>

namespace mlir::coll {

/// The value of a constant tensor of one integer; nullopt if it is not constant.
std::optional<int64_t> getConstantNumber(Value value);

/// Carried value `index` counts from `start` by `step`, `trips` times.
struct LoopCount {
  unsigned index;
  int64_t start, step, trips;
};

/// Finds the counter of a loop that runs while it is below a constant, and whose condition passes
/// the carried values on unchanged; nullopt for any other loop.
std::optional<LoopCount> findLoopCount(scf::WhileOp loop);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_LOOP_COUNT_H
