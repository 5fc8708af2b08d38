//===- fuse_kernels_merge.cc - several results from one loop nest ----------------===//
//
// An optimizer's update reads the gradient for the first moment, the second moment
// and the parameter: three nests over the same elements become one.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/export/kernels/fuse_kernels.h"

namespace mlir::coll {
namespace {

constexpr unsigned kMaxOperands = 24;
constexpr unsigned kMaxBodyOps = 200;
constexpr unsigned kMaxCandidateUsers = 16;
// Operations that depend on a merged one are moved behind it; with more than this many the search
// is not worth it.
constexpr unsigned kMaxMoved = 200;

AffineMap getInputMap(linalg::GenericOp op, unsigned input) {
  return op.getMatchingIndexingMap(op.getDpsInputOperand(input));
}

bool isAllParallel(linalg::GenericOp op) { return op.getNumParallelLoops() == op.getNumLoops(); }

/// Both run over the same domain, and the merged loop kinds are well defined.
bool haveSameLoops(linalg::GenericOp a, linalg::GenericOp b) {
  if (a.getStaticLoopRanges() != b.getStaticLoopRanges())
    return false;
  return a.getIteratorTypesArray() == b.getIteratorTypesArray() || isAllParallel(a) ||
         isAllParallel(b);
}

/// Whether every iteration writes another element of the result, and does not read it.
bool writesEachOnce(linalg::GenericOp op, unsigned result) {
  OpOperand *init = op.getDpsInitOperand(result);
  return op.getMatchingIndexingMap(init).isPermutation() && !op.payloadUsesValueFromOperand(init);
}

/// Whether `b` reads results of `a` only at the element of its own iteration.
bool readsOwnElements(linalg::GenericOp a, linalg::GenericOp b) {
  for (OpOperand &operand : b->getOpOperands()) {
    if (operand.get().getDefiningOp() != a)
      continue;
    unsigned result = cast<OpResult>(operand.get()).getResultNumber();
    if (!b.isDpsInput(&operand) || !writesEachOnce(a, result) ||
        b.getMatchingIndexingMap(&operand) != a.getMatchingIndexingMap(a.getDpsInitOperand(result)))
      return false;
  }
  return true;
}

bool shareData(linalg::GenericOp a, linalg::GenericOp b) {
  for (OpOperand *operand : b.getDpsInputOperands()) {
    AffineMap map = b.getMatchingIndexingMap(operand);
    if (!map.isPermutation())
      continue;
    if (operand->get().getDefiningOp() == a)
      return true;
    for (OpOperand *other : a.getDpsInputOperands())
      if (other->get() == operand->get() && a.getMatchingIndexingMap(other) == map)
        return true;
  }
  return false;
}

/// Operations between `a` and `b` that depend on `a`. Fails if `b` depends on one of them, or if
/// one must not move behind `b`.
FailureOr<SetVector<Operation *>> collectDependents(linalg::GenericOp a, linalg::GenericOp b) {
  SetVector<Operation *> dependents;
  SmallVector<Operation *> worklist{a};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Operation *user : op->getUsers()) {
      if (op == a && user == b)
        continue;
      Operation *ancestor = a->getBlock()->findAncestorOpInBlock(*user);
      if (!ancestor || ancestor == b)
        return failure();
      if (b->isBeforeInBlock(ancestor) || !dependents.insert(ancestor))
        continue;
      if (dependents.size() > kMaxMoved || !isMemoryEffectFree(ancestor))
        return failure();
      worklist.push_back(ancestor);
    }
  }
  return dependents;
}

bool isSmallEnough(linalg::GenericOp a, linalg::GenericOp b) {
  return a->getNumOperands() + b->getNumOperands() <= kMaxOperands &&
         a.getBody()->getOperations().size() + b.getBody()->getOperations().size() <= kMaxBodyOps;
}

/// Operands, maps and body arguments of a generic that is being built.
struct MergedOperands {
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> inputMaps, outputMaps;

  unsigned addInput(Value value, AffineMap map) {
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (inputs[i] == value && inputMaps[i] == map)
        return i;
    inputs.push_back(value);
    inputMaps.push_back(map);
    return inputs.size() - 1;
  }
  void addOutputs(linalg::GenericOp op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      outputs.push_back(init.get());
      outputMaps.push_back(op.getMatchingIndexingMap(&init));
    }
  }
};

