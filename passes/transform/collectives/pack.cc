//===- pack.cc -------------------------------------------------------------------===//

#include "passes/transform/collectives/pack.h"

#include "dialect/notes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::coll {

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

class Packing {
public:
  explicit Packing(ArrayRef<Operation *> collectives)
      : collectives_(collectives), builder_(collectives.back()),
        loc_(collectives.front()->getLoc()) {}

  Operation *gather() {
    SmallVector<Value> parts;
    for (Operation *op : collectives_)
      parts.push_back(reshape(op->getOperand(0), {typeOf(op->getOperand(0)).getNumElements()}));
    Value packed = tensor::ConcatOp::create(builder_, loc_, 0, parts);
    auto first = cast<AllGatherOp>(collectives_.front());
    const int64_t ranks = numRanks(first.getType(), first.getInput().getType(), first.getDim());
    const int64_t elems = typeOf(packed).getNumElements();
    auto all = AllGatherOp::create(builder_, loc_, typeOf(packed).clone({ranks * elems}), packed,
                                   /*dim=*/0, first.getGroup());
    note(all);
    Value rows = reshape(all, {ranks, elems});
    int64_t at = 0;
    for (Operation *op : collectives_) {
      auto one = cast<AllGatherOp>(op);
      const int64_t count = one.getInput().getType().getNumElements();
      Value blocks = slice(rows, {0, at}, {ranks, count});
      replace(op, joinRows(blocks, one.getType(), one.getDim()));
      at += count;
    }
    return all;
  }

  Operation *scatter() {
    auto first = cast<ReduceScatterOp>(collectives_.front());
    const int64_t ranks = numRanks(first.getInput().getType(), first.getType(), first.getDim());
    SmallVector<Value> parts;
    for (Operation *op : collectives_)
      parts.push_back(splitRows(op->getOperand(0), cast<ReduceScatterOp>(op).getDim(), ranks));
    Value rows = tensor::ConcatOp::create(builder_, loc_, 1, parts);
    const int64_t elems = typeOf(rows).getDimSize(1);
    Value packed = reshape(rows, {ranks * elems});
    auto own = ReduceScatterOp::create(builder_, loc_, typeOf(packed).clone({elems}),
                                       first.getReduction(), packed, /*dim=*/0, first.getGroup(),
                                       first.getOrder(), first.getAccumulationAttr());
    note(own);
    int64_t at = 0;
    for (Operation *op : collectives_) {
      RankedTensorType type = typeOf(op->getResult(0));
      replace(op, reshape(slice(own, {at}, {type.getNumElements()}), type.getShape()));
      at += type.getNumElements();
    }
    return own;
  }

  Operation *exchange() {
    auto first = cast<AllToAllOp>(collectives_.front());
    const int64_t ranks =
        numRanks(first.getInput().getType(), first.getType(), first.getSplitDim());
    SmallVector<Value> parts;
    for (Operation *op : collectives_)
      parts.push_back(splitRows(op->getOperand(0), cast<AllToAllOp>(op).getSplitDim(), ranks));
    Value rows = tensor::ConcatOp::create(builder_, loc_, 1, parts);
    auto received = AllToAllOp::create(builder_, loc_, rows.getType(), rows, /*split_dim=*/0,
                                       /*concat_dim=*/0, first.getGroup());
    note(received);
    int64_t at = 0;
    for (Operation *op : collectives_) {
      auto one = cast<AllToAllOp>(op);
      const int64_t count = one.getType().getNumElements() / ranks;
      replace(op, joinRows(slice(received, {0, at}, {ranks, count}), one.getType(),
                           one.getConcatDim()));
      at += count;
    }
    return received;
  }

private:
  static int64_t numRanks(RankedTensorType whole, RankedTensorType part, int64_t dim) {
    return whole.getDimSize(dim) / part.getDimSize(dim);
  }

