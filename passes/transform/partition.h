//===- partition.h - global function to the program of one rank -------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_PARTITION_H
#define COLL_PASSES_TRANSFORM_PARTITION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"

namespace mlir::coll {

/// Rewrites one function whose operands already agree with what each operation
/// needs (coll-insert-reshards). The function keeps its name.
class FunctionPartitioner {
public:
  /// `f32Sums`: floats narrower than f32 are summed over ranks in f32.
  FunctionPartitioner(FunctionOpInterface function, MeshOp mesh, bool f32Sums)
      : function_(function), mesh_(mesh), f32Sums_(f32Sums), builder_(function->getContext()) {}

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
  LogicalResult maskPadding(Operation *op, const ShardingRule &rule, const Assignment &assignment);
  void maskInputs(linalg::LinalgOp op, const ShardingRule &rule, const Assignment &assignment);
  void maskBody(linalg::LinalgOp global, linalg::LinalgOp local, const ShardingRule &rule,
                const Assignment &assignment);
  Value maskDim(Location loc, Value local, int64_t dim, DimShardingAttr split, int64_t extent,
                TypedAttr fill);

  // partition_reshard.cc
  LogicalResult partitionReshard(ReshardOp op);
  Value combine(ReshardOp op, Value value, ShardingAttr &current);
  Value contribute(Location loc, Value value, ShardingAttr &current, ShardingAttr target);
  Value exchange(ReshardOp op, Value value, ShardingAttr &current);
  Value gather(ReshardOp op, Value value, int64_t dim, ShardingAttr &current);
  Value slice(Location loc, Value value, int64_t dim, DimShardingAttr split, int64_t extent);
  Value blockOffset(Location loc, DimShardingAttr split, int64_t extent);
  GroupAttr groupOf(ArrayRef<StringAttr> axes);
  TypeAttr accumulationOf(ReductionKind kind, Type type);

  FunctionOpInterface function_;
  MeshOp mesh_;
  bool f32Sums_;
  OpBuilder builder_;
  IRMapping mapping_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_PARTITION_H
