//===- bucket.cc - gradients and parameters to rows, and back ---------------===//

#include "passes/transform/roots/bucket.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/sharding_map.h"

namespace mlir::coll {

RootBucket::RootBucket(SmallVector<RootUpdateOp> updates, RootLayout layout, MeshOp mesh,
                       SmallVector<StringAttr> axes)
    : updates_(std::move(updates)), layout_(std::move(layout)), mesh_(mesh), axes_(std::move(axes)),
      builder_(updates_.front()->getBlock()->getTerminator()) {}

int64_t RootBucket::getNumHeld() {
  RootUpdateOp first = updates_.front();
  return first.getStates().size() - first.getForwardAttr().getInt();
}

RankedTensorType RootBucket::getRowsType(Type element) const {
  return RankedTensorType::get({layout_.getNumRows(), layout_.getRowElements()}, element);
}

ShardingAttr RootBucket::getSplitSharding(int64_t dims) const {
  MLIRContext *context = builder_.getContext();
  SmallVector<DimShardingAttr> splits(dims, DimShardingAttr::get(context, {}, 1));
  splits[0] = DimShardingAttr::get(context, axes_, 1);
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(MeshOp(mesh_).getSymNameAttr()), splits);
}

//===----------------------------------------------------------------------===//
// To rows
//===----------------------------------------------------------------------===//

Value RootBucket::zeros(Location loc, Type element, int64_t count) {
  auto type = RankedTensorType::get({count}, element);
  return arith::ConstantOp::create(builder_, loc, cast<TypedAttr>(builder_.getZeroAttr(type)));
}

Value RootBucket::flatten(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return value;
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return tensor::CollapseShapeOp::create(builder_, value.getLoc(), flat, value,
                                         ArrayRef<ReassociationIndices>{all});
}

/// One tensor per item behind each other, from where its first row starts. A row is `unit` elements
/// long; zeros stand where no item is.
Value RootBucket::concatRows(Location loc, Type element, int64_t unit,
                             llvm::function_ref<Value(int64_t)> flatOf) {
  SmallVector<Value> pieces;
  int64_t position = 0;
  auto padTo = [&](int64_t end) {
    if (end > position)
      pieces.push_back(zeros(loc, element, end - position));
    position = end;
  };
  for (int64_t item : layout_.getOrder()) {
    padTo(layout_.getFirstRow(item) * unit);
    pieces.push_back(flatOf(item));
    position += cast<RankedTensorType>(pieces.back().getType()).getNumElements();
  }
  padTo(layout_.getNumRows() * unit);
  if (pieces.size() == 1)
    return pieces.front();
  return tensor::ConcatOp::create(builder_, loc, /*dim=*/0, pieces);
}

/// Operand `operand` of all updates as rows, split over the ranks: of a sum over ranks, each gets
/// its rows. A value that all ranks have is packed in whole, so that taking rows of it sends
/// nothing.
Value RootBucket::packOperand(unsigned operand) {
  RootUpdateOp first = updates_.front();
  Location loc = first.getLoc();
  Type element = getElementTypeOrSelf(first->getOperand(operand).getType());
  Value flat = concatRows(loc, element, layout_.getRowElements(), [&](int64_t item) {
    return flatten(updates_[item]->getOperand(operand));
  });
  RankedTensorType type = getRowsType(element);
  auto rows = tensor::ExpandShapeOp::create(builder_, loc, type, flat,
                                            ArrayRef<ReassociationIndices>{{0, 1}});
  ShardingAttr split = getSplitSharding(2);
  if (operand < first.getGradients().size()) {
    setShardings(rows, {split});
    return rows;
  }
  auto own = ReshardOp::create(builder_, loc, rows.getResult(),
                               ShardingAttr::replicated(split.getMesh(), 2), split);
  own->setAttr(kWhyAttr, builder_.getStringAttr("each root takes its parameters"));
  return own.getResult();
}

