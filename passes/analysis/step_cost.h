//===- step_cost.h - communication and work of a partitioned step -----*- C++ -*-===//
//
// Reads a function whose types are those of one rank (L4 and L5). Loops count as often as their
// bounds or their counter say; the body of any other loop counts once.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_STEP_COST_H
#define COLL_PASSES_ANALYSIS_STEP_COST_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "plan/cost_model.h"

namespace mlir::coll {

/// A collective or a transfer of a step.
struct CollectiveCost {
  Operation *op = nullptr;
  int64_t calls = 1;       // in one step
  bool isCounted = true;   // false: it stands in a loop of unknown length, or in a branch
  int64_t groupSize = 1;   // ranks that take part together
  int64_t groupBytes = 0;  // sent by the ranks of a group in one call, together
  double microseconds = 0; // of one call; its share of one that it makes together with others
  bool sharesCall = false; // it is in the call of the one before
  DictionaryAttr tensor;   // of several that are packed into `op`: this one's notes (kTensorsAttr)

  /// Sent by an average rank in one call.
  double wireBytes() const {
    return static_cast<double>(groupBytes) / static_cast<double>(groupSize);
  }
};

struct StepCost {
  std::vector<CollectiveCost> collectives;   // in program order
  double computeUs = 0, communicationUs = 0; // of one rank; operations follow one another
  // An average rank's calls of collectives in a step, what it puts into them, and what it sends.
  double calls = 0, payloadBytes = 0, wireBytes = 0;
  /// The largest sum of the bytes of arguments, results and values that are alive together. It is
  /// near the memory of the buffer plan, which fuses kernels and updates state in place.
  int64_t memoryBytes = 0;

  double totalUs() const { return computeUs + communicationUs; }
};

/// `mesh` may be null: groups are lists of ranks then. `model` is over a topology.
StepCost getStepCost(func::FuncOp step, MeshOp mesh, const ::coll::plan::CostModel &model);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_STEP_COST_H
