//===- partition.h - global function to the program of one rank -------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_PARTITION_H
#define COLL_PASSES_TRANSFORM_PARTITION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"

#include <map>
#include <tuple>
#include <vector>

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
  const Assignment &assignmentOf(Operation *op);
  LogicalResult partitionByRule(Operation *op);
  void finishLocal(Operation *op, Operation *local, const ShardingRule &rule,
                   const Assignment &assignment);
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

  // partition_halo.cc

  /// One dimension along which a split loop reads beyond its rank's block.
  struct Halo {
    Location loc;
    int64_t dim;
    DimShardingAttr split; // of the loop
    ::coll::plan::HaloLoop loop;
    ::coll::plan::HaloPlan plan;
    std::string why;
  };
  Halo planHalo(Operation *op, const ShardingRule &rule, const Assignment &assignment,
                int64_t factor, int64_t dim);
  ::coll::plan::HaloSource haloSource(const Halo &halo, Value global, const Reach &reach);
  Value readHalo(Halo &halo, Value local, const ::coll::plan::HaloSource &source, TypedAttr fill,
                 bool spreads);
  Value exchangeHalos(Operation *op, const ShardingRule &rule, const Assignment &assignment,
                      int64_t index, TypedAttr fill);
  Value fillBuffer(const Halo &halo, ArrayRef<Value> locals);
  Value moveHalo(const Halo &halo, const ::coll::plan::HaloRound &round, Value source,
                 Value buffer);
  Value gatherHalo(const Halo &halo, Value local, const ::coll::plan::HaloSource &source);
  Value fillOutside(const Halo &halo, Value buffer, const ::coll::plan::HaloSource &source,
                    Value outside);
  Value spreadBuffer(const Halo &halo, Value buffer, const ::coll::plan::HaloSource &source,
                     Value fill);
  Value sliceAlong(Location loc, Value value, int64_t dim, OpFoldResult offset, int64_t length);
  Value insertAlong(Location loc, Value part, Value whole, int64_t dim, OpFoldResult offset,
                    int64_t stride);
  OpFoldResult byPlace(Location loc, ArrayRef<StringAttr> axes, ArrayRef<int64_t> values);
  Value splat(Location loc, RankedTensorType type, TypedAttr element);

  // partition_shifts.cc
  void readBeyondBlocks(Operation *op, const ShardingRule &rule, const Assignment &assignment);
  void enterWindow(WindowOp op, const ShardingRule &rule, const Assignment &assignment);
  void shiftWithinBlocks(Operation *global, Operation *local, const ShardingRule &rule,
                         const Assignment &assignment);
  void keepOutside(tensor::InsertSliceOp global, tensor::InsertSliceOp local,
                   const ShardingRule &rule, const Assignment &assignment);
  bool partitionConcat(Operation *op, const ShardingRule &rule, const Assignment &assignment);

  // partition_reshard.cc
  LogicalResult partitionReshard(ReshardOp op);
  Value partitionMove(ReshardOp op, Value value, const Move &move, const Layout &layout);
  Operation *createCollective(ReshardOp op, Value value, const Move &move, RankedTensorType type);
  Value makePartial(ReshardOp op, Value value, const Move &move, const Layout &layout);
  void copyNotes(ReshardOp op, Operation *collective);
  Value slice(Location loc, Value value, int64_t dim, ArrayRef<StringAttr> axes, int64_t block);
  Value fit(Location loc, Value value, ArrayRef<int64_t> shape);
  Value axisIndex(Location loc, ArrayRef<StringAttr> axes);
  Value blockOffset(Location loc, ArrayRef<StringAttr> axes, int64_t block);
  Value blockOffset(Location loc, DimShardingAttr split, int64_t extent);
  GroupAttr groupOf(ArrayRef<StringAttr> axes);

  // partition_route.cc
  Value route(ReshardOp op, Value value, const Move &move);
  Value combineCells(ReshardOp op, Value value, const Move &move,
                     const ::coll::plan::RoutedSum &sum);
  Value createBuffer(Location loc, RankedTensorType type, bool isFilled);
  Value runRounds(ReshardOp op, const Move &move, ArrayRef<::coll::plan::RouteRound> rounds,
                  Value source, Value buffer, ArrayRef<int64_t> idle);
  TypeAttr accumulationOf(ReductionKind kind, Type type);

  FunctionOpInterface function_;
  MeshOp mesh_;
  bool f32Sums_;
  ReshardPlans plans_;
  OpKinds kinds_;
  ShardingAnswers<std::optional<Assignment>> assignments_;
  OpBuilder builder_;
  IRMapping mapping_;
  /// Buffers of halos by their content: a block, a value in it, and how that is read.
  std::map<std::tuple<Block *, void *, std::vector<int64_t>, const void *, const void *>, Value>
      buffers_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_PARTITION_H
