//===- outline_kernels_build.cc - one kernel function ----------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/export/indexed/lower_indexed.h"
#include "passes/export/kernels/outline_kernels.h"

namespace mlir::coll {
namespace {

/// Values that the operation reads, those captured by its regions included.
SetVector<Value> getUsedValues(Operation *op) {
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return used;
}

/// Whether every kernel that uses the value can cheaply have its own copy.
bool isClonedConstant(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return !isa<ShapedType>(constant.getType()) || (dense && dense.isSplat());
}

/// Writes `source` into the tensor `into`, element by element.
Value createCopy(OpBuilder &b, Location loc, Value source, Value into) {
  auto type = cast<RankedTensorType>(into.getType());
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange{source}, ValueRange{into},
                                   maps, iterators,
                                   [](OpBuilder &b, Location loc, ValueRange args) {
                                     linalg::YieldOp::create(b, loc, args[0]);
                                   })
      .getResult(0);
}

class KernelBuilder {
public:
  KernelBuilder(OpBuilder &callBuilder, const KernelUnit &unit)
      : callBuilder(callBuilder), unit(unit), b(callBuilder.getContext()),
        loc(unit.root()->getLoc()) {}

  Kernel build() {
    collectOperands();
    createFunction();
    for (Operation *op : unit.ops)
      cloneOp(op);
    SmallVector<Value> results;
    for (Value result : unit.root()->getResults())
      results.push_back(mapping.lookup(result));
    func::ReturnOp::create(b, loc, results);
    annotate();
    return kernel;
  }

private:
  void collectOperands() {
    SetVector<Value> tensors, scalars;
    for (Operation *op : unit.ops) {
      for (Value value : getUsedValues(op)) {
        if (unit.contains(value.getDefiningOp()) || isOnlyDestination(value, op))
          continue;
        if (isClonedConstant(value))
          constants.insert(value);
        else
          (isa<RankedTensorType>(value.getType()) ? tensors : scalars).insert(value);
      }
    }
    numTensors = tensors.size();
    inputs.append(tensors.begin(), tensors.end());
    inputs.append(scalars.begin(), scalars.end());
    kernel.operands = inputs;
    for (auto [k, result] : llvm::enumerate(unit.root()->getResults()))
      kernel.operands.push_back(createDestination(k, cast<RankedTensorType>(result.getType())));
  }

  /// Whether every use in the operation is as an initial tensor, which a destination replaces.
  bool isOnlyDestination(Value value, Operation *op) {
    bool isEmpty = value.getDefiningOp<tensor::EmptyOp>() != nullptr;
    for (OpOperand &use : value.getUses()) {
      if (!op->isAncestor(use.getOwner()) || llvm::is_contained(unit.destinations, &use))
        continue;
      auto linalgOp = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!isEmpty || !linalgOp || !linalgOp.isDpsInit(&use))
        return false;
    }
    return true;
  }