  /// What is said of each tensor, for explanations.
  void note(Operation *packed) {
    SmallVector<Attribute> notes;
    for (Operation *op : collectives_) {
      NamedAttrList tensor;
      tensor.set("type", TypeAttr::get(op->getOperand(0).getType()));
      tensor.set("loc", LocationAttr(op->getLoc()));
      for (StringRef name : {StringRef(kWhyAttr), StringRef(kCauseAttr)})
        if (Attribute value = op->getAttr(name))
          tensor.set(name, value);
      notes.push_back(tensor.getDictionary(builder_.getContext()));
    }
    packed->setAttr(kTensorsAttr, builder_.getArrayAttr(notes));
    for (StringRef name : {StringRef(kWhyAttr), StringRef(kCauseAttr)})
      if (Attribute value = collectives_.front()->getAttr(name))
        packed->setAttr(name, value);
  }

  /// The same elements in the same order. One of the shapes has at most two dimensions.
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    RankedTensorType from = typeOf(value), to = from.clone(shape);
    if (from == to)
      return value;
    const bool expands = from.getRank() < to.getRank();
    auto reassociation = expands ? getReassociationIndicesForReshape(to, from)
                                 : getReassociationIndicesForReshape(from, to);
    if (expands)
      return tensor::ExpandShapeOp::create(builder_, loc_, to, value, *reassociation);
    return tensor::CollapseShapeOp::create(builder_, loc_, to, value, *reassociation);
  }

  Value slice(Value value, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> ones(sizes.size(), 1);
    return tensor::ExtractSliceOp::create(builder_, loc_, value,
                                          getAsIndexOpFoldResult(builder_.getContext(), offsets),
                                          getAsIndexOpFoldResult(builder_.getContext(), sizes),
                                          getAsIndexOpFoldResult(builder_.getContext(), ones));
  }

  Value transpose(Value value, ArrayRef<int64_t> order) {
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(typeOf(value).getDimSize(dim));
    Value init = tensor::EmptyOp::create(builder_, loc_, shape, typeOf(value).getElementType());
    return linalg::TransposeOp::create(builder_, loc_, value, init, order).getResult()[0];
  }

  /// [outer, ranks * count] to [ranks, outer * count], where `dim` is what the ranks split.
  Value splitRows(Value whole, int64_t dim, int64_t ranks) {
    const auto [outer, count] = blocksOf(typeOf(whole), dim);
    Value flat = reshape(whole, {typeOf(whole).getNumElements()});
    if (outer > 1)
      flat = reshape(transpose(reshape(flat, {outer, ranks, count / ranks}), {1, 0, 2}),
                     {typeOf(whole).getNumElements()});
    return reshape(flat, {ranks, outer * count / ranks});
  }

  /// The inverse: [ranks, outer * count] to `whole`.
  Value joinRows(Value rows, RankedTensorType whole, int64_t dim) {
    const auto [outer, count] = blocksOf(whole, dim);
    const int64_t ranks = typeOf(rows).getDimSize(0);
    Value flat = reshape(rows, {whole.getNumElements()});
    if (outer > 1)
      flat = reshape(transpose(reshape(flat, {ranks, outer, count / ranks}), {1, 0, 2}),
                     {whole.getNumElements()});
    return reshape(flat, whole.getShape());
  }

  /// Elements before `dim`, and from it on.
  static std::pair<int64_t, int64_t> blocksOf(RankedTensorType type, int64_t dim) {
    const int64_t outer = ShapedType::getNumElements(type.getShape().take_front(dim));
    return {outer, type.getNumElements() / outer};
  }

  void replace(Operation *op, Value value) { op->getResult(0).replaceAllUsesWith(value); }

  ArrayRef<Operation *> collectives_;
  OpBuilder builder_;
  Location loc_;
};

} // namespace

Operation *packCollectives(ArrayRef<Operation *> collectives) {
  Packing packing(collectives);
  Operation *first = collectives.front();
  Operation *packed = isa<AllGatherOp>(first)  ? packing.gather()
                      : isa<AllToAllOp>(first) ? packing.exchange()
                                               : packing.scatter();
  for (Operation *op : collectives)
    op->erase();
  return packed;
}

} // namespace mlir::coll
