//===- emit_ptx.h - from gpu.func to PTX text --------------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_EMIT_PTX_H
#define COLL_PASSES_EXPORT_GPU_EMIT_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace mlir::coll {

/// gpu.func and all that is in it to the LLVM dialect, with bare pointers as parameters. Math
/// functions have to be calls by then.
LogicalResult lowerToNvvm(gpu::GPUModuleOp code);

/// Optimises the module, with the functions of `libdevice` (bitcode, or empty) that it calls, and
/// generates the PTX for `chip`.
llvm::Expected<std::string> compileToPtx(llvm::Module &module, llvm::StringRef libdevice,
                                         llvm::StringRef chip);

/// The oldest PTX version that knows the chip, such as 80; 0 if the chip is not supported.
unsigned getPtxVersion(llvm::StringRef chip);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_EMIT_PTX_H
