#include "passes/export/gpu/nest.h"

#include "dialect/exec/memory_form.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/export/exec/plan_buffers.h"
#include "passes/export/kernels/row_form.h"

namespace mlir::coll {

std::optional<int64_t> NestOperand::stride(unsigned loop) const {
  if (!type)
    return 0;
  if (position)
    return position->byDim[loop];
  if (!map.isFunctionOfDim(loop))
    return 0;
  return std::nullopt;
}

int64_t NestOperand::elementBytes() const {
  return getBytes(RankedTensorType::get({}, type.getElementType()));
}

bool NestOperand::isVector(unsigned loop, unsigned width, ArrayRef<int64_t> extents) const {
  if (!type || !position || !isOffsetKnown || position->byDim[loop] != 1 ||
      position->offset % width != 0 || width * elementBytes() > 16 ||
      getStoredElement(type.getElementType()) != type.getElementType())
    return false;
  for (auto [dim, stride] : llvm::enumerate(position->byDim))
    if (dim != loop && extents[dim] != 1 && stride % width != 0)
      return false;
  return true;
}

SmallVector<Value> Nest::initialValues() const {
  SmallVector<Value> values;
  for (const NestOutput &output : outputs)
    if (output.initial)
      values.push_back(output.initial);
  return values;
}

int64_t Nest::count(ArrayRef<unsigned> loops) const {
  int64_t product = 1;
  for (unsigned loop : loops)
    product *= extents[loop];
  return product;
}

SmallVector<int64_t> Nest::sizes(ArrayRef<unsigned> loops, unsigned fast, unsigned width) const {
  SmallVector<int64_t> result;
  for (unsigned loop : loops)
    result.push_back(loop == fast ? extents[loop] / width : extents[loop]);
  return result;
}

static NestOperand analyzeOperand(linalg::GenericOp op, OpOperand &use) {
  NestOperand operand;
  operand.use = &use;
  operand.map = op.getMatchingIndexingMap(&use);
  operand.type = dyn_cast<MemRefType>(use.get().getType());
  if (!operand.type)
    return operand;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(operand.type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return operand;
  operand.isOffsetKnown = offset != ShapedType::kDynamic;
  LinearIndex position{SmallVector<int64_t>(op.getNumLoops(), 0)};
  position.offset = operand.isOffsetKnown ? offset : 0;
  for (auto [expr, stride] : llvm::zip_equal(operand.map.getResults(), strides))
    if (failed(addLinear(expr, stride, position)))
      return operand;
  operand.position = std::move(position);
  return operand;
}

static SmallVector<unsigned> loopsOutside(AffineMap map) {
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (!map.isFunctionOfDim(loop))
      loops.push_back(loop);
  return loops;
}

/// The loops in which the output does not move and that have more than one iteration.
static SmallVector<unsigned> findReductionLoops(const Nest &nest, const NestOutput &output) {
  SmallVector<unsigned> loops = loopsOutside(nest.operandOf(output).map);
  llvm::erase_if(loops, [&](unsigned loop) { return nest.extents[loop] == 1; });
  return loops;
}

/// The outputs whose old value the new value of output `j` depends on.
static SmallVector<unsigned> findDependences(linalg::GenericOp op, unsigned j) {
  SmallVector<Value> todo{op.getBody()->getTerminator()->getOperand(j)};
  DenseSet<Value> seen;
  SmallVector<unsigned> outputs;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() == op.getBody() && arg.getArgNumber() >= op.getNumDpsInputs())
        outputs.push_back(arg.getArgNumber() - op.getNumDpsInputs());
      continue;
    }
    value.getDefiningOp()->walk(
        [&](Operation *inner) { todo.append(inner->operand_begin(), inner->operand_end()); });
  }
  return outputs;
}

