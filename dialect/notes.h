//===- notes.h - attributes that say why ------------------------------*- C++ -*-===//
//
// Discardable attributes that do not change results. Passes write them, except for the one that the
// user writes, and reports read them.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_NOTES_H
#define COLL_DIALECT_NOTES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir {
class Operation;
}

namespace mlir::coll {

/// On a coll.reshard and the collectives that it becomes, a dictionary: `from` and `to`, the
/// shardings; `uses`, an array of dictionaries with `op`, `loc` and `needs`; `bound_bytes`, what an
/// average rank sends in every plan; `runner_up`, `runner_up_bytes` and `why_not` where there was
/// another way; `avoid`, the annotation that would make a gather that repeats work unnecessary.
inline constexpr llvm::StringLiteral kCauseAttr = "coll.cause";

/// On a collective into which several tensors were packed, an array of a dictionary for each:
/// `type`, `loc`, and coll.why and coll.cause as the tensor's own collective had them.
inline constexpr llvm::StringLiteral kTensorsAttr = "coll.tensors";

/// On an operation whose split was a choice, a dictionary: `chosen` and `other` with `_bytes` that
/// a rank sends and `_work`, its work as bytes that are sent in the same time.
inline constexpr llvm::StringLiteral kDecisionAttr = "coll.decision";

/// On a module whose programs are the stages of a pipeline, a dictionary: `schedule`, its name;
/// `micro_batches`; `in_flight`, the bound of transfers between two chunks, or 0; `order`, the
/// entries of each stage as in a table file (plan/schedule/schedule.h); `chunks`, for each the
/// predicted microseconds of a forward pass, of input gradients and of weight gradients, and the
/// bytes that it keeps of a micro-batch; `ranks`, for each stage its operations, bytes of state and
/// bytes sent for a micro-batch; `transfers`, each with the stages from and to, the tag of
/// micro-batch 0, work and chunk of the entry that makes the value and of the one that reads it,
/// and bytes.
inline constexpr llvm::StringLiteral kPipelineAttr = "coll.pipeline";

/// Written by the user on an operation: the number of the pipeline stage that the operation and its
/// regions belong to (coll-split-stages).
inline constexpr llvm::StringLiteral kStageAttr = "coll.stage";

/// Why `op` is there, for people: its coll.why, then from coll.cause the other way that was
/// considered, why it was not taken, and the annotation that makes the operation unnecessary. May
/// be empty.
std::string describeWhy(Operation *op);

} // namespace mlir::coll

#endif // COLL_DIALECT_NOTES_H
