//===- lower_contractions.cc - contractions and convolutions to coll.gemm --------===//

#include "passes/export/lower_contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_LOWERCONTRACTIONSPASS
#include "passes/passes.h.inc"

/// The body argument before an optional widening conversion.
static Value stripExtension(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    return extension.getIn();
  return value;
}

bool isMultiplyAdd(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  Block *body = op.getBody();
  Type type = body->getArgument(2).getType();
  if (!type.isF32() && !type.isF64())
    return false;
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  Value acc = body->getArgument(2);
  Value product = add.getLhs() == acc ? add.getRhs() : add.getLhs();
  if (add.getLhs() != acc && add.getRhs() != acc)
    return false;
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul)
    return false;
  Value lhs = stripExtension(mul.getLhs()), rhs = stripExtension(mul.getRhs());
  Value a = body->getArgument(0), b = body->getArgument(1);
  return (lhs == a && rhs == b) || (lhs == b && rhs == a);
}

Type getNarrowFactor(linalg::GenericOp op) {
  auto elementOf = [&](unsigned operand) { return getElementTypeOrSelf(op->getOperand(operand)); };
  Type factor = elementOf(0);
  bool isNarrow = factor == elementOf(1) && (factor.isBF16() || factor.isF16());
  return isNarrow && elementOf(2).isF32() ? factor : Type();
}

Operation *findRounding(Value sums, Type factor) {
  if (!factor || !sums.hasOneUse())
    return nullptr;
  auto user = dyn_cast<linalg::GenericOp>(*sums.user_begin());
  if (!user || user.getNumDpsInputs() != 1 || user.getDpsInputs()[0] != sums ||
      user.getNumDpsInits() != 1 || getElementTypeOrSelf(user.getResult(0)) != factor ||
      !llvm::all_of(user.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return nullptr;
  Operation *yield = user.getBody()->getTerminator();
  auto rounding = yield->getOperand(0).getDefiningOp<arith::TruncFOp>();
  return rounding && rounding.getIn() == user.getBody()->getArgument(0) ? user : nullptr;
}

bool isZeroInit(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return false;
}

void eraseUnused(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

namespace {

/// The plan for one contraction: operands to pack first, the resulting form, and optionally the
/// rounding or transposing copy whose result is written directly.
struct Plan {
  std::array<bool, 2> pack = {false, false};
  Contraction contraction;
  GemmForm form;
  Operation *absorbed = nullptr; // whose result the product writes
  double cost = 0;
};

int64_t countElements(const Contraction &contraction, Operand operand) {
  int64_t count = 1;
  for (const Loop &loop : contraction.loops)
    if (loop.strides[operand] != 0)
      count *= loop.extent;
  return count;
}

/// Cheapest choice of operands to pack, or nullopt.
std::optional<Plan> findPlan(const Contraction &contraction, ContractionCosts costs) {
  std::optional<Plan> best;
  OpBuilder builder(contraction.base[kC].getContext());
  for (unsigned choice = 0; choice < 4; ++choice) {
    Plan plan;
    plan.pack = {(choice & 1) != 0, (choice & 2) != 0};
    plan.contraction = contraction;
    Contraction packed = contraction;
    bool ok = true;
    for (Operand operand : {kA, kB}) {
      if (!plan.pack[operand])
        continue;
      plan.cost += costs.copy(countElements(packed, operand));
      ok = ok && succeeded(packOperand(builder, builder.getUnknownLoc(), packed, operand, Type(),
                                       /*emit=*/false));
    }
    std::optional<GemmForm> form;
    if (ok)
      form = findGemmForm(packed, costs);
    if (!form)
      continue;
    plan.form = *form;
    plan.cost += costs.product(*form);
    if (!best || plan.cost < best->cost)
      best = plan;
  }
  return best;
}

/// The only user, through reshapes, if it is a transposing copy.
linalg::GenericOp findTransposingUser(Value result) {
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      result = user->getResult(0);
    else if (getTransposedInput(user) == result)
      return cast<linalg::GenericOp>(user);
    else
      return {};
  }
  return {};
}

/// The contraction that writes the result of the transposing copy `user` instead of
/// its own, or nullopt.
std::optional<Contraction> writeThrough(const Contraction &contraction, linalg::GenericOp user) {
  Contraction changed = contraction;
  auto inputType = cast<RankedTensorType>(user.getDpsInputOperand(0)->get().getType());
  auto resultType = cast<RankedTensorType>(user.getResult(0).getType());
  FailureOr<SmallVector<Coordinate>> coordinates = alignLoops(changed, kC, inputType.getShape());
  if (failed(coordinates) || resultType.getNumElements() != inputType.getNumElements())
    return std::nullopt;
  // Strides of the copy's result along each of its loops.
  AffineMap inputMap = user.getMatchingIndexingMap(user.getDpsInputOperand(0));
  AffineMap resultMap = user.getMatchingIndexingMap(user.getDpsInitOperand(0));
  SmallVector<int64_t> byLoop(user.getNumLoops(), 0);
  for (auto [expr, stride] :
       llvm::zip_equal(resultMap.getResults(), computeStrides(resultType.getShape())))
    byLoop[cast<AffineDimExpr>(expr).getPosition()] = stride;
  for (auto [loop, at] : llvm::zip_equal(changed.loops, *coordinates)) {
    if (at.dim < 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(inputMap.getResult(at.dim));
    if (!dim)
      return std::nullopt;
    loop.strides[kC] = at.factor * byLoop[dim.getPosition()];
  }
  changed.base[kC] = user.getResult(0);
  return changed;
}

/// Writes the result in the order of the transposing copies that follow it, if that costs less than
/// copying.
void absorbTranspositions(Plan &plan, Contraction contraction, Value result,
                          ContractionCosts costs) {
  while (linalg::GenericOp user = findTransposingUser(result)) {
    std::optional<Contraction> changed = writeThrough(contraction, user);
    if (!changed)
      return;
    std::optional<Plan> direct = findPlan(*changed, costs);
    result = user.getResult(0);
    double copying = costs.copy(cast<RankedTensorType>(result.getType()).getNumElements());
    if (!direct || direct->cost > plan.cost + copying)
      return;
    plan = *direct;
    plan.absorbed = user;
    contraction = *changed;
  }
}

/// `narrow`: the type of the factors, if they are not to be widened.
std::optional<Plan> planContraction(linalg::GenericOp op, Type narrow, ContractionCosts costs) {
  FailureOr<Contraction> read = readContraction(op);
  if (failed(read))
    return std::nullopt;
  int64_t elements = 1;
  for (const Loop &loop : read->loops)
    elements *= loop.extent;
  if (elements < 512)
    return std::nullopt;
  bool isZero = isZeroInit(op.getDpsInitOperand(0)->get());
  Operation *rounding = isZero ? findRounding(op.getResult(0), narrow) : nullptr;
  if (rounding)
    read->base[kC] = rounding->getResult(0);
  Contraction contraction = *read;
  lookThroughCopies(contraction, kA);
  lookThroughCopies(contraction, kB);
  std::optional<Plan> plan = findPlan(contraction, costs);
  if (!plan) {
    contraction = *read;
    plan = findPlan(contraction, costs);
  }
  if (!plan)
    return std::nullopt;
  plan->absorbed = rounding;
  if (isZero)
    absorbTranspositions(*plan, contraction, rounding ? rounding->getResult(0) : op.getResult(0),
                         costs);
  if (costs.prefersNest(plan->form, plan->cost, elements))
    return std::nullopt;
  return plan;
}

/// An elementwise widening of the whole tensor.
Value widen(OpBuilder &builder, Location loc, Value value, Type elementType) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), elementType);
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, TypeRange{empty.getType()}, ValueRange{value},
                                   ValueRange{empty}, maps, iterators,
                                   [&](OpBuilder &b, Location loc, ValueRange args) {
                                     Value wide =
                                         arith::ExtFOp::create(b, loc, elementType, args[0]);
                                     linalg::YieldOp::create(b, loc, wide);
                                   })
      .getResult(0);
}

