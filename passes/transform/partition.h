//===- partition.h - global function to the program of one rank -------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_PARTITION_H
#define COLL_PASSES_TRANSFORM_PARTITION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"

namespace mlir::coll {

/// Rewrites one function whose operands already agree with what each operation
/// needs (coll-insert-reshards). The function keeps its name.
class FunctionPartitioner {
public:
  /// `f32Sums`: floats narrower than f32 are summed over ranks in f32.
  FunctionPartitioner(FunctionOpInterface function, MeshOp mesh, bool f32Sums, ReshardPlans plans)
      : function_(function), mesh_(mesh), f32Sums_(f32Sums), plans_(std::move(plans)),
        builder_(function->getContext()) {}

  LogicalResult run();

private:
  // partition.cc
  RankedTensorType localType(Type global, ShardingAttr sharding);
  Type localTypeOf(Value value);
  LogicalResult partitionBlock(Block &from, Block &to);
  LogicalResult partitionOp(Operation *op);
  LogicalResult partitionNested(Operation *op);

  // partition_ops.cc
  LogicalResult partitionByRule(Operation *op);
  void fixStaticSizes(Operation *global, Operation *local);
  void offsetIndices(linalg::LinalgOp global, linalg::LinalgOp local, const ShardingRule &rule,
                     const Assignment &assignment);
  void localizeIndices(Operation *op, const ShardingRule &rule, const Assignment &assignment);
  LogicalResult maskPadding(Operation *op, const ShardingRule &rule, const Assignment &assignment);
  void maskInputs(linalg::LinalgOp op, const ShardingRule &rule, const Assignment &assignment);
  void maskBody(linalg::LinalgOp global, linalg::LinalgOp local, const ShardingRule &rule,
                const Assignment &assignment);
  Value maskDim(Location loc, Value local, int64_t dim, DimShardingAttr split, int64_t extent,
                TypedAttr fill);

  // partition_indexed.cc
  Value localIndices(Location loc, Value indices, ArrayRef<int64_t> indexMap,
                     const ShardingRule &rule, const Assignment &assignment, bool clamps);
  Value maskTaken(TakeOp op, Value taken, Value indices, const ShardingRule &rule,
                  const Assignment &assignment);

  // partition_slices.cc
  Value localOffsets(Location loc, ArrayRef<DimFactor> dims, const ShardingRule &rule,
                     const Assignment &assignment, SmallVectorImpl<OpFoldResult> &offsets);
  Value sliceHeld(tensor::ExtractSliceOp local, const ShardingRule &rule,
                  const Assignment &assignment);
  Value insertHeld(tensor::InsertSliceOp local, const ShardingRule &rule,
                   const Assignment &assignment);

  // partition_reshard.cc
  LogicalResult partitionReshard(ReshardOp op);
  Value partitionMove(ReshardOp op, Value value, const Move &move, const Layout &layout);
  Operation *createCollective(ReshardOp op, Value value, const Move &move, RankedTensorType type);
  Value makePartial(ReshardOp op, Value value, const Move &move, const Layout &layout);
  Value slice(Location loc, Value value, int64_t dim, ArrayRef<StringAttr> axes, int64_t block);
  Value fit(Location loc, Value value, ArrayRef<int64_t> shape);
  Value axisIndex(Location loc, ArrayRef<StringAttr> axes);
  Value blockOffset(Location loc, ArrayRef<StringAttr> axes, int64_t block);
  Value blockOffset(Location loc, DimShardingAttr split, int64_t extent);
  GroupAttr groupOf(ArrayRef<StringAttr> axes);
  TypeAttr accumulationOf(ReductionKind kind, Type type);

  FunctionOpInterface function_;
  MeshOp mesh_;
  bool f32Sums_;
  ReshardPlans plans_;
  OpBuilder builder_;
  IRMapping mapping_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_PARTITION_H
