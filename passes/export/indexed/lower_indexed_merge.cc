//===- lower_indexed_merge.cc - coll.sort as parallel merges ---------------------===//
//
// A merge sort from runs of one upwards, each level a loop nest whose iterations are
// independent: an iteration finds the element of its own position in the merged run by a binary
// search (merge path: Odeh, Green, Mwassi, Shmueli and Birk, "Merge Path - Parallel Merging Made
// Simple", 2012). It is stable, and takes any comparator.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/export/indexed/lower_indexed.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll {
namespace {

using CmpPredicate = arith::CmpIPredicate;

class MergeLevel {
public:
  MergeLevel(ImplicitLocOpBuilder &b, SortOp op, int64_t width)
      : b(b), op(op), shape(cast<RankedTensorType>(op.getInputs()[0].getType()).getShape()),
        dim(op.getDimAttr().getInt()), length(shape[dim]), width(width), at(shape.size()) {}

  /// Merges neighbouring runs of `width` elements.
  SmallVector<Value> emit(ValueRange runs) {
    sources.assign(runs.begin(), runs.end());
    SmallVector<Value> empty;
    for (Type type : op.getResultTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      empty.push_back(tensor::EmptyOp::create(b, tensor.getShape(), tensor.getElementType()));
    }
    SmallVector<Value> merged = emitLoops(0, empty);
    merged[0].getDefiningOp()->setAttr(kKernelAttr, b.getUnitAttr());
    return merged;
  }

private:
  SmallVector<Value> emitLoops(size_t loop, ValueRange results) {
    if (loop == shape.size())
      return emitElement(results);
    auto made = scf::ForOp::create(b, index(0), index(shape[loop]), index(1), results);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    at[loop] = made.getInductionVar();
    scf::YieldOp::create(b, emitLoops(loop + 1, made.getRegionIterArgs()));
    return made.getResults();
  }

  /// The position of the merged run that the loops are at.
  SmallVector<Value> emitElement(ValueRange results) {
    Value place = at[dim];
    Value low = arith::AndIOp::create(b, place, index(-2 * width)); // of the left run
    Value middle = min(add(low, index(width)), index(length));
    Value high = min(add(low, index(2 * width)), index(length));
    Value count = sub(place, low); // of the elements before this one
    Value left = add(low, emitSearch(low, middle, high, count));
    Value right = add(middle, sub(count, sub(left, low)));
    Value hasLeft = isBelow(left, middle), rightIsOver = isNotBelow(right, high);
    Value leftFirst = arith::OrIOp::create(b, rightIsOver, isInOrder(left, right));
    Value takesLeft = arith::AndIOp::create(b, hasLeft, leftFirst);
    SmallVector<Value> elements = read(arith::SelectOp::create(b, takesLeft, left, right));
    at[dim] = place;
    SmallVector<Value> next;
    for (auto [element, result] : llvm::zip_equal(elements, results))
      next.push_back(tensor::InsertOp::create(b, element, result, at));
    return next;
  }

  /// How many of the first `count` elements of the merged run are from the left one.
  Value emitSearch(Value low, Value middle, Value high, Value count) {
    Value rights = sub(high, middle);
    Value fewest = sub(count, min(count, rights)), most = min(count, sub(middle, low));
    int64_t steps = llvm::Log2_64(width) + 1;
    auto search = scf::ForOp::create(b, index(0), index(steps), index(1), ValueRange{fewest, most});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(search.getBody());
    Value from = search.getRegionIterArg(0), to = search.getRegionIterArg(1);
    Value half = arith::ShRUIOp::create(b, add(from, to), index(1));
    Value left = add(low, half), right = add(middle, sub(sub(count, half), index(1)));
    Value goesOn = isBelow(from, to), isLeft = isInOrder(left, right);
    Value rises = arith::AndIOp::create(b, goesOn, isLeft);
    Value nextFrom = arith::SelectOp::create(b, rises, add(half, index(1)), from);
    Value nextTo = arith::SelectOp::create(b, rises, to, half);
    scf::YieldOp::create(b, {nextFrom, arith::SelectOp::create(b, goesOn, nextTo, to)});
    return search.getResult(0);
  }

  /// Whether the element at `left` stays before the one at `right`. Places outside of the row are
  /// replaced by its last one.
  Value isInOrder(Value left, Value right) {
    SmallVector<Value> rights = read(right), lefts = read(left);
    Value swaps = emitComparison(b, op, rights, lefts);
    return arith::XOrIOp::create(b, swaps, arith::ConstantIntOp::create(b, 1, 1));
  }

  SmallVector<Value> read(Value place) {
    SmallVector<Value> position(at);
    position[dim] = min(place, index(length - 1));
    return llvm::map_to_vector(sources, [&](Value source) -> Value {
      return tensor::ExtractOp::create(b, source, position);
    });
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  /// Compares unsigned numbers: a negative one is larger than any place.
  Value min(Value x, Value y) { return arith::MinUIOp::create(b, x, y); }
  Value isBelow(Value x, Value y) { return arith::CmpIOp::create(b, CmpPredicate::ult, x, y); }
  Value isNotBelow(Value x, Value y) { return arith::CmpIOp::create(b, CmpPredicate::uge, x, y); }

  ImplicitLocOpBuilder &b;
  SortOp op;
  ArrayRef<int64_t> shape;
  int64_t dim, length, width;
  SmallVector<Value> sources;
  SmallVector<Value> at; // the coordinates of the loops
};

} // namespace

void lowerSortToMerges(RewriterBase &rewriter, SortOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  SmallVector<Value> runs(op.getInputs());
  if (type.getNumElements() > 0)
    for (int64_t width = 1; width < type.getDimSize(op.getDimAttr().getInt()); width *= 2)
      runs = MergeLevel(b, op, width).emit(runs);
  rewriter.replaceOp(op, runs);
}

} // namespace mlir::coll