void emitGemm(RewriterBase &rewriter, linalg::GenericOp op, Plan &plan, Type narrow) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Contraction &contraction = plan.contraction;
  auto type = cast<RankedTensorType>(contraction.base[kC].getType());
  Type factor = narrow ? narrow : type.getElementType();
  for (Operand operand : {kA, kB}) {
    if (plan.pack[operand])
      (void)packOperand(rewriter, loc, contraction, operand, factor, /*emit=*/true);
    else
      contraction.base[operand] = widen(rewriter, loc, contraction.base[operand], factor);
  }
  Value init = op.getDpsInitOperand(0)->get();
  bool accumulate = !isZeroInit(init);
  if (!accumulate)
    init = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  const GemmForm &form = plan.form;
  Value a = contraction.base[form.swapped ? kB : kA], b = contraction.base[form.swapped ? kA : kB];
  auto unit = [&](bool set) { return set ? rewriter.getUnitAttr() : UnitAttr(); };
  auto list = [&](ArrayRef<int64_t> values) { return rewriter.getDenseI64ArrayAttr(values); };
  auto gemm =
      GemmOp::create(rewriter, loc, type, a, b, init, op->getAttrOfType<StringAttr>(kPrecisionAttr),
                     list({form.m, form.n, form.k}), list({form.lda, form.ldb, form.ldc}),
                     unit(form.transA), unit(form.transB), unit(accumulate), list(form.batchSizes),
                     list(form.batchStridesA), list(form.batchStridesB), list(form.batchStridesC));
  rewriter.replaceOp(plan.absorbed ? plan.absorbed : op.getOperation(), gemm);
}

struct LowerContractionsPass : public impl::LowerContractionsPassBase<LowerContractionsPass> {
  using LowerContractionsPassBase::LowerContractionsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<CollDialect, arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (narrow)
      moveConversions(rewriter, findConversions(getOperation()));
    SmallVector<linalg::GenericOp> contractions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && isMultiplyAdd(op))
        contractions.push_back(op);
    });
    for (linalg::GenericOp op : contractions) {
      Type factor = narrow ? getNarrowFactor(op) : Type();
      std::optional<Plan> plan = planContraction(op, factor, {narrow});
      if (plan)
        emitGemm(rewriter, op, *plan, factor);
    }
    eraseUnused(getOperation()); // operations that were looked through often are
  }
};

} // namespace
} // namespace mlir::coll
