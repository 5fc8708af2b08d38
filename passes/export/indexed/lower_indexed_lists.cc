//===- lower_indexed_lists.cc - coll.accumulate by lists of updates --------------===//
//
// Updates of rows at computed positions, each of which may have several: the updates of a row
// are a list, in their order, so that each row can be computed by itself, without atomics.
//
//   first[r] = the first update of row r
//   next[u]  = the update after u of the same row
//   result[r, ...] = combine(... combine(operand[r, ...], updates[first[r], ...]) ...)
//
// Both are reductions over all updates: they compare each position with each row and with each
// other position.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/export/indexed/lower_indexed.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll {
namespace {

using Predicate = arith::CmpIPredicate;
using utils::IteratorType;

// Fewer updates are applied one after the other.
constexpr int64_t kFewest = 32;
// Rows that no update concerns are copied: not more of them than this for each update.
constexpr int64_t kMostRows = 8;
// The threads among which emit_loops.cc shares out the rows of an accumulation that is not
// turned into lists; each of them reads all positions.
constexpr int64_t kOwners = 64 * 1024;

/// The sizes of an accumulation in which an update is a row of the operand.
struct Rows {
  int64_t updates = 1, rows = 1, columns = 1;

  static std::optional<Rows> get(AccumulateOp op) {
    ArrayRef<int64_t> shape = op.getOperand().getType().getShape();
    SmallVector<int64_t> windowed = op.getOperandWindowDims();
    Rows sizes;
    for (int64_t dim : op.getIndexMap())
      sizes.rows *= llvm::is_contained(windowed, dim) ? 0 : shape[dim];
    for (auto [dim, inUpdates] : llvm::zip_equal(windowed, op.getWindowDims())) {
      if (op.getUpdates().getType().getDimSize(inUpdates) != shape[dim])
        return std::nullopt;
      sizes.columns *= shape[dim];
    }
    for (int64_t dim : op.getBatchDims())
      sizes.updates *= op.getUpdates().getType().getDimSize(dim);
    bool covers = sizes.rows * sizes.columns == op.getOperand().getType().getNumElements();
    if (!covers || sizes.rows == 0 || !op.getOperandBatchDims().empty())
      return std::nullopt;
    return sizes;
  }

  /// Whether lists take fewer comparisons than threads that each look for the updates of their
  /// rows.
  bool areFaster(bool isFilled) const {
    int64_t threads = std::min(rows * columns, std::max(columns, kOwners));
    return updates >= kFewest && rows > 1 && updates + rows <= threads &&
           (isFilled || rows <= kMostRows * updates) && llvm::isInt<32>(updates) &&
           llvm::isInt<32>(rows);
  }
};

class ListBuilder {
public:
  ListBuilder(RewriterBase &rewriter, AccumulateOp op, Rows sizes)
      : b(op.getLoc(), rewriter), op(op), sizes(sizes), shape(op.getOperand().getType().getShape()),
        batchDims(op.getBatchDims()) {}

  Value build() {
    Value positions = buildPositions();
    first = buildList(sizes.rows, positions, [&](Value row, Value update, ValueRange args) {
      return isEqual(args[0], row);
    });
    next = buildNext(positions);
    return buildRows();
  }

private:
  Value number(int64_t value) { return arith::ConstantIntOp::create(b, value, 32); }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value toNumber(Value index) { return arith::IndexCastOp::create(b, b.getI32Type(), index); }
  Value isEqual(Value x, Value y) { return arith::CmpIOp::create(b, Predicate::eq, x, y); }

