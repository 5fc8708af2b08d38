//===- strategies.h - data, fsdp, zero1, tensor, expert, sequence, spatial -*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STRATEGY_STRATEGIES_H
#define COLL_PASSES_TRANSFORM_STRATEGY_STRATEGIES_H

#include "passes/analysis/sharding_rule.h"
#include "passes/transform/strategy/step_sharding.h"

namespace mlir::coll {

/// Applies `text`, a list such as `fsdp,tensor` or `data:replica,tensor:model`: strategies, each
/// with the mesh axis that it uses where that has not the usual name. An error at the step where
/// a strategy or an axis is unknown, or two of them need one axis for different things.
LogicalResult applyStrategies(StringRef text, StepSharding &sharding);

// optimizer.cc

/// Per argument: the parameter whose update it takes part in elementwise, as the moments of an
/// optimizer do; -1 for parameters and everything else. A parameter is state that other results
/// than new state depend on.
SmallVector<int64_t> findOptimizerState(const StepSharding &sharding);

/// Splits the optimizer's state over `axis` where its parameter is.
void splitOptimizerState(StepSharding &sharding, StringAttr axis);

// tensor.cc

/// Splits the weights of products over `axis`: by columns, and by rows where what they multiply is
/// split already, so that only the second of two products is summed over ranks.
void splitWeights(StepSharding &sharding, StringAttr axis);

// expert.cc

/// Splits the weights of experts over `axis`, some experts a rank. False if the step has none.
bool splitExperts(StepSharding &sharding, StringAttr axis);

/// Whether a step has weights of two experts or more.
bool hasExperts(func::FuncOp step);

// spatial.cc

/// The first dimension of a batch argument, behind the batch itself, that a convolution or a
/// pooling slides over; nullopt if there is none.
std::optional<int64_t> findHeight(BlockArgument argument);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STRATEGY_STRATEGIES_H
