//===- fuse_updates.cc - updates of small parameters side by side ----------------===//
//
// An optimizer updates each bias and each scale by a kernel of its own, which takes a GPU longer to
// start than to run. Nothing reads such results within the step, so that all can run at its end.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/kernels/fuse_rows.h"
#include "passes/export/kernels/kernel_set.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_FUSEUPDATESPASS
#include "passes/passes.h.inc"

namespace {

// A larger tensor fills a GPU alone, and its gradient would live for longer.
constexpr int64_t kMaxElements = 1 << 18;
constexpr unsigned kMaxCalls = 16, kMaxOperands = 256;

/// Whether only the end of the function reads the value.
bool isOnlyReturned(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return isOnlyReturned(user->getResult(0));
    return isa<func::ReturnOp>(user);
  });
}

/// Whether each element of each result is written once, from nothing that was there.
bool isElementwise(linalg::GenericOp op) {
  int64_t elements = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    elements *= extent;
  return elements <= kMaxElements && op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.getMatchingIndexingMap(&init).isPermutation() &&
                  !op.payloadUsesValueFromOperand(&init);
         });
}

struct FuseUpdatesPass : public impl::FuseUpdatesPassBase<FuseUpdatesPass> {
  void runOnOperation() override {
    visitFunctions(getOperation(), "updates_", [&](func::FuncOp function, KernelSet &kernels) {
      fuse(function.getBody().front(), kernels);
    });
    eraseUnusedKernels(getOperation());
  }

private:
  void fuse(Block &block, KernelSet &kernels) {
    SmallVector<RowGroup> groups;
    unsigned operands = 0;
    for (Operation &op : block) {
      std::optional<RowCall> call = RowCall::find(&op);
      if (!call || !isElementwise(call->op) || !llvm::all_of(op.getResults(), isOnlyReturned))
        continue;
      operands += op.getNumOperands();
      if (groups.empty() || groups.back().calls.size() == kMaxCalls || operands > kMaxOperands) {
        groups.emplace_back();
        operands = op.getNumOperands();
      }
      groups.back().calls.try_emplace(&op, *call);
    }
    for (const RowGroup &group : groups)
      if (group.calls.size() > 1)
        replace(block, group, kernels);
  }

  /// The call is the last operation but for reshapes of what is returned.
  void replace(Block &block, const RowGroup &group, KernelSet &kernels) {
    OpBuilder builder(block.getTerminator());
    SmallVector<RowCall> calls = group.inOrder();
    RowKernel kernel = buildRowKernel(builder, group);
    SmallVector<Location> locations;
    for (const RowCall &call : calls)
      locations.push_back(call.call.getLoc());
    func::FuncOp function = kernels.add(kernel.function);
    auto fused =
        func::CallOp::create(builder, builder.getFusedLoc(locations), function, kernel.operands);
    for (auto [old, result] : llvm::zip_equal(kernel.results, fused.getResults()))
      replaceReturned(old, result, block.getTerminator());
    for (const RowCall &call : calls) {
      // Two destinations may be one tensor.
      const SetVector<Value> operands(call.call.getOperands().begin(),
                                      call.call.getOperands().end());
      call.call.erase();
      for (Value operand : operands)
        if (auto empty = operand.getDefiningOp<tensor::EmptyOp>(); empty && empty->use_empty())
          empty.erase();
    }
  }

  /// Reshapes of the old value move behind the new one.
  void replaceReturned(Value old, Value result, Operation *end) {
    for (Operation *user : llvm::make_early_inc_range(old.getUsers()))
      moveReshapes(user, end);
    old.replaceAllUsesWith(result);
  }

  void moveReshapes(Operation *op, Operation *end) {
    if (op == end)
      return;
    op->moveBefore(end);
    for (Operation *user : op->getUsers())
      moveReshapes(user, end);
  }
};

} // namespace
} // namespace mlir::coll
