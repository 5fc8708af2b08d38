//===- emit_executable_kernels.h - kernels from tensors to LLVM -------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EMIT_EXECUTABLE_KERNELS_H
#define COLL_PASSES_EXPORT_EMIT_EXECUTABLE_KERNELS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/export/exec/plan_buffers.h"

namespace mlir::coll {

/// Rewrites a tensor kernel to loops over memrefs: destinations become out
/// arguments, and temporaries the stack or a last argument of `scratchBytes` bytes, which
/// is recorded in `info`. The kernel must be in a module, where its constants go.
LogicalResult bufferizeKernel(func::FuncOp kernel, KernelInfo &info);

/// The first part of bufferizeKernel: linalg operations and loops on buffers. Destinations are
/// arguments, temporaries allocations.
LogicalResult bufferizeToLinalg(func::FuncOp kernel, const KernelInfo &info);

/// Its last part: booleans and i4 in memory take a byte; LLVM packs vectors of them.
void widenParts(FunctionOpInterface kernel);

/// f16, bf16 and the eight-bit floats: storage types, computed with in f32.
bool isNarrowFloat(Type type);

/// Lets reductions of narrow tensors accumulate in f32. Part of bufferizeKernel.
void accumulateInF32(func::FuncOp kernel);

/// An argument of a kernel, and the destination in whose memory it is: argument numbers.
using ReusedArgument = std::pair<unsigned, unsigned>;

/// Name of the variant of a kernel in which these arguments are destinations.
std::string getInPlaceName(StringRef kernel, ArrayRef<ReusedArgument> reused);

/// The variant of a bufferized kernel in which each listed argument is the destination, and so no
/// longer an argument. Made at the first request.
func::FuncOp getInPlaceKernel(func::FuncOp kernel, ArrayRef<ReusedArgument> reused);

/// Makes integer divisions that would trap divide by 1 instead.
void guardDivisions(func::FuncOp function);

/// Arithmetic on narrow floats is done in f32, and conversions to and from eight-bit floats become
/// integer arithmetic. The first part of expandKernelArithmetic.
void computeNarrowInF32(func::FuncOp kernel);

/// Rewrites operations that LLVM does not compute well: transcendental functions become
/// vectorisable arithmetic, bf16 arithmetic becomes f32 arithmetic.
LogicalResult expandKernelArithmetic(func::FuncOp kernel);

/// From loops over memrefs to the LLVM dialect, with bare pointer arguments.
void buildLowerToLLVMPipeline(OpPassManager &pm);

/// Marks the pointer arguments of a lowered kernel: aligned, not aliased.
void annotateKernel(LLVM::LLVMFuncOp kernel);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EMIT_EXECUTABLE_KERNELS_H
