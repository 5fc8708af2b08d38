//===- sharding_cost.h - the cost of a choice of shardings ------------*- C++ -*-===//
//
// Estimates that decide between assignments. The unit is a byte that a rank sends.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_SHARDING_COST_H
#define COLL_PASSES_ANALYSIS_SHARDING_COST_H

#include "passes/analysis/sharding_rule.h"

namespace mlir::coll {

/// The cost of a change for which a micro-batch has to wait for the rows of all others: more than
/// any transfer.
inline constexpr double kBytesOfWaitingForRows = 1e12;

/// Bytes that a rank sends to change a value of `type` from `from` to `to`: partial sums are
/// scattered where `to` splits over their axes, axes that move between dimensions are exchanged,
/// and axes that end are gathered. Taking a part of a block that the rank has is free.
double getReshardBytes(MeshOp mesh, RankedTensorType type, ShardingAttr from, ShardingAttr to);

/// A sum of such costs for users: "85 bytes".
std::string describeReshardBytes(int64_t bytes);

/// Bytes that a rank sends at least until a value of `type` with this sharding is combined: those
/// of a scatter of its contributions; zero where it is not partial.
double getCombineBytes(MeshOp mesh, RankedTensorType type, ShardingAttr sharding);

/// Bytes that a rank sends where iterations of split loops read operand `index`, a ranked tensor,
/// beyond their rank's block.
double getHaloBytes(Operation *op, const ShardingRule &rule, const Assignment &assignment,
                    MeshOp mesh, int64_t index);

/// The cost of a rank's iterations of `op`, as the bytes that it could send in the same time.
double getWorkCost(Operation *op, const ShardingRule &rule, const Assignment &assignment,
                   MeshOp mesh);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_SHARDING_COST_H
