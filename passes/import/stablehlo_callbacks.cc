//===- stablehlo_callbacks.cc - calls from a step to Python -----------------------===//

#include "passes/import/stablehlo_callbacks.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

bool isPythonCallback(Operation *op) {
  if (op->getName().getStringRef() != "stablehlo.custom_call")
    return false;
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  // xla_ffi_python_cpu_callback, xla_python_gpu_callback, xla_ffi_partitioned_python_cpu_callback,
  // …
  return target && target.getValue().contains("python") && target.getValue().contains("callback");
}

bool isDroppableCallback(Operation *op) { return op->getNumResults() == 0 && isPythonCallback(op); }

static bool onlyReturns(Region &region) {
  return llvm::hasSingleElement(region) && llvm::hasSingleElement(region.front());
}

static bool callsPython(Region &region) {
  return region
      .walk([](Operation *op) {
        return isPythonCallback(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Region *findBranchWithoutError(Operation *op) {
  if (op->getName().getStringRef() != "stablehlo.case" || op->getNumRegions() != 2)
    return nullptr;
  for (unsigned i : {0u, 1u})
    if (onlyReturns(op->getRegion(i)) && callsPython(op->getRegion(1 - i)))
      return &op->getRegion(i);
  return nullptr;
}

} // namespace mlir::coll::stablehlo
