//===- fuse_rows.cc - kernels along rows become one ------------------------------===//
//
// Invariant: a group's calls could run one after the other where the last one stands.
//
//   %m = call @max(%x) -> one value a row %e, %s = call @exp(%x, %m) %p = call @div(%e, %s) => %p =
//   call @rows_0(%x) %e, %m and %s are no longer in memory
//
//===----------------------------------------------------------------------------===//

#include "passes/export/kernels/fuse_rows.h"

#include "dialect/attention.h"
#include "dialect/convolution.h"
#include "dialect/epilogue.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/export/kernels/kernel_set.h"
#include "passes/passes.h"

#include "llvm/ADT/StringSet.h"

namespace mlir::coll {

#define GEN_PASS_DEF_FUSEROWSPASS
#include "passes/passes.h.inc"

namespace {

// One thread or a few share a row, so that few long rows do not fill a GPU. Small tensors never do,
// and for them one kernel less is a gain.
constexpr int64_t kMinRows = 64, kSmall = 1 << 16;
constexpr unsigned kMaxCalls = 16, kMaxOperands = 32;

bool isReshape(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op); }

/// Whether the operation may run later: calls of kernels, reshapes and products; no communication.
bool isMovable(Operation *op) {
  return !op->walk([](Operation *inner) {
              bool isFixed =
                  isa_and_nonnull<CollDialect>(inner->getDialect()) &&
                  !isa<GemmOp, FusedGemmOp, ConvolutionOp, AttentionOp, AttentionGradientOp>(inner);
              return isFixed ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

class RowFuser {
public:
  RowFuser(Block &block, KernelSet &kernels) : block(block), kernels(kernels) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops) {
      std::optional<RowCall> call = done.contains(op) ? std::nullopt : RowCall::find(op);
      if (call)
        if (auto shape = findReducedRows(call->op))
          fuse(*call, shape->first, shape->second);
    }
    for (Operation *op : llvm::reverse(ops))
      if (!done.contains(op) && (isReshape(op) || isa<tensor::EmptyOp>(op)) && op->use_empty())
        op->erase();
  }

private:
  void fuse(const RowCall &seed, int64_t rows, int64_t columns) {
    if ((rows < kMinRows && rows * columns > kSmall) || !seed.hasForm(rows, columns))
      return;
    RowGroup group;
    group.rows = rows, group.columns = columns;
    group.calls.try_emplace(seed.call, seed);
    for (bool grows = true; grows && group.calls.size() < kMaxCalls;) {
      grows = false;
      for (Operation *op : findNeighbours(group))
        if (addCall(group, op))
          grows = true;
    }
    if (group.calls.size() > 1)
      replace(group);
  }

  /// Calls that make what the group reads, or read what it makes.
  SetVector<Operation *> findNeighbours(const RowGroup &group) {
    SetVector<Operation *> found;
    auto add = [&](Operation *op) {
      if (op && op->getBlock() == &block && isa<func::CallOp>(op) && !group.contains(op))
        found.insert(op);
    };
    for (const RowCall &call : group.inOrder()) {
      func::CallOp op = call.call;
      for (Value operand : op.getOperands().take_front(call.numInputs()))
        add(skipReshapes(operand).getDefiningOp());
      for (Value result : op.getResults())
        forEachUser(result, add);
    }
    return found;
  }

  static void forEachUser(Value value, llvm::function_ref<void(Operation *)> visit) {
    for (Operation *user : value.getUsers()) {
      if (isReshape(user))
        forEachUser(user->getResult(0), visit);
      else
        visit(user);
    }
  }

  bool addCall(RowGroup &group, Operation *op) {
    std::optional<RowCall> call = RowCall::find(op);
    if (!call || group.calls.size() == kMaxCalls || !call->hasForm(group.rows, group.columns))
      return false;
    group.calls.try_emplace(op, *call);
    if (hasMatchingAccesses(group) && countOperands(group) <= kMaxOperands &&
        succeeded(findDependents(group)))
      return true;
    group.calls.erase(op);
    return false;
  }

  /// Whether the values that the group computes are read inside it in the way they were computed,
  /// element by element or by row.
  static bool hasMatchingAccesses(const RowGroup &group) {
    for (const auto &[op, call] : group.calls)
      for (unsigned i = 0; i < call.numInputs(); ++i) {
        auto made = dyn_cast<OpResult>(skipReshapes(op->getOperand(i)));
        if (!made || !group.contains(made.getOwner()))
          continue;
        const RowCall &maker = group.calls.find(made.getOwner())->second;
        RowAccess written =
            maker.getResultAccess(made.getResultNumber(), group.rows, group.columns);
        if (call.getInputAccess(i, group.rows, group.columns) != written)
          return false;
      }
    return true;
  }

  static unsigned countOperands(const RowGroup &group) {
    unsigned count = 0;
    for (const auto &entry : group.calls)
      count += entry.first->getNumOperands();
    return count;
  }

  /// Other operations between the first and the last call that depend on the group. Fails if a call
  /// depends on one of them, or one has to stay where it is.
  FailureOr<SetVector<Operation *>> findDependents(const RowGroup &group) {
    SmallVector<RowCall> calls = group.inOrder();
    SetVector<Operation *> dependents;
    auto isDependent = [&](Value value) {
      Operation *def = value.getDefiningOp();
      return def && (dependents.contains(def) || group.contains(def));
    };
    for (Operation *op = calls.front().call; op != calls.back().call; op = op->getNextNode()) {
      if (group.contains(op))
        continue;
      SetVector<Value> used(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), used);
      if (!llvm::any_of(used, isDependent))
        continue;
      if (!isMovable(op))
        return failure();
      dependents.insert(op);
    }
    for (const RowCall &call : calls)
      for (Value operand : call.call->getOperands())
        if (Operation *def = skipReshapes(operand).getDefiningOp(); def && dependents.contains(def))
          return failure();
    return dependents;
  }

  void replace(const RowGroup &group) {
    SmallVector<RowCall> calls = group.inOrder();
    SetVector<Operation *> dependents = *findDependents(group);
    OpBuilder builder(calls.back().call);
    RowKernel kernel = buildRowKernel(builder, group);
    SmallVector<Location> locations;
    for (RowCall call : calls)
      locations.push_back(call.call.getLoc());
    func::FuncOp function = kernels.add(kernel.function);
    auto fused =
        func::CallOp::create(builder, builder.getFusedLoc(locations), function, kernel.operands);
    for (auto [old, result] : llvm::zip_equal(kernel.results, fused.getResults()))
      old.replaceAllUsesWith(result);
    Operation *last = fused;
    for (Operation *op : dependents) {
      op->moveAfter(last);
      last = op;
    }
    eraseCalls(calls);
  }

  /// With the reshapes between them.
  void eraseCalls(ArrayRef<RowCall> calls) {
    for (RowCall call : llvm::reverse(calls)) {
      for (Value result : call.call.getResults())
        eraseReshapes(result);
      done.insert(call.call);
      call.call.erase();
    }
  }

  void eraseReshapes(Value value) {
    for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
      eraseReshapes(user->getResult(0));
      done.insert(user);
      user->erase();
    }
  }