/// The factor that all items share, or one value for each row.
Value RootBucket::createFactor(ArrayRef<Value> perItem) {
  if (llvm::all_equal(perItem))
    return perItem.front();
  Location loc = updates_.front().getLoc();
  Type element = getElementTypeOrSelf(perItem.front().getType());
  return concatRows(loc, element, /*unit=*/1, [&](int64_t item) -> Value {
    Value init = tensor::EmptyOp::create(builder_, loc, {layout_.getItemRows(item)}, element);
    AffineMap maps[] = {AffineMap::get(1, 0, builder_.getContext()),
                        builder_.getMultiDimIdentityMap(1)};
    auto repeat = [](OpBuilder &b, Location loc, ValueRange args) {
      linalg::YieldOp::create(b, loc, args[0]);
    };
    return linalg::GenericOp::create(builder_, loc, TypeRange{init.getType()},
                                     ValueRange{perItem[item]}, ValueRange{init}, maps,
                                     ArrayRef{utils::IteratorType::parallel}, repeat)
        .getResult(0);
  });
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

void RootBucket::createUpdate() {
  RootUpdateOp first = updates_.front();
  unsigned numTensors = first.getGradients().size() + first.getStates().size();
  SmallVector<Value> factors;
  for (unsigned operand = numTensors; operand < first->getNumOperands(); ++operand)
    factors.push_back(createFactor(llvm::map_to_vector(
        updates_, [&](RootUpdateOp update) { return update->getOperand(operand); })));
  ArrayRef<Value> rows = rows_;
  packed_ =
      RootUpdateOp::create(builder_, first.getLoc(), rows.take_front(first.getGradients().size()),
                           rows.drop_front(first.getGradients().size()), factors,
                           first.getForwardAttr(), RootAttr(), first.getRouteAttr());
  packed_.getBody().takeBody(first.getBody());
}

/// Every rank gets all rows.
Value RootBucket::gatherRows(Value rows, StringRef why) {
  int64_t dims = cast<RankedTensorType>(rows.getType()).getRank();
  ShardingAttr split = getSplitSharding(dims);
  auto whole = ReshardOp::create(builder_, rows.getLoc(), rows, split,
                                 ShardingAttr::replicated(split.getMesh(), dims));
  whole->setAttr(kWhyAttr, builder_.getStringAttr(why));
  return whole.getResult();
}

Value RootBucket::unpack(Value flat, int64_t item, RankedTensorType type) {
  int64_t offset = layout_.getFirstRow(item) * layout_.getRowElements();
  Value slice = tensor::ExtractSliceOp::create(
      builder_, flat.getLoc(), flat, ArrayRef<OpFoldResult>{builder_.getIndexAttr(offset)},
      ArrayRef<OpFoldResult>{builder_.getIndexAttr(type.getNumElements())},
      ArrayRef<OpFoldResult>{builder_.getIndexAttr(1)});
  if (type.getRank() == 1)
    return slice;
  ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return tensor::ExpandShapeOp::create(builder_, flat.getLoc(), type, slice,
                                       ArrayRef<ReassociationIndices>{all});
}

void RootBucket::replaceForwarded() {
  for (int64_t k = 0, end = packed_.getForwardAttr().getInt(); k < end; ++k) {
    Value flat = flatten(gatherRows(packed_.getResult(k), "updated parameters from their roots"));
    for (auto [item, update] : llvm::enumerate(updates_)) {
      Value result = update.getResult(k);
      result.replaceAllUsesWith(unpack(flat, item, cast<RankedTensorType>(result.getType())));
    }
  }
}

SmallVector<Value> RootBucket::build(ArrayRef<Value> held) {
  RootUpdateOp first = updates_.front();
  unsigned numPacked = first.getGradients().size() + first.getForwardAttr().getInt();
  for (unsigned operand = 0; operand < numPacked; ++operand)
    rows_.push_back(packOperand(operand));
  llvm::append_range(rows_, held);
  replaceTerms();
  createUpdate();
  replaceForwarded();
  return llvm::to_vector(ValueRange(packed_.getResults()).take_back(held.size()));
}

} // namespace mlir::coll
