//===- lower_indexed_access.cc - coll.take and coll.accumulate as loop nests -----===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/indexed/lower_indexed.h"

namespace mlir::coll {
namespace {

Value createIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value toIndex(OpBuilder &b, Location loc, Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

Value clampIndex(OpBuilder &b, Location loc, Value value, int64_t upper) {
  value = arith::MaxSIOp::create(b, loc, value, createIndex(b, loc, 0));
  return arith::MinSIOp::create(b, loc, value, createIndex(b, loc, upper));
}

/// Emits the loops of one accumulate, outermost first.
class AccumulateNest {
public:
  AccumulateNest(OpBuilder &b, AccumulateOp op)
      : b(b), op(op), loc(op.getLoc()), shape(op.getUpdates().getType().getShape()),
        batchDims(op.getBatchDims()), operandWindowDims(op.getOperandWindowDims()) {
    ivs.resize(shape.size());
    numOuter = batchDims.empty() ? 0 : batchDims.back() + 1;
  }

  /// Loops over updates dimension `dim` and those after it; returns the updated tensor.
  Value emit(int64_t dim, Value tensor) {
    if (dim == numOuter && starts.empty())
      return emitAtPosition(dim, tensor);
    return emitLoop(dim, tensor);
  }

private:
  Value emitLoop(int64_t dim, Value tensor) {
    if (dim == static_cast<int64_t>(shape.size()))
      return emitElement(tensor);
    auto loop = scf::ForOp::create(b, loc, createIndex(b, loc, 0), createIndex(b, loc, shape[dim]),
                                   createIndex(b, loc, 1), ValueRange{tensor});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ivs[dim] = loop.getInductionVar();
    Value inner = emit(dim + 1, loop.getRegionIterArg(0));
    scf::YieldOp::create(b, loc, inner);
    return loop.getResult(0);
  }

  /// Emits the code at which all coordinates of a position are known: reads the start, and checks
  /// once what does not depend on the window.
  Value emitAtPosition(int64_t dim, Value tensor) {
    int64_t rank = op.getOperand().getType().getRank();
    starts.assign(rank, Value());
    for (auto [j, operandDim] : llvm::enumerate(op.getIndexMap())) {
      SmallVector<Value> at;
      for (int64_t batchDim : batchDims)
        at.push_back(ivs[batchDim]);
      at.push_back(createIndex(b, loc, j));
      starts[operandDim] = toIndex(b, loc, tensor::ExtractOp::create(b, loc, op.getIndices(), at));
    }
    for (auto [operandDim, indicesDim] :
         llvm::zip_equal(op.getOperandBatchDims(), op.getIndicesBatchDims()))
      starts[operandDim] = ivs[batchDims[indicesDim]];
    Value ok;
    for (int64_t operandDim : op.getIndexMap())
      if (!llvm::is_contained(operandWindowDims, operandDim))
        ok = both(ok, inBounds(starts[operandDim], operandDim));
    return guarded(ok, tensor, [&](Value t) { return emitLoop(dim, t); });
  }

  Value emitElement(Value tensor) {
    SmallVector<Value> at(starts);
    Value ok;
    for (auto [operandDim, updatesDim] : llvm::zip_equal(operandWindowDims, op.getWindowDims())) {
      Value offset = ivs[updatesDim];
      if (Value start = starts[operandDim]) {
        at[operandDim] = arith::AddIOp::create(b, loc, start, offset);
        ok = both(ok, inBounds(at[operandDim], operandDim));
      } else {
        at[operandDim] = offset;
      }
    }
    for (Value &coordinate : at)
      if (!coordinate)
        coordinate = createIndex(b, loc, 0);
    return guarded(ok, tensor, [&](Value t) { return combine(t, at); });
  }

  Value combine(Value tensor, ArrayRef<Value> at) {
    Value update = tensor::ExtractOp::create(b, loc, op.getUpdates(), ivs);
    Value current = tensor::ExtractOp::create(b, loc, tensor, at);
    Block &body = op.getCombiner().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), ArrayRef<Value>{current, update});
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    Value result = mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
    return tensor::InsertOp::create(b, loc, result, tensor, at);
  }

