//===- assignment.h - parts that the files of assignments share -------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_ASSIGNMENT_H
#define COLL_PASSES_ANALYSIS_ASSIGNMENT_H

#include "passes/analysis/sharding_rule.h"

namespace mlir::coll {

/// `dim` without its unit if the blocks are the same without it.
DimShardingAttr normalizeUnit(MeshOp mesh, DimShardingAttr dim, int64_t extent);

/// How a dimension is split over the first `count` axes of `split` alone, each block made of whole
/// blocks: ["mb", "tp"] unit 4 is ["mb"] unit 8 without "tp" of size 2.
DimShardingAttr takeAxes(MeshOp mesh, DimShardingAttr split, size_t count);

/// Whether the lists have an axis in common.
bool overlaps(ArrayRef<StringAttr> axes, ArrayRef<StringAttr> used);

/// Operand numbers, larger tensors first; equal ones in order.
SmallVector<int64_t> getOperandsBySize(Operation *op, ArrayRef<ShardingAttr> shardings);

/// `order` with `first` moved to its front.
SmallVector<int64_t> withFirst(ArrayRef<int64_t> order, int64_t first);

/// The linear set through which the partial operands pass, or -1. Members that are not partial must
/// be neutral; a result must not be larger than the partial operands together, because it is
/// combined later.
int64_t findLinearSet(Operation *op, const ShardingRule &rule, ArrayRef<ShardingAttr> operands,
                      ArrayRef<int64_t> partial, llvm::function_ref<bool(Value)> isNeutral);

/// How `split` of a dimension that walks a factor with `unit` splits the factor.
DimShardingAttr toFactor(DimShardingAttr split, const DimFactor &dim);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_ASSIGNMENT_H
