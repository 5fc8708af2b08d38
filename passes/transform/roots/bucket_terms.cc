//===- bucket_terms.cc - scalars over gradients that roots hold -------------===//
//
//   %t = sum over %g * %g            each root sums the rows that it has (%r, one number per row)
//                             =>     %r to all ranks
//                                    %t = sum over the rows of %r that the parameter has
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/sharding_rule.h"
#include "passes/transform/roots/bucket.h"

namespace mlir::coll {

/// Terms of several items that do the same computation, each on the item's own tensors.
struct RootBucket::TermGroup {
  struct Member {
    linalg::GenericOp term;
    ElementwiseSlice slice;
    int64_t item;
  };
  std::string key;
  std::vector<Member> members;
};

namespace {

/// The computation of a term as text, with its leaves as numbers of `operands` and its factors in
/// order.
std::string describe(linalg::GenericOp term, const ElementwiseSlice &slice, ValueRange operands) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::DenseMap<Value, std::string> names;
  for (auto [number, operand] : llvm::enumerate(operands))
    names[operand] = "t" + std::to_string(number);
  for (auto [number, factor] : llvm::enumerate(slice.getFactors()))
    names[factor] = "f" + std::to_string(number);
  auto print = [&](Value value) {
    auto found = names.find(value); // a gradient may repeat a scalar, too
    if (Value factor = getBroadcastFactor(value); factor && found == names.end())
      found = names.find(factor);
    if (found != names.end())
      os << ' ' << found->second;
    else // a constant: equal splats of tensors of any shape are one
      os << ' '
         << cast<DenseElementsAttr>(cast<arith::ConstantOp>(value.getDefiningOp()).getValue())
                .getSplatValue<Attribute>();
  };
  for (auto [number, op] : llvm::enumerate(slice.getOps())) {
    os << op->getName() << op->getAttrDictionary();
    llvm::for_each(op->getOperands(), print);
    os << ';';
    names[op->getResult(0)] = "v" + std::to_string(number);
  }
  llvm::for_each(term.getDpsInputs(), print);
  term.getRegion().walk([&](Operation *op) { os << op->getName() << op->getAttrDictionary(); });
  os << term->getResult(0).getType();
  return text;
}

/// The operation of a term's region that combines, and the operand that is combined with the
/// accumulator.
std::pair<Operation *, unsigned> getCombiner(linalg::GenericOp term) {
  Block *body = term.getBlock();
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  unsigned accumulated = combiner->getOperand(0) == body->getArguments().back() ? 1 : 0;
  return {combiner, accumulated};
}

ReductionKind getKind(linalg::GenericOp term) {
  return *getReductionKind(*term.getBlock(), term.getNumDpsInputs(), 0);
}

} // namespace

void RootBucket::replaceTerms() {
  std::vector<TermGroup> groups;
  for (auto [item, update] : llvm::enumerate(updates_)) {
    SmallVector<Value> own(update->getOperands().take_front(rows_.size()));
    llvm::SetVector<linalg::GenericOp> terms;
    // A term of values that every rank has needs no root.
    for (Value value : own)
      if (!llvm::is_contained(update.getStates().take_front(update.getForwardAttr().getInt()),
                              value))
        for (linalg::GenericOp term : findTerms(value, own))
          terms.insert(term);
    for (linalg::GenericOp term : terms) {
      ElementwiseSlice slice = *getTermSlice(term, own);
      std::string key = describe(term, slice, own);
      auto group = llvm::find_if(groups, [&](const TermGroup &g) { return g.key == key; });
      if (group == groups.end())
        group = groups.insert(groups.end(), TermGroup{key, {}});
      group->members.push_back({term, slice, static_cast<int64_t>(item)});
    }
  }
  for (const TermGroup &group : groups)
    replaceGroup(group);
}

void RootBucket::replaceGroup(const TermGroup &group) {
  Value rows = gatherRows(createRowTerms(group), "one term per row of the roots' parameters");
  for (const TermGroup::Member &member : group.members) {
    linalg::GenericOp term = member.term;
    term->getResult(0).replaceAllUsesWith(combineRows(term, rows, member.item));
    term.erase();
  }
}

/// How many elements of each row are an item's.
Value RootBucket::createCounts(Location loc) {
  SmallVector<int32_t> counts(layout_.getNumRows());
  int64_t length = layout_.getRowElements();
  for (size_t item = 0; item < updates_.size(); ++item)
    for (int64_t row = 0, left = layout_.getElements(item); left > 0; ++row, left -= length)
      counts[layout_.getFirstRow(item) + row] = std::min(left, length);
  auto type = RankedTensorType::get({layout_.getNumRows()}, builder_.getI32Type());
  return arith::ConstantOp::create(builder_, loc,
                                   DenseElementsAttr::get(type, ArrayRef<int32_t>(counts)));
}

