//===- op_work.h - what one operation of a step computes ----------------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_OP_WORK_H
#define COLL_PASSES_ANALYSIS_OP_WORK_H

#include "dialect/dialect.h"
#include "plan/cost_model.h"

namespace mlir::coll {

/// The bytes of a tensor of static shape; 0 of other types.
int64_t getStaticBytes(Type type);

/// How often `op` runs in one call of its function; nullopt if a loop around it is of unknown
/// length.
std::optional<int64_t> getTripCount(Operation *op);

/// The work of one call of an operation, without its regions, as if kernels were fused already:
/// an operation that is computed in its user's loop starts no kernel, and its result is never in
/// memory.
::coll::plan::Work getOwnWork(Operation *op);

/// The same, including the operation's regions, as often as they run.
::coll::plan::Work getWork(Operation *op);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_OP_WORK_H
