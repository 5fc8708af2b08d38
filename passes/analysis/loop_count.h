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

/// Of a loop that runs while a counter is below a constant, and whose condition hands the carried
/// values on as they are; nullopt for any other.
std::optional<LoopCount> findLoopCount(scf::WhileOp loop);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_LOOP_COUNT_H
