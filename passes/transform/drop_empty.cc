//===- drop_empty.cc - drops tensors without elements ----------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_DROPEMPTYPASS
#include "passes/passes.h.inc"

namespace {

bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

class DropEmptyPass : public impl::DropEmptyPassBase<DropEmptyPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    // Users before producers, so that one walk removes whole chains.
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (isa<tensor::EmptyOp, arith::ConstantOp>(op) ||
          isa_and_present<StartOp>(op->getParentOp()))
        return;
      if (auto loops = dyn_cast<linalg::LinalgOp>(op);
          loops && loops.hasPureTensorSemantics() &&
          llvm::is_contained(loops.getStaticLoopRanges(), 0))
        op->replaceAllUsesWith(loops.getDpsInits());
      if (auto accumulate = dyn_cast<AccumulateOp>(op);
          accumulate && isEmpty(accumulate.getUpdates()))
        op->replaceAllUsesWith(ValueRange(accumulate.getOperand()));
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(op); insert && isEmpty(insert.getSource()))
        op->replaceAllUsesWith(ValueRange(insert.getDest()));
      for (OpResult result : op->getResults())
        if (isEmpty(result) && !result.use_empty())
          replace(result);
      if (isOpTriviallyDead(op) && op->getNumResults() > 0)
        op->erase();
    });
  }

private:
  void replace(OpResult result) {
    OpBuilder builder(result.getOwner());
    auto type = cast<RankedTensorType>(result.getType());
    auto empty = tensor::EmptyOp::create(builder, result.getLoc(), type.getShape(),
                                         type.getElementType(), type.getEncoding());
    result.replaceAllUsesWith(empty.getResult());
  }
};

} // namespace
} // namespace mlir::coll
