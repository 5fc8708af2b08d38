//===- emit_nests.h - launches of linalg operations --------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_EMIT_NESTS_H
#define COLL_PASSES_EXPORT_GPU_EMIT_NESTS_H

#include "passes/export/gpu/nest.h"

namespace mlir::coll {

/// Emits the launches of a nest before its operation: a thread for a few elements without a
/// reduction, else as emitReduction does.
void emitNest(func::FuncOp kernel, gpu::GPUModuleOp code, const Nest &nest);

/// One launch of independent nests without reductions, before the last one: each has blocks of its
/// own.
void emitSideBySide(func::FuncOp kernel, gpu::GPUModuleOp code, ArrayRef<Nest> nests);

/// Launches of a nest with reduction loops. Where neighbouring elements of the inputs belong to one
/// output, neighbouring threads share an output and combine their accumulators through shuffles and
/// shared memory; else each thread has an output of its own. If there are few outputs, the
/// reduction is cut into parts, whose results a second launch combines. The order depends on the
/// shapes only.
void emitReduction(func::FuncOp kernel, gpu::GPUModuleOp code, const Nest &nest);

/// Launches an operation that is not such a nest: a loop or a store. Loops whose iterations write
/// different elements run in different threads, all others within a thread. Where such loops are
/// few and all accesses are at one computed position, threads share the positions: each runs all
/// iterations and does what concerns its own, so that the order of updates stays.
void emitLoops(func::FuncOp kernel, gpu::GPUModuleOp code, Operation *op);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_EMIT_NESTS_H
