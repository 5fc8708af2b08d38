//===- prepare_buffers.h - a bufferized kernel, simple enough to launch -*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_PREPARE_BUFFERS_H
#define COLL_PASSES_EXPORT_GPU_PREPARE_BUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// Buffers are no longer carried by loops or yielded by branches, copies and reads of constant
/// buffers are linalg operations, and arithmetic is in types that a GPU has.
LogicalResult prepareBuffers(func::FuncOp kernel);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_PREPARE_BUFFERS_H
