//===- split.h - units of compilation -----------------------------*- C++ -*-===//
//
// Cuts an executable into modules that can be compiled side by side: shards of
// kernels, which the rank classes share, and one module of driver functions and
// constants per class. Large constants stand beside them, once however many modules read them.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_JIT_SPLIT_H
#define COLL_PASSES_EXPORT_JIT_SPLIT_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/export/jit/object_code.h"

#include <string>
#include <vector>

namespace mlir::coll {

struct JitClass {
  OwningOpRef<ModuleOp> driver;
  std::string descriptor;
  bool hasInit = false;
  std::string gpuImage, gpuKernels, constants; // as in ObjectCode
};

/// A constant that modules declare without its value.
struct JitConstant {
  std::string name;
  DenseElementsAttr value;
};

struct JitUnits {
  std::vector<OwningOpRef<ModuleOp>> kernels;
  std::vector<JitClass> classes;
  std::vector<JitConstant> constants;
};

struct SplitOptions {
  unsigned shards = 1;         // at most as many modules of kernels, of about equal size
  bool takesConstants = false; // large constants stay out of the modules
};

/// Fails without a diagnostic if `executable` holds no rank class.
FailureOr<JitUnits> splitForJit(ModuleOp executable, const SplitOptions &options);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_JIT_SPLIT_H
