//===- lower_indexed_sort.cc - coll.sort as a loop nest --------------------------===//
//
// Per row, positions are sorted, not elements: a merge sort from runs of one upwards,
// between the two halves of one scratch tensor. It is stable, takes any comparator, and
// moves each input once, at the end.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/export/indexed/lower_indexed.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll {
namespace {

class SortNest {
public:
  SortNest(ImplicitLocOpBuilder &b, SortOp op)
      : b(b), op(op), shape(cast<RankedTensorType>(op.getInputs()[0].getType()).getShape()),
        dim(op.getDimAttr().getInt()), length(shape[dim]), at(shape.size()) {}

  /// Loops over dimension `outer` and those after it; returns the results so far.
  SmallVector<Value> emit(int64_t outer, ValueRange results) {
    if (outer == dim)
      ++outer;
    if (outer >= static_cast<int64_t>(shape.size()))
      return emitRow(results);
    return loop(index(0), index(shape[outer]), index(1), results,
                [&](Value iv, ValueRange carried) {
                  at[outer] = iv;
                  return emit(outer + 1, carried);
                });
  }

  using LoopBody = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;
  SmallVector<Value> loop(Value low, Value high, Value step, ValueRange init, LoopBody body) {
    auto loop = scf::ForOp::create(b, low, high, step, init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b, body(loop.getInductionVar(), loop.getRegionIterArgs()));
    return loop.getResults();
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

private:
  SmallVector<Value> emitRow(ValueRange results) {
    Value scratch = tensor::EmptyOp::create(b, {2 * length}, b.getIndexType());
    scratch = loop(index(0), index(length), index(1), scratch, [&](Value p, ValueRange carried) {
      return SmallVector<Value>{tensor::InsertOp::create(b, p, carried[0], p)};
    })[0];
    int64_t levels = llvm::Log2_64_Ceil(length);
    scratch = loop(index(0), index(levels), index(1), scratch,
                   [&](Value level, ValueRange s) { return emitLevel(level, s[0]); })[0];
    // After an odd number of levels the order is in the second half.
    Value half = index(levels % 2 ? length : 0);
    return loop(index(0), index(length), index(1), results, [&](Value p, ValueRange carried) {
      Value from = tensor::ExtractOp::create(b, scratch, add(half, p));
      SmallVector<Value> next;
      for (auto [input, result] : llvm::zip_equal(op.getInputs(), carried)) {
        Value element = elementAt(input, from);
        at[dim] = p;
        next.push_back(tensor::InsertOp::create(b, element, result, at));
      }
      return next;
    });
  }

  /// Merges neighbouring runs of 2^level positions into the other half.
  SmallVector<Value> emitLevel(Value level, Value scratch) {
    Value width = arith::ShLIOp::create(b, index(1), level);
    Value twice = add(width, width);
    Value isOdd = arith::AndIOp::create(b, level, index(1));
    Value from = arith::MulIOp::create(b, isOdd, index(length));
    Value to = arith::SubIOp::create(b, index(length), from);
    return loop(index(0), index(length), twice, scratch, [&](Value low, ValueRange s) {
      Value middle = min(add(low, width), length), high = min(add(low, twice), length);
      return SmallVector<Value>{
          loop(low, high, index(1), {s[0], low, middle}, [&](Value p, ValueRange carried) {
            return emitMerge(p, carried, from, to, middle, high);
          })[0]};
    });
  }

  /// One position of a merge: {scratch, left, right}, whose runs end at `middle` and `high`.
  SmallVector<Value> emitMerge(Value p, ValueRange carried, Value from, Value to, Value middle,
                               Value high) {
    Value scratch = carried[0], left = carried[1], right = carried[2];
    auto read = [&](Value position) -> Value {
      return tensor::ExtractOp::create(b, scratch, add(from, min(position, length - 1)));
    };
    Value leftItem = read(left), rightItem = read(right);
    Value leftIsOver = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, left, middle);
    Value rightIsLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, right, high);
    Value wins = arith::OrIOp::create(b, leftIsOver, isBefore(rightItem, leftItem));
    Value takesRight = arith::AndIOp::create(b, rightIsLeft, wins);
    Value item = arith::SelectOp::create(b, takesRight, rightItem, leftItem);
    Value stepRight = arith::SelectOp::create(b, takesRight, index(1), index(0));
    Value stepLeft = arith::SubIOp::create(b, index(1), stepRight);
    return {tensor::InsertOp::create(b, item, scratch, add(to, p)), add(left, stepLeft),
            add(right, stepRight)};
  }

  /// The comparator on the elements at positions `x` and `y` of the row.
  Value isBefore(Value x, Value y) {
    auto elements = [&](Value position) {
      return llvm::map_to_vector(op.getInputs(),
                                 [&](Value input) { return elementAt(input, position); });
    };
    SmallVector<Value> first = elements(x), second = elements(y);
    return emitComparison(b, op, first, second);
  }

  Value elementAt(Value input, Value position) {
    at[dim] = position;
    return tensor::ExtractOp::create(b, input, at);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value min(Value x, int64_t limit) { return arith::MinUIOp::create(b, x, index(limit)); }

  ImplicitLocOpBuilder &b;
  SortOp op;
  ArrayRef<int64_t> shape;
  int64_t dim, length;
  SmallVector<Value> at; // the coordinates of the row
};

} // namespace

Value emitComparison(OpBuilder &builder, SortOp op, ValueRange first, ValueRange second) {
  Block &body = op.getComparator().front();
  IRMapping mapping;
  for (auto [i, elements] : llvm::enumerate(llvm::zip_equal(first, second))) {
    mapping.map(body.getArgument(2 * i), std::get<0>(elements));
    mapping.map(body.getArgument(2 * i + 1), std::get<1>(elements));
  }
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, mapping);
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

void lowerSort(RewriterBase &rewriter, SortOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto first = cast<RankedTensorType>(op.getInputs()[0].getType());
  if (first.getNumElements() == 0 || first.getDimSize(op.getDimAttr().getInt()) == 1) {
    rewriter.replaceOp(op, op.getInputs());
    return;
  }
  SmallVector<Value> results;
  for (Type type : op.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    results.push_back(tensor::EmptyOp::create(b, tensor.getShape(), tensor.getElementType()));
  }
  SortNest nest(b, op);
  // A loop of one iteration around everything makes even a single row a marked loop nest.
  SmallVector<Value> sorted =
      nest.loop(nest.index(0), nest.index(1), nest.index(1), results,
                [&](Value, ValueRange carried) { return nest.emit(0, carried); });
  sorted[0].getDefiningOp()->setAttr(kKernelAttr, rewriter.getUnitAttr());
  rewriter.replaceOp(op, sorted);
}

} // namespace mlir::coll
