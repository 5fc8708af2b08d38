//===- check_drivers.cc ----------------------------------------------------------===//

#include "passes/export/exec/check_drivers.h"

#include "dialect/dialect.h"

using namespace mlir;
using namespace mlir::coll;

/// Buffers are planned by size, so sizes have to be known.
static bool hasSize(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return !tensor || (isa<RankedTensorType>(tensor) && tensor.hasStaticShape() &&
                     tensor.getElementType().isIntOrIndexOrFloat());
}

static LogicalResult checkSizes(Operation *op, TypeRange types, StringRef what) {
  for (auto [index, type] : llvm::enumerate(types))
    if (!hasSize(type))
      return op->emitError() << what << " " << index << " is a " << type
                             << ", whose size in memory is not known";
  return success();
}

/// The caller has whole tensors, of which each rank gets a block; it cannot pass partial
/// contributions.
static LogicalResult checkWhole(func::FuncOp func) {
  auto isPartial = [](ShardingAttr sharding) { return sharding && sharding.isPartial(); };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (isPartial(func.getArgAttrOfType<ShardingAttr>(i, kShardingAttr)))
      return func.emitError() << "argument " << i
                              << " is partial, but what each rank contributes is not known";
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (isPartial(func.getResultAttrOfType<ShardingAttr>(i, kShardingAttr)))
      return func.emitError() << "result " << i << " is partial: it must be combined";
  return success();
}

static LogicalResult checkDriver(func::FuncOp func) {
  if (failed(checkSizes(func, func.getArgumentTypes(), "argument")) || failed(checkWhole(func)))
    return failure();
  WalkResult result = func.walk(
      [](Operation *op) { return WalkResult(checkSizes(op, op->getResultTypes(), "result")); });
  return failure(result.wasInterrupted());
}

static SmallVector<Type> stateTypes(func::FuncOp step) {
  SmallVector<Type> types;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    auto role = step.getArgAttrOfType<StringAttr>(i, kRoleAttr);
    if (role && role.getValue() == kRoleState)
      types.push_back(step.getArgumentTypes()[i]);
  }
  return types;
}

LogicalResult mlir::coll::checkDrivers(func::FuncOp step, func::FuncOp init) {
  if (failed(checkDriver(step)))
    return failure();
  if (!init)
    return success();
  if (failed(checkDriver(init)))
    return failure();
  SmallVector<Type> state = stateTypes(step);
  if (init.getArgumentTypes() == ArrayRef<Type>(state) &&
      init.getResultTypes() == ArrayRef<Type>(state))
    return success();
  return init.emitError() << "must take and return the " << state.size()
                          << " state arguments of @step, in order";
}
