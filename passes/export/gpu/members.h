//===- members.h - kernels on the memory of a group's members ----------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_MEMBERS_H
#define COLL_PASSES_EXPORT_GPU_MEMBERS_H

#include "dialect/exec/exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::coll {

/// Gives the launches of `kernel`, whose functions are in `code`, the addresses of the members,
/// which become its last arguments: what is loaded from one argument is summed up over them, and
/// what is stored to the other goes to all. Floats narrower than f32 are summed up in f32 and
/// rounded once.
LogicalResult addMembers(func::FuncOp kernel, gpu::GPUModuleOp code, const exec::Members &members);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_MEMBERS_H
