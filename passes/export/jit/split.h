//===- split.h - units of compilation -----------------------------*- C++ -*-===//
//
// Cuts an executable into modules that can be compiled side by side: shards of
// kernels, which the rank classes share, and one module of driver functions and
// constants per class.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_JIT_SPLIT_H
#define COLL_PASSES_EXPORT_JIT_SPLIT_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::coll {

struct JitClass {
  OwningOpRef<ModuleOp> driver;
  std::string descriptor;
  bool hasInit = false;
  std::string gpuImage, gpuKernels, constants; // as in ObjectCode
};

struct JitUnits {
  std::vector<OwningOpRef<ModuleOp>> kernels;
  std::vector<JitClass> classes;
};

/// Kernels go to at most `shards` modules of about equal size. Fails without a diagnostic if
/// `executable` holds no rank class.
FailureOr<JitUnits> splitForJit(ModuleOp executable, unsigned shards);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_JIT_SPLIT_H