/// Finds out whether the iterations may be reordered. Fails if an output needs the running value of
/// one that another launch computes.
static LogicalResult findOrder(Nest &nest, const Nest &whole) {
  for (const NestOutput &output : nest.outputs) {
    nest.isOrdered |= output.accumulates && !output.combiner;
    for (unsigned other : findDependences(nest.op, output.result)) {
      NestOutput read;
      read.result = other;
      if (other == output.result || findReductionLoops(whole, read).empty())
        continue;
      nest.isOrdered = true;
      if (llvm::none_of(nest.outputs,
                        [&](const NestOutput &found) { return found.result == other; }))
        return failure();
    }
  }
  return success();
}

static void splitLoops(Nest &nest) {
  for (const NestOutput &output : nest.outputs)
    if (nest.reduction.empty())
      nest.reduction = findReductionLoops(nest, output);
  for (unsigned loop = 0; loop < nest.extents.size(); ++loop)
    if (!llvm::is_contained(nest.reduction, loop))
      nest.parallel.push_back(loop);
}

FailureOr<std::vector<Nest>> analyzeNests(linalg::GenericOp op, ArrayRef<Value> initial) {
  Nest whole;
  whole.op = op;
  whole.extents = op.getStaticLoopRanges();
  for (OpOperand &use : op->getOpOperands())
    whole.operands.push_back(analyzeOperand(op, use));
  std::vector<Nest> nests;
  SmallVector<NestOutput> elementwise;
  for (unsigned j = 0; j < op.getNumDpsInits(); ++j) {
    NestOutput output{j, false, nullptr, initial[j]};
    OpOperand *use = op.getDpsInitOperand(j);
    if (!op.getMatchingIndexingMap(use).isProjectedPermutation(/*allowZeroInResults=*/true))
      return failure();
    SmallVector<unsigned> loops = findReductionLoops(whole, output);
    if (loops.empty()) {
      elementwise.push_back(output);
      continue;
    }
    if (!op.payloadUsesValueFromOperand(use))
      return failure();
    output.accumulates = true;
    output.combiner = findCombiner(op, j);
    auto same = llvm::find_if(nests, [&](const Nest &nest) {
      return findReductionLoops(nest, nest.outputs.front()) == loops;
    });
    if (same == nests.end()) {
      nests.push_back(whole);
      same = std::prev(nests.end());
    }
    same->outputs.push_back(output);
  }
  if (nests.empty())
    nests.push_back(whole);
  nests.front().outputs.append(elementwise);
  for (Nest &nest : nests) {
    splitLoops(nest);
    if (failed(findOrder(nest, whole)))
      return failure();
  }
  return nests;
}

unsigned findFastLoop(const Nest &nest, ArrayRef<unsigned> loops) {
  auto cost = [&](unsigned loop) {
    // A short loop gives few neighbours.
    double sum = nest.extents[loop] < 8 ? 8.0 : 0.0;
    for (const NestOperand &operand : nest.operands) {
      if (!operand.type)
        continue;
      std::optional<int64_t> stride = operand.stride(loop);
      double bytes = operand.elementBytes();
      sum += !stride ? 32.0 : std::min<double>(32.0, bytes * std::abs(*stride));
    }
    return sum;
  };
  unsigned best = loops.back();
  for (unsigned loop : llvm::reverse(loops))
    if (nest.extents[loop] > 1 && (nest.extents[best] == 1 || cost(loop) < cost(best)))
      best = loop;
  return best;
}

unsigned findVectorWidth(const Nest &nest, unsigned loop) {
  int64_t bytes = 0;
  for (const NestOperand &operand : nest.operands)
    if (operand.isVector(loop, 1, nest.extents))
      bytes = std::max(bytes, operand.elementBytes());
  if (bytes == 0)
    return 1;
  unsigned width = 16 / bytes;
  auto isUsable = [&] {
    if (nest.extents[loop] % width != 0)
      return false;
    return llvm::all_of(nest.outputs, [&](const NestOutput &output) {
      const NestOperand &operand = nest.operandOf(output);
      return operand.stride(loop) == 0 || operand.isVector(loop, width, nest.extents) ||
             (operand.stride(loop) == 1 && operand.elementBytes() == 1);
    });
  };
  while (width > 1 && !isUsable())
    width /= 2;
  return width;
}

} // namespace mlir::coll
