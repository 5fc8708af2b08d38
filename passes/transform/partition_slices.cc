//===- partition_slices.cc - slices of one element along a split dimension --------===//
//
// The rank whose block holds the position reads or writes it; others read zeros, and write
// what was there:
//
//   extract_slice   slice at clamp(offset - start of block), zeros where it lies outside
//   insert_slice    old = slice of dest at the same place, inserted again where it lies outside
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/transform/partition.h"

namespace mlir::coll {

/// Moves the offsets along split dimensions that `dims` walks into this rank's block; returns
/// whether all of them lie in it, or null if none is split.
Value FunctionPartitioner::localOffsets(Location loc, ArrayRef<DimFactor> dims,
                                        const ShardingRule &rule, const Assignment &assignment,
                                        SmallVectorImpl<OpFoldResult> &offsets) {
  Value isHeld;
  for (auto [dim, walked] : llvm::enumerate(dims)) {
    if (walked.factor < 0 || !rule.factors[walked.factor].isIndexed ||
        !assignment.factors[walked.factor])
      continue;
    DimShardingAttr split = assignment.factors[walked.factor];
    // One block holds everything: offsets that are known stay so.
    if (getNumShards(mesh_, split) == 1)
      continue;
    int64_t extent = rule.factors[walked.factor].size;
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder_, loc, value);
    };
    auto known = dyn_cast<Attribute>(offsets[dim]);
    Value offset = known ? constant(cast<IntegerAttr>(known).getInt()) : cast<Value>(offsets[dim]);
    Value local = arith::SubIOp::create(builder_, loc, offset, blockOffset(loc, split, extent));
    int64_t block = getBlockExtent(mesh_, split, extent);
    Value isWithin =
        arith::CmpIOp::create(builder_, loc, arith::CmpIPredicate::ult, local, constant(block));
    isHeld = isHeld ? arith::AndIOp::create(builder_, loc, isHeld, isWithin).getResult() : isWithin;
    local = arith::MaxSIOp::create(builder_, loc, local, constant(0));
    offsets[dim] = arith::MinSIOp::create(builder_, loc, local, constant(block - 1)).getResult();
  }
  return isHeld;
}

/// The slice of a rank that holds it, zeros on the others; `local` reads at global offsets.
Value FunctionPartitioner::sliceHeld(tensor::ExtractSliceOp local, const ShardingRule &rule,
                                     const Assignment &assignment) {
  Location loc = local.getLoc();
  SmallVector<OpFoldResult> offsets = local.getMixedOffsets();
  Value isHeld = localOffsets(loc, rule.operands[0], rule, assignment, offsets);
  if (!isHeld)
    return local.getResult();
  RankedTensorType type = local.getType();
  Value slice = tensor::ExtractSliceOp::create(builder_, loc, type, local.getSource(), offsets,
                                               local.getMixedSizes(), local.getMixedStrides());
  Value zero = arith::ConstantOp::create(builder_, loc, builder_.getZeroAttr(type));
  local.erase();
  return arith::SelectOp::create(builder_, loc, isHeld, slice, zero);
}

/// The destination with the slice in it on the rank that holds the position; `local` writes at
/// global offsets.
Value FunctionPartitioner::insertHeld(tensor::InsertSliceOp local, const ShardingRule &rule,
                                      const Assignment &assignment) {
  Location loc = local.getLoc();
  SmallVector<OpFoldResult> offsets = local.getMixedOffsets();
  Value isHeld = localOffsets(loc, rule.operands[1], rule, assignment, offsets);
  if (!isHeld)
    return local.getResult();
  Value old =
      tensor::ExtractSliceOp::create(builder_, loc, local.getSourceType(), local.getDest(), offsets,
                                     local.getMixedSizes(), local.getMixedStrides());
  Value kept = arith::SelectOp::create(builder_, loc, isHeld, local.getSource(), old);
  Value inserted = tensor::InsertSliceOp::create(builder_, loc, kept, local.getDest(), offsets,
                                                 local.getMixedSizes(), local.getMixedStrides());
  local.erase();
  return inserted;
}

} // namespace mlir::coll
