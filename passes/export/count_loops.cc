//===- count_loops.cc - while loops with a known number of iterations ------------===//
//
//   %r:2 = scf.while (%i = 0, %x = %init) { condition(extract(%i < 3)) } do { …; yield %i + 1, … }
//   => %r = scf.for %n = 0 to 3 iter_args(%x = %init) { …; yield … }
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/analysis/loop_count.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_COUNTLOOPSPASS
#include "passes/passes.h.inc"

namespace {

class LoopCounter {
public:
  LoopCounter(scf::WhileOp loop, const LoopCount &counter)
      : loop(loop), counter(counter), b(loop) {}

  void replace() {
    Location loc = loop.getLoc();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    auto counted =
        scf::ForOp::create(b, loc, number(0), number(counter.trips), number(1), loop.getInits());
    counted->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    b.setInsertionPointToStart(counted.getBody());
    number_ = counted.getInductionVar();
    IRMapping mapping;
    mapping.map(loop.getAfterArguments(), counted.getRegionIterArgs());
    for (Operation &op : *loop.getAfterBody())
      b.clone(op, mapping);
    arg_ = counted.getRegionIterArgs()[counter.index];
    readOnHost(counted);
    dropCounter(counted);
    b.setInsertionPointAfter(counted);
    loop->replaceAllUsesWith(counted);
    auto type = cast<RankedTensorType>(arg_.getType());
    Value last = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(type, APInt(type.getElementTypeBitWidth(),
                                           counter.start + counter.trips * counter.step,
                                           /*isSigned=*/true)));
    counted.getResult(counter.index).replaceAllUsesWith(last);
    loop.erase();
  }

private:
  /// Whether the tensor of one element is computed from the counter and constants.
  bool isCounted(Value value, unsigned depth = 8) {
    if (value == arg_ || getConstantNumber(value))
      return true;
    Operation *def = value.getDefiningOp();
    bool isScalar = def && depth > 0 && isa_and_nonnull<arith::ArithDialect>(def->getDialect()) &&
                    OpTrait::hasElementwiseMappableTraits(def) && def->getNumResults() == 1;
    return isScalar && llvm::all_of(def->getOperands(), [&](Value operand) {
             auto type = dyn_cast<RankedTensorType>(operand.getType());
             return type && type.getRank() == 0 && isCounted(operand, depth - 1);
           });
  }

  /// Its element.
  Value emitElement(Value value) {
    auto type = cast<RankedTensorType>(value.getType()).getElementType();
    Location loc = loop.getLoc();
    auto constant = [&](int64_t number) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, number));
    };
    if (value == arg_) {
      Value steps = arith::IndexCastOp::create(b, loc, type, number_);
      steps = arith::MulIOp::create(b, loc, steps, constant(counter.step));
      return arith::AddIOp::create(b, loc, steps, constant(counter.start));
    }
    if (std::optional<int64_t> number = getConstantNumber(value))
      return constant(*number);
    Operation *def = value.getDefiningOp();
    SmallVector<Value> operands;
    for (Value operand : def->getOperands())
      operands.push_back(emitElement(operand));
    return b.create(loc, def->getName().getIdentifier(), operands, type, def->getAttrs())
        ->getResult(0);
  }

  /// The host computes elements that depend on the counter only.
  void readOnHost(scf::ForOp counted) {
    SmallVector<tensor::ExtractOp> extracts;
    counted.walk([&](tensor::ExtractOp op) {
      if (op.getIndices().empty() && isCounted(op.getTensor()))
        extracts.push_back(op);
    });
    for (tensor::ExtractOp op : extracts) {
      b.setInsertionPoint(op);
      op.replaceAllUsesWith(emitElement(op.getTensor()));
      op.erase();
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*counted.getBody())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// A counter that is only counted stays as it is, so that it can be removed as unused.
  void dropCounter(scf::ForOp counted) {
    Operation *yield = counted.getBody()->getTerminator();
    Operation *next = yield->getOperand(counter.index).getDefiningOp();
    bool onlyCounts = arg_.hasOneUse() && *arg_.user_begin() == next && next->hasOneUse();
    if (onlyCounts)
      yield->setOperand(counter.index, arg_);
  }

  scf::WhileOp loop;
  LoopCount counter;
  OpBuilder b;
  Value number_, arg_; // inside of the new loop
};

struct CountLoopsPass : public impl::CountLoopsPassBase<CountLoopsPass> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::WhileOp, LoopCount>> loops;
    getOperation().walk([&](scf::WhileOp loop) {
      bool isPure = llvm::all_of(loop.getBeforeBody()->without_terminator(),
                                 [](Operation &op) { return isMemoryEffectFree(&op); });
      if (std::optional<LoopCount> counter = isPure ? findLoopCount(loop) : std::nullopt)
        loops.push_back({loop, *counter});
    });
    for (auto &[loop, counter] : loops)
      LoopCounter(loop, counter).replace();
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace mlir::coll