  bool readsOldContent(unsigned k) {
    if (unit.destinations.empty())
      return false;
    OpOperand *slot = unit.destinations[k];
    if (slot->get().getDefiningOp<tensor::EmptyOp>())
      return false;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(slot->getOwner()))
      return linalgOp.payloadUsesValueFromOperand(slot);
    return true;
  }

  Value createDestination(unsigned k, RankedTensorType type) {
    if (readsOldContent(k))
      return unit.destinations[k]->get();
    return tensor::EmptyOp::create(callBuilder, loc, type.getShape(), type.getElementType());
  }

  void createFunction() {
    SmallVector<Type> types(TypeRange(ValueRange(kernel.operands)));
    auto type = FunctionType::get(b.getContext(), types, unit.root()->getResultTypes());
    kernel.function = func::FuncOp::create(loc, "kernel", type);
    kernel.function.setPrivate();
    Block *entry = kernel.function.addEntryBlock();
    b.setInsertionPointToStart(entry);
    for (auto [i, value] : llvm::enumerate(inputs))
      mapping.map(value, entry->getArgument(i));
    for (Value constant : constants)
      mapping.map(constant, b.clone(*constant.getDefiningOp())->getResult(0));
  }

  Value getDestination(unsigned k) { return kernel.function.getArgument(inputs.size() + k); }

  void cloneOp(Operation *op) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return cloneInsert(insert);
    // It is computed at its insertion.
    if (isComputedInSlice(op))
      return;
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp<tensor::EmptyOp>() && !mapping.contains(operand))
        mapping.map(operand, getDestination(0)); // replaced below
    Operation *clone = b.clone(*op, mapping);
    clone->removeAttr(kKernelAttr);
    connectDestinations(op, clone);
    if (unit.destinations.empty() && op == unit.root())
      mapping.map(op->getResult(0), createCopy(b, loc, clone->getResult(0), getDestination(0)));
  }

  void connectDestinations(Operation *op, Operation *clone) {
    for (auto [k, slot] : llvm::enumerate(unit.destinations))
      if (slot->getOwner() == op)
        clone->setOperand(slot->getOperandNumber(), getDestination(k));
  }

  bool isComputedInSlice(Operation *op) {
    if (op == unit.root() || !isa<linalg::LinalgOp>(op) || !op->hasOneUse())
      return false;
    OpOperand &use = *op->getResult(0).use_begin();
    auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    return insert && &use == &insert.getSourceMutable();
  }

  /// dest[slice] = source, with the source computed in place if possible.
  void cloneInsert(tensor::InsertSliceOp op) {
    OpOperand *slot = &op.getDestMutable();
    Value dest = llvm::is_contained(unit.destinations, slot) ? getDestination(0)
                                                             : mapping.lookup(op.getDest());
    auto remap = [&](SmallVector<OpFoldResult> values) {
      for (OpFoldResult &value : values)
        if (auto dynamic = dyn_cast<Value>(value))
          value = mapping.lookup(dynamic);
      return values;
    };
    SmallVector<OpFoldResult> offsets = remap(op.getMixedOffsets()), sizes = op.getMixedSizes(),
                              strides = remap(op.getMixedStrides());
    Value slice =
        tensor::ExtractSliceOp::create(b, loc, op.getSourceType(), dest, offsets, sizes, strides);
    Operation *producer = op.getSource().getDefiningOp();
    Value filled;
    if (producer && unit.contains(producer) && isComputedInSlice(producer)) {
      auto linalgOp = cast<linalg::LinalgOp>(producer);
      mapping.map(linalgOp.getDpsInits()[0], slice);
      filled = b.clone(*producer, mapping)->getResult(0);
      mapping.erase(linalgOp.getDpsInits()[0]);
    } else {
      filled = createCopy(b, loc, mapping.lookup(op.getSource()), slice);
    }
    mapping.map(op.getResult(), tensor::InsertSliceOp::create(b, op.getLoc(), filled, dest, offsets,
                                                              sizes, strides));
  }

  void annotate() {
    auto setAccess = [&](unsigned arg, StringRef access) {
      kernel.function.setArgAttr(arg, kAccessAttr, b.getStringAttr(access));
    };
    for (unsigned i = 0; i < numTensors; ++i) {
      setAccess(i, "read");
      SmallVector<int64_t> aliases = findAliases(kernel.function.getArgument(i));
      if (!aliases.empty())
        kernel.function.setArgAttr(i, kMayAliasAttr, b.getDenseI64ArrayAttr(aliases));
    }
    for (unsigned k = 0; k < unit.root()->getNumResults(); ++k)
      setAccess(inputs.size() + k, readsOldContent(k) ? "readwrite" : "write");
  }

  /// Results that are written at the element that is read last.
  SmallVector<int64_t> findAliases(BlockArgument arg) {
    SmallVector<int64_t> aliases;
    auto root = dyn_cast<linalg::GenericOp>(unit.root());
    if (!root || !arg.hasOneUse())
      return aliases;
    OpOperand &use = *arg.use_begin();
    auto clone = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!clone || clone->getParentOp() != kernel.function || !clone.isDpsInput(&use))
      return aliases;
    AffineMap map = clone.getMatchingIndexingMap(&use);
    for (int64_t k = 0; k < clone.getNumDpsInits(); ++k) {
      OpOperand *init = clone.getDpsInitOperand(k);
      if (map.isPermutation() && clone.getMatchingIndexingMap(init) == map &&
          init->get().getType() == arg.getType() && !clone.payloadUsesValueFromOperand(init))
        aliases.push_back(k);
    }
    return aliases;
  }

  OpBuilder &callBuilder;
  const KernelUnit &unit;
  OpBuilder b;
  Location loc;
  Kernel kernel;
  SmallVector<Value> inputs; // tensors, then scalars
  unsigned numTensors = 0;
  SetVector<Value> constants;
  IRMapping mapping;
};