/// Clones the body of `op`; returns what it yields. inputArgs[i] is the value of
/// input i, the initial values start at body argument `firstInit`.
SmallVector<Value> cloneBody(OpBuilder &b, linalg::GenericOp op, ArrayRef<Value> inputArgs,
                             ValueRange args, unsigned firstInit) {
  IRMapping mapping;
  Block *body = op.getBody();
  for (auto [i, value] : llvm::enumerate(inputArgs))
    mapping.map(body->getArgument(i), value);
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    mapping.map(body->getArgument(inputArgs.size() + i), args[firstInit + i]);
  for (Operation &inner : body->without_terminator())
    b.clone(inner, mapping);
  SmallVector<Value> yielded;
  for (Value value : body->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

linalg::GenericOp createMerged(RewriterBase &rewriter, linalg::GenericOp a, linalg::GenericOp b) {
  MergedOperands operands;
  SmallVector<unsigned> aInputs, bInputs; // positions among the merged inputs
  for (auto [i, value] : llvm::enumerate(a.getDpsInputs()))
    aInputs.push_back(operands.addInput(value, getInputMap(a, i)));
  for (auto [i, value] : llvm::enumerate(b.getDpsInputs()))
    bInputs.push_back(value.getDefiningOp() == a ? 0 : operands.addInput(value, getInputMap(b, i)));
  operands.addOutputs(a);
  operands.addOutputs(b);
  SmallVector<AffineMap> maps(operands.inputMaps);
  llvm::append_range(maps, operands.outputMaps);
  auto iterators = isAllParallel(a) ? b.getIteratorTypesArray() : a.getIteratorTypesArray();
  unsigned firstInit = operands.inputs.size();

  auto body = [&](OpBuilder &builder, Location, ValueRange args) {
    SmallVector<Value> values;
    for (unsigned position : aInputs)
      values.push_back(args[position]);
    SmallVector<Value> yielded = cloneBody(builder, a, values, args, firstInit);
    SmallVector<Value> fromA(yielded);
    values.clear();
    for (auto [i, value] : llvm::enumerate(b.getDpsInputs()))
      values.push_back(value.getDefiningOp() == a ? fromA[cast<OpResult>(value).getResultNumber()]
                                                  : args[bInputs[i]]);
    llvm::append_range(yielded,
                       cloneBody(builder, b, values, args, firstInit + a.getNumDpsInits()));
    linalg::YieldOp::create(builder, b.getLoc(), yielded);
  };
  Location loc = rewriter.getFusedLoc({a.getLoc(), b.getLoc()});
  SmallVector<Type> types(a->getResultTypes());
  llvm::append_range(types, b->getResultTypes());
  return linalg::GenericOp::create(rewriter, loc, types, operands.inputs, operands.outputs, maps,
                                   iterators, body);
}

/// Merges `a` into the later `b`, or returns null.
linalg::GenericOp tryMerge(RewriterBase &rewriter, linalg::GenericOp a, linalg::GenericOp b) {
  if (!isSmallEnough(a, b) || !haveSameLoops(a, b) || !shareData(a, b) || !readsOwnElements(a, b))
    return {};
  FailureOr<SetVector<Operation *>> dependents = collectDependents(a, b);
  if (failed(dependents))
    return {};
  SmallVector<Operation *> moved = dependents->takeVector();
  llvm::sort(moved, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  rewriter.setInsertionPoint(b);
  linalg::GenericOp merged = createMerged(rewriter, a, b);
  rewriter.replaceOp(a, merged.getResults().take_front(a->getNumResults()));
  rewriter.replaceOp(b, merged.getResults().take_back(b->getNumResults()));
  Operation *last = merged;
  for (Operation *op : moved) {
    op->moveAfter(last);
    last = op;
  }
  return merged;
}

/// Whether the result is computed where it is inserted: merging would add a copy.
bool isInsertedOnly(linalg::GenericOp op) {
  return op->hasOneUse() && isa<tensor::InsertSliceOp>(*op->user_begin());
}

/// Earlier generics of the same block that produce or also read what `op` reads.
SmallVector<linalg::GenericOp> findCandidates(linalg::GenericOp op) {
  SetVector<Operation *> found;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!op.getMatchingIndexingMap(operand).isPermutation())
      continue;
    if (Operation *producer = operand->get().getDefiningOp())
      found.insert(producer);
    unsigned seen = 0;
    for (Operation *user : operand->get().getUsers()) {
      if (++seen > kMaxCandidateUsers)
        break;
      found.insert(user);
    }
  }
  SmallVector<linalg::GenericOp> candidates;
  for (Operation *other : found)
    if (auto generic = dyn_cast<linalg::GenericOp>(other))
      if (generic != op && !isInsertedOnly(generic) && generic->getBlock() == op->getBlock() &&
          generic->isBeforeInBlock(op))
        candidates.push_back(generic);
  return candidates;
}

} // namespace

void mergeSiblings(RewriterBase &rewriter, Block &block) {
  SmallVector<Operation *> generics;
  for (auto op : block.getOps<linalg::GenericOp>())
    generics.push_back(op);
  // Merging replaces the later operation, so that the ones after it stay valid.
  for (Operation *op : generics) {
    auto current = cast<linalg::GenericOp>(op);
    bool changed = !isInsertedOnly(current);
    while (changed) {
      changed = false;
      for (linalg::GenericOp candidate : findCandidates(current)) {
        linalg::GenericOp merged = tryMerge(rewriter, candidate, current);
        if (!merged)
          continue;
        current = merged;
        changed = true;
        break;
      }
    }
  }
}

} // namespace mlir::coll
