//===- emit_rows.h - several operations along rows as one launch -------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_GPU_EMIT_ROWS_H
#define COLL_PASSES_EXPORT_GPU_EMIT_ROWS_H

#include "passes/export/gpu/nest.h"
#include "passes/export/kernels/row_form.h"

namespace mlir::coll {

/// Operations that see the same rows × columns (row_form.h), in their order.
struct RowNests {
  int64_t rows, columns;
  std::vector<Nest> nests;
};

/// Emits them as one launch before the last one: threads share a row, and what an operation makes
/// for a later one is in registers. Elements are computed again wherever they are needed. Returns
/// false, having emitted nothing, if an operation has another form; each is then a launch.
bool emitRows(func::FuncOp kernel, gpu::GPUModuleOp code, const RowNests &group);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_GPU_EMIT_ROWS_H