bool isLoopNest(Operation *op) { return isa<scf::ForOp>(op) && op->hasAttr(kKernelAttr); }

/// Whether the unit's operations only read the slice.
bool isReadOnlyIn(const KernelUnit &unit, Operation *slice) {
  return llvm::all_of(slice->getUses(), [&](OpOperand &use) {
    Operation *user = slice->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (!user || !unit.contains(user))
      return true;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(use.getOwner()))
      return !linalgOp.isDpsInit(&use);
    return !llvm::is_contained(unit.destinations, &use) && !isLoopNest(user);
  });
}

/// Whether the value is the tensor, or a slice of it.
bool isPartOf(Value value, Value tensor) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  return tensor && (value == tensor || (slice && slice.getSource() == tensor));
}

/// Whether the producer can write directly into the slice of an insertion.
bool canComputeInSlice(Operation *producer, Value base) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(producer);
  if (!linalgOp || !producer->hasOneUse() || producer->getNumResults() != 1 ||
      linalgOp.getNumParallelLoops() != linalgOp.getNumLoops() ||
      !linalgOp.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
    return false;
  return llvm::none_of(getUsedValues(producer), [&](Value value) { return isPartOf(value, base); });
}

/// Insertions of one kernel at most. Each of them looks back through all before it when the kernel
/// is bufferized, and a bucket of parameters has hundreds.
constexpr size_t kMaxInsertions = 16;

/// Walks up the chain of insertions and adds it, first insertion last; the rest of a long chain
/// becomes another kernel. Returns the slot of the tensor that the chain starts from.
OpOperand *collectInsertions(tensor::InsertSliceOp last, SmallVectorImpl<Operation *> &ops) {
  tensor::InsertSliceOp first = last;
  ops.push_back(last);
  while (auto previous = first.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    if (ops.size() == kMaxInsertions || !previous->hasOneUse() ||
        previous->getBlock() != last->getBlock())
      break;
    first = previous;
    ops.push_back(first);
  }
  return &first.getDestMutable();
}

} // namespace

Kernel buildKernel(OpBuilder &builder, const KernelUnit &unit) {
  return KernelBuilder(builder, unit).build();
}

bool isComputeOp(Operation *op) {
  return isa<linalg::LinalgOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) || isLoopNest(op);
}

KernelUnit collectUnit(Operation *root) {
  KernelUnit unit;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(root)) {
    unit.destinations.push_back(collectInsertions(insert, unit.ops));
  } else {
    unit.ops.push_back(root);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(root))
      for (OpOperand &init : linalgOp.getDpsInitsMutable())
        unit.destinations.push_back(&init);
    else if (auto loop = dyn_cast<scf::ForOp>(root))
      for (OpOperand &init : loop.getInitArgsMutable())
        unit.destinations.push_back(&init);
  }
  Block *block = root->getBlock();
  // Initial fills, written to the same destination.
  for (OpOperand *&slot : unit.destinations) {
    auto fill = slot->get().getDefiningOp<linalg::FillOp>();
    if (!fill || !fill->hasOneUse() || fill->getBlock() != block)
      continue;
    unit.ops.push_back(fill);
    slot = fill.getDpsInitOperand(0);
  }
  // The same kernel must not read a tensor that it updates in place at other positions.
  Value base = isa<tensor::InsertSliceOp>(root) ? unit.destinations[0]->get() : Value();
  for (Operation *op : SmallVector<Operation *>(unit.ops))
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      if (Operation *producer = insert.getSource().getDefiningOp())
        if (producer->getBlock() == block && canComputeInSlice(producer, base))
          unit.ops.push_back(producer);
  for (Operation *op : SmallVector<Operation *>(unit.ops))
    for (Value value : getUsedValues(op))
      if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
        if (slice->getBlock() == block && !unit.contains(slice) && isReadOnlyIn(unit, slice) &&
            !isPartOf(value, base))
          unit.ops.push_back(slice);
  llvm::sort(unit.ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return unit;
}

} // namespace mlir::coll