  Value guarded(Value ok, Value tensor, llvm::function_ref<Value(Value)> emitBody) {
    if (!ok)
      return emitBody(tensor);
    auto branch = scf::IfOp::create(b, loc, TypeRange{tensor.getType()}, ok, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, emitBody(tensor));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, tensor);
    return branch.getResult(0);
  }

  /// 0 <= coordinate < size, as one unsigned comparison.
  Value inBounds(Value coordinate, int64_t operandDim) {
    int64_t size = op.getOperand().getType().getDimSize(operandDim);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, coordinate,
                                 createIndex(b, loc, size));
  }

  Value both(Value a, Value c) { return a ? arith::AndIOp::create(b, loc, a, c).getResult() : c; }

  OpBuilder &b;
  AccumulateOp op;
  Location loc;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> batchDims, operandWindowDims;
  int64_t numOuter; // updates dimensions up to and including the last position dimension
  SmallVector<Value> ivs, starts;
};

} // namespace

void lowerTake(RewriterBase &rewriter, TakeOp op) {
  Location loc = op.getLoc();
  MLIRContext *ctx = op.getContext();
  RankedTensorType type = cast<RankedTensorType>(op.getResult().getType());
  ArrayRef<int64_t> operandShape = cast<RankedTensorType>(op.getOperand().getType()).getShape();
  SmallVector<int64_t> batchDims = op.getBatchDims();
  unsigned rank = type.getRank();
  SmallVector<Value> inputs(op.getIndexMap().size(), op.getIndices());
  SmallVector<AffineMap> maps;
  for (unsigned j = 0; j < inputs.size(); ++j) {
    SmallVector<AffineExpr> exprs;
    for (int64_t dim : batchDims)
      exprs.push_back(getAffineDimExpr(dim, ctx));
    exprs.push_back(getAffineConstantExpr(j, ctx));
    maps.push_back(AffineMap::get(rank, 0, exprs, ctx));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(rank, ctx));

  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    SmallVector<Value> at(operandShape.size());
    for (auto [j, dim] : llvm::enumerate(op.getIndexMap()))
      at[dim] =
          clampIndex(b, loc, toIndex(b, loc, args[j]), operandShape[dim] - op.getSliceSizes()[dim]);
    for (auto [dim, indicesDim] :
         llvm::zip_equal(op.getOperandBatchDims(), op.getIndicesBatchDims()))
      at[dim] = linalg::IndexOp::create(b, loc, batchDims[indicesDim]);
    for (auto [dim, resultDim] : llvm::zip_equal(op.getWindowDims(), op.getOffsetDims())) {
      Value offset = linalg::IndexOp::create(b, loc, resultDim);
      at[dim] = at[dim] ? arith::AddIOp::create(b, loc, at[dim], offset).getResult() : offset;
    }
    for (Value &coordinate : at)
      if (!coordinate)
        coordinate = createIndex(b, loc, 0);
    Value element = tensor::ExtractOp::create(b, loc, op.getOperand(), at);
    linalg::YieldOp::create(b, loc, element);
  };
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(op, TypeRange{type}, inputs, ValueRange{empty},
                                                 maps, iterators, body);
}

void lowerAccumulate(RewriterBase &rewriter, AccumulateOp op) {
  Location loc = op.getLoc();
  Value base = op.getOperand();
  if (TypedAttr splat = getSplatScalar(base))
    base = createFilled(rewriter, loc, cast<RankedTensorType>(base.getType()),
                        arith::ConstantOp::create(rewriter, loc, splat));
  // A loop of one iteration around everything makes even a single element a marked loop nest.
  Value zero = createIndex(rewriter, loc, 0), one = createIndex(rewriter, loc, 1);
  Value result;
  auto emitNest = [&](OpBuilder &b, Value tensor) { return AccumulateNest(b, op).emit(0, tensor); };
  if (op.getUpdates().getType().getRank() == 0 || op.getBatchDims().empty()) {
    auto outer = scf::ForOp::create(rewriter, loc, zero, one, one, ValueRange{base});
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(outer.getBody());
    scf::YieldOp::create(rewriter, loc, emitNest(rewriter, outer.getRegionIterArg(0)));
    result = outer.getResult(0);
  } else {
    result = emitNest(rewriter, base);
  }
  result.getDefiningOp()->setAttr(kKernelAttr, rewriter.getUnitAttr());
  rewriter.replaceOp(op, result);
}

} // namespace mlir::coll