  Block &block;
  KernelSet &kernels;
  DenseSet<Operation *> done; // erased
};

struct FuseRowsPass : public impl::FuseRowsPassBase<FuseRowsPass> {
  void runOnOperation() override {
    visitFunctions(getOperation(), "rows_", [&](func::FuncOp function, KernelSet &kernels) {
      SmallVector<Block *> blocks;
      function.walk([&](Block *block) { blocks.push_back(block); });
      for (Block *block : blocks)
        if (llvm::any_of(*block, llvm::IsaPred<func::CallOp>))
          RowFuser(*block, kernels).run();
    });
    eraseUnusedKernels(getOperation());
  }
};

} // namespace

void eraseUnusedKernels(ModuleOp module) {
  llvm::StringSet<> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  // Arguments of kernels say how they are accessed, but for scalars.
  auto isKernel = [](func::FuncOp function) {
    return llvm::any_of(llvm::seq(function.getNumArguments()),
                        [&](unsigned i) { return function.getArgAttr(i, kAccessAttr) != nullptr; });
  };
  SmallVector<func::FuncOp> unused;
  module.walk([&](func::FuncOp function) {
    if (function.isPrivate() && !called.contains(function.getName()) && isKernel(function))
      unused.push_back(function);
  });
  for (func::FuncOp function : unused)
    function.erase();
}

} // namespace mlir::coll
