//===- pattern.cc - what follows a product ------------------------------------------===//

#include "passes/export/epilogues/pattern.h"

#include "dialect/shape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/export/epilogues/formula.h"
#include "passes/export/lower_contractions.h"

namespace mlir::coll {

namespace {

bool isReshape(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op); }

/// The operations that read the value, through reshapes.
SmallVector<Operation *> getReaders(Value value) {
  SmallVector<Operation *> readers;
  SmallVector<Value> values{value};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (isReshape(user))
        values.push_back(user->getResult(0));
      else
        readers.push_back(user);
    }
  return readers;
}

/// What an elementwise operation computes last.
Operation *getLastOf(Operation *op) {
  return isElementwise(op)
             ? cast<linalg::GenericOp>(op).getBody()->getTerminator()->getOperand(0).getDefiningOp()
             : nullptr;
}

/// Whether the copy's input is a vector of `count` elements that it repeats, row by row.
bool repeatsRow(linalg::GenericOp copy, int64_t count) {
  if (cast<RankedTensorType>(copy.getDpsInputs()[0].getType()).getNumElements() != count)
    return false;
  ArrayRef<int64_t> shape = shapeOf(copy.getResult(0));
  SmallVector<int64_t> strides = getInputStridesByResultDim(copy);
  int64_t seen = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    if (strides[dim] != (seen < count ? seen : 0))
      return false;
    seen *= seen < count ? shape[dim] : 1;
  }
  return seen == count;
}

/// The vector whose copies are the rows of `matrix`, or null.
Value findRow(Value matrix, int64_t columns) {
  Value found;
  for (Value value = lookThroughReshapes(matrix);;) {
    Operation *op = value.getDefiningOp();
    if (!getTransposedInput(op) || !repeatsRow(cast<linalg::GenericOp>(op), columns))
      return found;
    found = value = lookThroughReshapes(cast<linalg::GenericOp>(op).getDpsInputs()[0]);
  }
}

bool isZeroIn(Value scalar) { return matchPattern(scalar, m_AnyZeroFloat()); }

bool isRelu(Operation *op) {
  auto maximum = dyn_cast_or_null<arith::MaximumFOp>(getLastOf(op));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!maximum || generic.getNumDpsInputs() != 1)
    return false;
  Value in = generic.getBody()->getArgument(0);
  return (maximum.getLhs() == in && isZeroIn(maximum.getRhs())) ||
         (maximum.getRhs() == in && isZeroIn(maximum.getLhs()));
}

bool asksIfAboveZero(Operation *op) {
  auto compare = dyn_cast_or_null<arith::CmpFOp>(getLastOf(op));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return compare && generic.getNumDpsInputs() == 1 &&
         compare.getPredicate() == arith::CmpFPredicate::OGT &&
         compare.getLhs() == generic.getBody()->getArgument(0) && isZeroIn(compare.getRhs());
}

} // namespace

std::optional<BiasAddition> findBias(GemmOp gemm) {
  SmallVector<Operation *> readers = getReaders(gemm.getResult());
  if (readers.size() != 1)
    return std::nullopt;
  auto sum = dyn_cast_or_null<arith::AddFOp>(getLastOf(readers[0]));
  auto add = dyn_cast<linalg::GenericOp>(readers[0]);
  if (!sum || add.getNumDpsInputs() != 2 || !llvm::hasNItems(*add.getBody(), 2))
    return std::nullopt;
  const bool isLeft = lookThroughReshapes(add.getDpsInputs()[0]) == gemm.getResult();
  Value row = findRow(add.getDpsInputs()[isLeft ? 1 : 0], gemm.getMnk()[1]);
  if (!row || getElementTypeOrSelf(row) != gemm.getC().getType().getElementType() ||
      getElementTypeOrSelf(add.getResult(0)) != getElementTypeOrSelf(row))
    return std::nullopt;
  return BiasAddition{add, row};
}

linalg::GenericOp findRelu(Value argument) {
  linalg::GenericOp found;
  for (Operation *reader : getReaders(argument)) {
    if (isRelu(reader) && (!found || found == reader))
      found = cast<linalg::GenericOp>(reader);
    else if (!asksIfAboveZero(reader))
      return {};
  }
  return found;
}

SmallVector<FoundValue> findValues(Value x, llvm::function_ref<bool(const Formula &)> wanted) {
  SmallVector<FoundValue> found;
  FormulaReader reader(x);
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Value> values{x};
  while (!values.empty())
    for (Operation *op : getReaders(values.pop_back_val())) {
      if (!isElementwise(op) || !seen.insert(op).second)
        continue;
      std::optional<Formula> formula = reader.read(op->getResult(0));
      if (!formula)
        continue;
      if (wanted(*formula))
        found.push_back({cast<linalg::GenericOp>(op), formula->getProduct()});
      else
        values.push_back(op->getResult(0)); // conversions of a value that is wanted are not
    }
  return found;
}

Value findColumnSums(Value matrix, int64_t columns) {
  Type element = getElementTypeOrSelf(matrix);
  for (Operation *reader : getReaders(matrix)) {
    auto sum = dyn_cast<linalg::GenericOp>(reader);
    if (!sum || sum.getNumDpsInputs() != 1 || sum.getNumDpsInits() != 1 ||
        sum.getNumReductionLoops() + 1 != sum.getNumLoops() || !isZeroInit(sum.getDpsInits()[0]))
      continue;
    const unsigned last = sum.getNumLoops() - 1;
    AffineMap to = sum.getMatchingIndexingMap(sum.getDpsInitOperand(0));
    if (!sum.getMatchingIndexingMap(sum.getDpsInputOperand(0)).isIdentity() ||
        to.getNumResults() != 1 || !to.isFunctionOfDim(last) ||
        sum.getStaticLoopRanges()[last] != columns)
      continue;
    Block *body = sum.getBody();
    auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
    if (!add || !llvm::is_contained(add->getOperands(), body->getArgument(1)))
      continue;
    Value added = add.getLhs() == body->getArgument(1) ? add.getRhs() : add.getLhs();
    if (auto wide = added.getDefiningOp<arith::ExtFOp>())
      added = wide.getIn();
    if (added != body->getArgument(0))
      continue;
    if (getElementTypeOrSelf(sum.getResult(0)) == element)
      return sum.getResult(0);
    if (Operation *rounding = findRounding(sum.getResult(0), element))
      return rounding->getResult(0);
  }
  return {};
}

bool feedsOnly(Value value, ArrayRef<Operation *> ends) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Value> values{value};
  while (!values.empty())
    for (Operation *reader : getReaders(values.pop_back_val())) {
      if (llvm::is_contained(ends, reader) || !seen.insert(reader).second)
        continue;
      if (!isElementwise(reader))
        return false;
      values.push_back(reader->getResult(0));
    }
  return true;
}

bool isReadFromMemory(Value value) {
  return llvm::any_of(getReaders(value), [](Operation *reader) {
    return !isa<linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect>(
        *reader->getDialect());
  });
}

} // namespace mlir::coll