  /// The row of each update, -1 where it is outside of the operand: tensor<updates x i32>.
  Value buildPositions() {
    ArrayRef<int64_t> updates = op.getUpdates().getType().getShape();
    SmallVector<int64_t> batch =
        llvm::map_to_vector(batchDims, [&](int64_t dim) { return updates[dim]; });
    int64_t rank = batch.size();
    SmallVector<AffineMap> maps;
    for (size_t j = 0; j < op.getIndexMap().size(); ++j) {
      SmallVector<AffineExpr> exprs;
      for (int64_t dim = 0; dim < rank; ++dim)
        exprs.push_back(b.getAffineDimExpr(dim));
      exprs.push_back(b.getAffineConstantExpr(j));
      maps.push_back(AffineMap::get(rank, 0, exprs, b.getContext()));
    }
    SmallVector<Value> inputs(maps.size(), op.getIndices());
    maps.push_back(b.getMultiDimIdentityMap(rank));
    auto body = [&](OpBuilder &inner, Location loc, ValueRange args) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
      Value row = index(0), isInside;
      for (auto [dim, start] : llvm::zip(op.getIndexMap(), args)) {
        Value at = start.getType().isIndex()
                       ? start
                       : arith::IndexCastOp::create(b, b.getIndexType(), start).getResult();
        Value isBelow = arith::CmpIOp::create(b, Predicate::ult, at, index(shape[dim]));
        isInside = isInside ? arith::AndIOp::create(b, isInside, isBelow).getResult() : isBelow;
        row = arith::AddIOp::create(b, arith::MulIOp::create(b, row, index(shape[dim])), at);
      }
      Value found = arith::SelectOp::create(b, isInside, toNumber(row), number(-1));
      linalg::YieldOp::create(b, found);
    };
    auto type = RankedTensorType::get(batch, b.getI32Type());
    Value empty = tensor::EmptyOp::create(b, batch, b.getI32Type());
    SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
    Value positions = linalg::GenericOp::create(b, TypeRange{type}, inputs, ValueRange{empty}, maps,
                                                iterators, body)
                          .getResult(0);
    if (rank == 1)
      return positions;
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all[0], llvm::seq<int64_t>(0, rank));
    auto flat = RankedTensorType::get({sizes.updates}, b.getI32Type());
    return tensor::CollapseShapeOp::create(b, flat, positions, all);
  }

  using Test = llvm::function_ref<Value(Value item, Value update, ValueRange positions)>;

  /// For each of `items`, the first update that passes the test; the number of updates if none
  /// does. `positions` are the update's, and the item's where `isOfUpdates`.
  Value buildList(int64_t items, Value positions, Test test, bool isOfUpdates = false) {
    MLIRContext *context = b.getContext();
    AffineMap item = AffineMap::get(2, 0, b.getAffineDimExpr(0), context);
    AffineMap update = AffineMap::get(2, 0, b.getAffineDimExpr(1), context);
    SmallVector<Value> inputs{positions};
    SmallVector<AffineMap> maps{update};
    if (isOfUpdates) {
      inputs.push_back(positions);
      maps.push_back(item);
    }
    maps.push_back(item);
    auto type = RankedTensorType::get({items}, b.getI32Type());
    Value none = createFilled(b, b.getLoc(), type, number(sizes.updates));
    auto body = [&](OpBuilder &inner, Location loc, ValueRange args) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
      Value here = toNumber(linalg::IndexOp::create(b, 0));
      Value candidate = toNumber(linalg::IndexOp::create(b, 1));
      Value passes = test(here, candidate, args);
      Value found = arith::SelectOp::create(b, passes, candidate, number(sizes.updates));
      linalg::YieldOp::create(b, arith::MinSIOp::create(b, args.back(), found).getResult());
    };
    return linalg::GenericOp::create(b, TypeRange{type}, inputs, ValueRange{none}, maps,
                                     {IteratorType::parallel, IteratorType::reduction}, body)
        .getResult(0);
  }

  Value buildNext(Value positions) {
    auto isLater = [&](Value item, Value update, ValueRange args) -> Value {
      Value isBehind = arith::CmpIOp::create(b, Predicate::sgt, update, item);
      return arith::AndIOp::create(b, isBehind, isEqual(args[0], args[1]));
    };
    return buildList(sizes.updates, positions, isLater, /*isOfUpdates=*/true);
  }

  /// A nest whose iterations each compute one element of the result.
  Value buildRows() {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    filling = getSplatScalar(op.getOperand());
    Value start = filling ? tensor::EmptyOp::create(b, shape, type.getElementType()).getResult()
                          : op.getOperand();
    at.resize(shape.size());
    Value result = emitLoops(0, start);
    result.getDefiningOp()->setAttr(kKernelAttr, b.getUnitAttr());
    return result;
  }

  Value emitLoops(size_t dim, Value tensor) {
    if (dim == shape.size())
      return emitElement(tensor);
    auto loop = scf::ForOp::create(b, index(0), index(shape[dim]), index(1), ValueRange{tensor});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    at[dim] = loop.getInductionVar();
    scf::YieldOp::create(b, emitLoops(dim + 1, loop.getRegionIterArg(0)));
    return loop.getResult(0);
  }

  Value emitElement(Value tensor) {
    Value row = index(0);
    for (int64_t dim : op.getIndexMap())
      row = arith::AddIOp::create(b, arith::MulIOp::create(b, row, index(shape[dim])), at[dim]);
    Value element = filling ? arith::ConstantOp::create(b, filling).getResult()
                            : tensor::ExtractOp::create(b, tensor, at).getResult();
    Value head = tensor::ExtractOp::create(b, first, row);
    auto list = scf::WhileOp::create(
        b, b.getLoc(), TypeRange{b.getI32Type(), element.getType()}, ValueRange{head, element},
        [&](OpBuilder &inner, Location loc, ValueRange args) {
          Value goesOn =
              arith::CmpIOp::create(inner, loc, Predicate::ult, args[0],
                                    arith::ConstantIntOp::create(inner, loc, sizes.updates, 32));
          scf::ConditionOp::create(inner, loc, goesOn, args);
        },
        [&](OpBuilder &inner, Location loc, ValueRange args) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
          Value update = arith::IndexCastOp::create(b, b.getIndexType(), args[0]);
          Value combined = combine(args[1], readUpdate(update));
          // Whatever the list holds, it ends.
          Value after = tensor::ExtractOp::create(b, next, update);
          Value isLater = arith::CmpIOp::create(b, Predicate::sgt, after, args[0]);
          Value place = arith::SelectOp::create(b, isLater, after, number(sizes.updates));
          scf::YieldOp::create(b, ValueRange{place, combined});
        });
    return tensor::InsertOp::create(b, list.getResult(1), tensor, at);
  }

  Value readUpdate(Value update) {
    ArrayRef<int64_t> updates = op.getUpdates().getType().getShape();
    SmallVector<Value> place(updates.size());
    for (auto [dim, inUpdates] : llvm::zip_equal(op.getOperandWindowDims(), op.getWindowDims()))
      place[inUpdates] = at[dim];
    for (int64_t dim : llvm::reverse(batchDims)) {
      place[dim] = arith::RemUIOp::create(b, update, index(updates[dim]));
      update = arith::DivUIOp::create(b, update, index(updates[dim]));
    }
    return tensor::ExtractOp::create(b, op.getUpdates(), place);
  }

  Value combine(Value current, Value update) {
    Block &body = op.getCombiner().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), ArrayRef<Value>{current, update});
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

  ImplicitLocOpBuilder b;
  AccumulateOp op;
  Rows sizes;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> batchDims;
  TypedAttr filling; // null: the operand is not a constant
  Value first, next;
  SmallVector<Value> at; // the coordinates of an element of the result
};

} // namespace

bool lowerAccumulateToLists(RewriterBase &rewriter, AccumulateOp op) {
  std::optional<Rows> sizes = Rows::get(op);
  if (!sizes || !sizes->areFaster(bool(getSplatScalar(op.getOperand()))))
    return false;
  rewriter.replaceOp(op, ListBuilder(rewriter, op, *sizes).build());
  return true;
}

} // namespace mlir::coll
