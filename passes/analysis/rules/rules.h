//===- rules.h - the rules by family ---------------------------------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_RULES_RULES_H
#define COLL_PASSES_ANALYSIS_RULES_RULES_H

#include "dialect/shape.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/sharding_rule.h"

namespace mlir::coll {

/// A rule in which every dimension must be whole.
ShardingRule wholeRule(Operation *op);
/// Gives two dimensions of the same meaning one new factor, unless they have one already.
void link(ShardingRule &rule, DimFactor &a, DimFactor &b, int64_t size);
/// Whether ranks can contribute zeros for the elements of a tensor of `type` that they do not have,
/// and sum the contributions.
bool canBeSummed(Type type);

// linalg.cc
ShardingRule linalgRule(linalg::LinalgOp op);
ShardingRule windowRule(WindowOp op);

// shapes.cc

/// expand_shape and collapse_shape; `expanded` is the operand or the result of `op`.
ShardingRule reshapeRule(Operation *op, Value expanded, ArrayRef<ReassociationIndices> groups);
ShardingRule extractSliceRule(tensor::ExtractSliceOp op);
ShardingRule insertSliceRule(tensor::InsertSliceOp op);
ShardingRule padRule(tensor::PadOp op);
ShardingRule concatRule(tensor::ConcatOp op);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RULES_RULES_H
