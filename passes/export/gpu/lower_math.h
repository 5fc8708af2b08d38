//===- lower_math.h - functions that a GPU has no instruction for ------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_LOWER_MATH_H
#define COLL_PASSES_EXPORT_GPU_LOWER_MATH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::coll {

/// Whether this is a tanh in f32 whose result is rounded to bf16. It stays as it is until
/// lowerMath(), as GPUs have an instruction that is exact enough for it.
bool isRoundedTanh(Operation *op);

/// Replaces operations of the math dialect that LLVM has no code for: calls of libdevice, if it is
/// there, else approximations for f32. Reports an error at an operation that has neither.
LogicalResult lowerMath(gpu::GPUModuleOp code, bool hasLibdevice);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_LOWER_MATH_H
