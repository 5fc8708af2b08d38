//===- lower_convolutions.cc - convolutions to coll.convolution --------------------===//

#include "dialect/convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/convolutions/form.h"
#include "passes/export/convolutions/passes.h"
#include "passes/export/lower_contractions.h"

namespace mlir::coll {

#define GEN_PASS_DEF_LOWERCONVOLUTIONSPASS
#include "passes/export/convolutions/passes.h.inc"

namespace {

// With fewer multiplications a call of the library is not worth it.
constexpr int64_t kFewest = 512;

/// The form of a sum, and the operation that its convolution replaces.
struct Plan {
  linalg::GenericOp op;
  Operation *replaced; // the sum, or what rounds it
  ConvolutionLoops loops;
  ConvolutionForm form;
};

/// The operation whose result is a convolution of elements of one type: the sum, or the rounding of
/// a sum of narrow factors; null if the sum is of another type than its factors.
Operation *findReplaced(linalg::GenericOp op) {
  auto elementOf = [&](unsigned operand) { return getElementTypeOrSelf(op->getOperand(operand)); };
  if (elementOf(0) != elementOf(1))
    return nullptr;
  if (elementOf(0) == elementOf(2))
    return op;
  return findRounding(op.getResult(0), getNarrowFactor(op));
}

std::optional<Plan> planConvolution(linalg::GenericOp op) {
  Operation *replaced = findReplaced(op);
  if (!replaced || !isZeroInit(op.getDpsInitOperand(0)->get()))
    return std::nullopt;
  std::optional<ConvolutionLoops> loops = readConvolutionLoops(op);
  if (!loops)
    return std::nullopt;
  int64_t products = 1;
  for (int64_t extent : loops->extents)
    products *= extent;
  if (products < kFewest)
    return std::nullopt;
  std::optional<ConvolutionForm> form = findConvolutionForm(op, *loops);
  if (!form)
    return std::nullopt;
  return Plan{op, replaced, *loops, *form};
}

/// Whether dimensions in the order `from` lie in memory as those in the order `to`.
bool isSameOrder(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<int64_t> extents) {
  auto isMoving = [&](int64_t loop) { return extents[loop] > 1; };
  return llvm::equal(llvm::make_filter_range(from, isMoving),
                     llvm::make_filter_range(to, isMoving));
}

/// A copy of `source` in `type`, whose dimensions are those of `map`.
Value copy(OpBuilder &builder, Location loc, Value source, RankedTensorType type, AffineMap map) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps{map, builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(builder, loc, TypeRange{type}, ValueRange{source},
                                        ValueRange{empty}, maps, iterators,
                                        [](OpBuilder &b, Location loc, ValueRange args) {
                                          linalg::YieldOp::create(b, loc, args[0]);
                                        });
  return made.getResult(0);
}

class ConvolutionBuilder {
public:
  ConvolutionBuilder(RewriterBase &rewriter, const Plan &plan)
      : b(rewriter), plan(plan), op(plan.op), form(plan.form), loops(plan.loops), loc(op.getLoc()) {
  }

  void build() {
    b.setInsertionPoint(op);
    Value windowed = arrange(form.base, loops.windowedDims, form.windowedOrder, false);
    Value plain = arrange(op.getDpsInputs()[1 - loops.windowed], loops.plainDims, form.plainOrder,
                          form.isReversed);
    auto type = cast<RankedTensorType>(plan.replaced->getResult(0).getType());
    bool isInPlace =
        form.cut.empty() && isSameOrder(form.resultOrder, loops.resultDims, loops.extents);
    auto made = isInPlace ? type : RankedTensorType::get(resultShape(), type.getElementType());
    auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
    Value result =
        ConvolutionOp::create(b, loc, made, windowed, plain, b.getStringAttr(form.kind),
                              op->getAttrOfType<StringAttr>(kPrecisionAttr),
                              list({form.batch, form.groups, form.channels, form.features}),
                              list(form.input), list(form.window), list(form.output),
                              list(form.strides), list(form.dilations), list(form.pads));
    b.replaceOp(plan.replaced, isInPlace ? result : takeResult(result, type));
  }

private:
  /// The operand with its dimensions in the wanted order, reversed along windows if that is wanted.
  Value arrange(Value source, ArrayRef<int64_t> dims, ArrayRef<int64_t> wanted, bool reverses) {
    auto type = cast<RankedTensorType>(source.getType());
    reverses = reverses && llvm::any_of(loops.spatial, [&](const ConvolutionLoops::Spatial &s) {
                 return loops.extents[s.window] > 1;
               });
    SmallVector<int64_t> extents(loops.extents);
    for (auto [dim, loop] : llvm::enumerate(dims))
      extents[loop] = type.getDimSize(dim);
    if (!reverses && isSameOrder(dims, wanted, extents))
      return source;
    SmallVector<AffineExpr> exprs;
    for (int64_t loop : dims) {
      AffineExpr at = b.getAffineDimExpr(llvm::find(wanted, loop) - wanted.begin());
      bool isWindow = llvm::any_of(
          loops.spatial, [&](const ConvolutionLoops::Spatial &s) { return s.window == loop; });
      exprs.push_back(reverses && isWindow ? extents[loop] - 1 - at : at);
    }
    SmallVector<int64_t> shape;
    for (int64_t loop : wanted)
      shape.push_back(extents[loop]);
    return copy(b, loc, source, RankedTensorType::get(shape, type.getElementType()),
                AffineMap::get(wanted.size(), 0, exprs, b.getContext()));
  }

  SmallVector<int64_t> resultShape() const {
    if (!form.cut.empty())
      return form.cutShape;
    SmallVector<int64_t> shape;
    for (int64_t loop : form.resultOrder)
      shape.push_back(loops.extents[loop]);
    return shape;
  }

  /// The sum's part of the convolution, in the sum's order.
  Value takeResult(Value result, RankedTensorType type) {
    SmallVector<int64_t> shape;
    for (int64_t loop : form.resultOrder)
      shape.push_back(loops.extents[loop]);
    if (!form.cut.empty()) {
      SmallVector<int64_t> ones(shape.size(), 1);
      result = tensor::ExtractSliceOp::create(b, loc, result, indices(form.cut), indices(shape),
                                              indices(ones));
    }
    if (form.resultOrder == loops.resultDims)
      return result;
    SmallVector<AffineExpr> exprs;
    for (int64_t loop : form.resultOrder)
      exprs.push_back(
          b.getAffineDimExpr(llvm::find(loops.resultDims, loop) - loops.resultDims.begin()));
    return copy(b, loc, result, type, AffineMap::get(type.getRank(), 0, exprs, b.getContext()));
  }
  SmallVector<OpFoldResult> indices(ArrayRef<int64_t> values) {
    return llvm::map_to_vector(
        values, [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); });
  }

  RewriterBase &b;
  const Plan &plan;
  linalg::GenericOp op;
  const ConvolutionForm &form;
  const ConvolutionLoops &loops;
  Location loc;
};

struct LowerConvolutionsPass : public impl::LowerConvolutionsPassBase<LowerConvolutionsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<CollDialect, arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && isMultiplyAdd(op))
        sums.push_back(op);
    });
    // Plans are made one after the other, because the operand that a plan reads may be the result
    // of an earlier one.
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : sums)
      if (std::optional<Plan> plan = planConvolution(op))
        ConvolutionBuilder(rewriter, *plan).build();
    eraseUnused(getOperation());
  }
};

} // namespace
} // namespace mlir::coll
