//===- members.cc - kernels on the memory of a group's members -------------------===//

#include "passes/export/gpu/members.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/export/gpu/launch.h"

namespace mlir::coll {
namespace {

/// One function of GPU code, and the memory that one of its parameters stands for.
class MemberAccess {
public:
  MemberAccess(gpu::GPUFuncOp function, Value parameter)
      : function(function), parameter(parameter) {}

  /// Appends the parameters for the members' memory.
  void addParameters(int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
      unsigned last = function.getNumArguments();
      (void)function.insertArgument(last, parameter.getType(), {}, parameter.getLoc());
      members.push_back(function.getArgument(last));
    }
  }

  LogicalResult sumLoads() {
    return rewrite([&](Operation *op) {
      if (!isa<memref::LoadOp, vector::LoadOp>(op))
        return failure();
      op->getResult(0).replaceAllUsesWith(sum(op));
      op->erase();
      return success();
    });
  }

  LogicalResult copyStores() {
    return rewrite([&](Operation *op) {
      if (!isa<memref::StoreOp, vector::StoreOp>(op))
        return failure();
      for (unsigned i = 0; i < members.size(); ++i)
        cloneAt(op, i);
      op->erase();
      return success();
    });
  }

private:
  /// Calls `change` for each access to the parameter's memory.
  LogicalResult rewrite(function_ref<LogicalResult(Operation *)> change) {
    SmallVector<Operation *> accesses;
    function.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!isa<ViewLikeOpInterface>(op) && isa<MemRefType>(operand.getType()) &&
            getRootBuffer(operand) == parameter)
          return accesses.push_back(op);
    });
    for (Operation *op : accesses)
      if (failed(change(op)))
        return op->emitOpError("cannot be done on the memory of all members of a group");
    return success();
  }

  /// The same part of the member's memory as `view` is of the parameter's.
  Value viewAt(Value view, unsigned member) {
    if (view == parameter)
      return members[member];
    auto [it, isNew] = views.try_emplace({view, member});
    if (!isNew)
      return it->second;
    Operation *def = view.getDefiningOp();
    Value source = cast<ViewLikeOpInterface>(def).getViewSource();
    IRMapping mapping;
    mapping.map(source, viewAt(source, member));
    OpBuilder b(function.getContext());
    b.setInsertionPointAfter(def);
    return views[{view, member}] = b.clone(*def, mapping)->getResult(0);
  }

  Operation *cloneAt(Operation *op, unsigned member) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()))
        mapping.map(operand, viewAt(operand, member));
    return OpBuilder(op).clone(*op, mapping);
  }

  Value sum(Operation *load) {
    ImplicitLocOpBuilder b(load->getLoc(), load);
    Type type = load->getResult(0).getType(), wide = type;
    if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 32) {
      wide = b.getF32Type();
      if (auto vector = dyn_cast<VectorType>(type))
        wide = vector.clone(b.getF32Type());
    }
    Value sum;
    for (unsigned i = 0; i < members.size(); ++i) {
      Value term = cloneAt(load, i)->getResult(0);
      if (wide != type)
        term = arith::ExtFOp::create(b, wide, term);
      sum = sum ? arith::AddFOp::create(b, sum, term).getResult() : term;
    }
    return wide == type ? sum : arith::TruncFOp::create(b, type, sum).getResult();
  }

  gpu::GPUFuncOp function;
  Value parameter;
  SmallVector<Value> members;
  llvm::DenseMap<std::pair<Value, unsigned>, Value> views;
};

/// Appends arguments for the members' memory to the kernel; returns them.
SmallVector<Value> addArguments(func::FuncOp kernel, Value argument, int64_t size) {
  SmallVector<Value> added;
  for (int64_t i = 0; i < size; ++i)
    added.push_back(kernel.getBody().front().addArgument(argument.getType(), argument.getLoc()));
  kernel.setType(
      FunctionType::get(kernel.getContext(), kernel.getBody().front().getArgumentTypes(), {}));
  return added;
}

} // namespace

LogicalResult addMembers(func::FuncOp kernel, gpu::GPUModuleOp code, const exec::Members &members) {
  for (int64_t number : {members.sums, members.copies}) {
    Value argument = kernel.getArgument(number);
    SmallVector<Value> addresses = addArguments(kernel, argument, members.size);
    for (auto launch : kernel.getOps<gpu::LaunchFuncOp>()) {
      auto operands = launch.getKernelOperands();
      auto it = llvm::find(operands, argument);
      if (it == operands.end())
        continue;
      auto function = code.lookupSymbol<gpu::GPUFuncOp>(launch.getKernelName());
      MemberAccess access(function, function.getArgument(it - operands.begin()));
      access.addParameters(members.size);
      launch.getKernelOperandsMutable().append(addresses);
      if (failed(number == members.sums ? access.sumLoads() : access.copyStores()))
        return failure();
    }
  }
  return success();
}

} // namespace mlir::coll