/// The term of each row, over the elements in it that are an item's.
Value RootBucket::createRowTerms(const TermGroup &group) {
  const TermGroup::Member &first = group.members.front();
  linalg::GenericOp term = first.term;
  Location loc = term.getLoc();
  ElementwiseSlice slice = first.slice;
  MLIRContext *context = builder_.getContext();
  AffineMap element = builder_.getMultiDimIdentityMap(2), all = AffineMap::get(2, 0, context),
            row = AffineMap::get(2, 0, builder_.getAffineDimExpr(0));

  RootUpdateOp update = updates_[first.item];
  SmallVector<Value> own(update->getOperands().take_front(rows_.size()));
  SmallVector<Value> inputs, originals;
  SmallVector<AffineMap> maps;
  for (Value leaf : slice.getLeaves()) {
    inputs.push_back(rows_[llvm::find(own, leaf) - own.begin()]);
    originals.push_back(leaf);
    maps.push_back(element);
  }
  for (size_t number = 0; number < slice.getFactors().size(); ++number) {
    SmallVector<Value> perItem(updates_.size(), slice.getFactors()[number]);
    for (const TermGroup::Member &member : group.members)
      perItem[member.item] = member.slice.getFactors()[number];
    inputs.push_back(createFactor(perItem));
    originals.push_back(slice.getFactors()[number]);
    maps.push_back(cast<RankedTensorType>(inputs.back().getType()).getRank() == 0 ? all : row);
  }
  inputs.push_back(createCounts(loc));
  maps.append({row, row});

  Type type = getElementTypeOrSelf(term->getResult(0).getType());
  TypedAttr identity = getIdentity(getKind(term), type);
  auto rowsType = RankedTensorType::get({layout_.getNumRows()}, type);
  Value init = arith::ConstantOp::create(builder_, loc, DenseElementsAttr::get(rowsType, identity));
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping elements;
    elements.map(originals, args.take_front(originals.size()));
    SmallVector<Value> values = slice.cloneForElement(b, term.getDpsInputs(), elements);
    IRMapping scalars;
    scalars.map(term.getBlock()->getArguments().drop_back(), values);
    scalars.map(term.getBlock()->getArguments().back(), args.back());
    auto [combiner, accumulated] = getCombiner(term);
    for (Operation &op : term.getBlock()->without_terminator())
      if (&op != combiner)
        b.clone(op, scalars);
    Value column =
        arith::IndexCastOp::create(b, loc, b.getI32Type(), linalg::IndexOp::create(b, loc, 1));
    Value isReal =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, column, args[originals.size()]);
    Value real = scalars.lookupOrDefault(combiner->getOperand(accumulated));
    Value neutral = arith::ConstantOp::create(b, loc, identity);
    Operation *combined = b.clone(*combiner, scalars);
    Value masked = arith::SelectOp::create(b, loc, isReal, real, neutral);
    combined->setOperand(accumulated, masked);
    combined->moveAfter(masked.getDefiningOp());
    linalg::YieldOp::create(b, loc, combined->getResults());
  };
  return linalg::GenericOp::create(
             builder_, loc, TypeRange{rowsType}, inputs, ValueRange{init}, maps,
             ArrayRef{utils::IteratorType::parallel, utils::IteratorType::reduction}, body)
      .getResult(0);
}

/// The term of one item from those of its rows.
Value RootBucket::combineRows(linalg::GenericOp term, Value rows, int64_t item) {
  Location loc = term.getLoc();
  Value own = tensor::ExtractSliceOp::create(
      builder_, loc, rows, ArrayRef<OpFoldResult>{builder_.getIndexAttr(layout_.getFirstRow(item))},
      ArrayRef<OpFoldResult>{builder_.getIndexAttr(layout_.getItemRows(item))},
      ArrayRef<OpFoldResult>{builder_.getIndexAttr(1)});
  AffineMap maps[] = {builder_.getMultiDimIdentityMap(1),
                      AffineMap::get(1, 0, builder_.getContext())};
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    auto [combiner, accumulated] = getCombiner(term);
    Operation *combined = b.clone(*combiner);
    combined->setOperand(accumulated, args[0]);
    combined->setOperand(1 - accumulated, args[1]);
    linalg::YieldOp::create(b, loc, combined->getResults());
  };
  return linalg::GenericOp::create(builder_, loc, term->getResultTypes(), ValueRange{own},
                                   ValueRange{term.getDpsInitOperand(0)->get()}, maps,
                                   ArrayRef{utils::IteratorType::reduction}, body)
      .getResult(0);
}

} // namespace mlir::coll
