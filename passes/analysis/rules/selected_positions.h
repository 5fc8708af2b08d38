//===- selected_positions.h - where a pooling's windows select -------*- C++ -*-===//
//
// The gradient of a pooling by maximum adds each update to the position that its window selected.
// The positions are computed, but never far from the window:
//
//   indices = positions that a reduction over windows selects, -1 where there is none
//   coll.accumulate updates into zeros[indices]
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_RULES_SELECTED_POSITIONS_H
#define COLL_PASSES_ANALYSIS_RULES_SELECTED_POSITIONS_H

#include "dialect/dialect.h"

namespace mlir::coll {

/// The position that update i along dimension `updatesDim` names lies in
/// step * i + first … step * i + last, or is negative.
struct SelectedPositions {
  int64_t updatesDim, step, first, last;
};

/// The positions in component `component` of the indices; nullopt if nothing is known of them.
std::optional<SelectedPositions> findSelectedPositions(AccumulateOp op, int64_t component);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RULES_SELECTED_POSITIONS_H
