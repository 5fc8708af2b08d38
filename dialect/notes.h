//===- notes.h - attributes that say why ------------------------------*- C++ -*-===//
//
// Discardable attributes that change nothing: passes write them, reports read them.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_NOTES_H
#define COLL_DIALECT_NOTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::coll {

/// On a coll.reshard and the collectives that it becomes, a dictionary: `from` and `to`, the
/// shardings; `uses`, an array of dictionaries with `op`, `loc` and `needs`; `bound_bytes`, what an
/// average rank sends in every plan; `runner_up`, `runner_up_bytes` and `why_not` where there was
/// another way; `avoid`, what annotation would make a gather needless that repeats work.
inline constexpr llvm::StringLiteral kCauseAttr = "coll.cause";

/// On an operation whose split was a choice, a dictionary: `chosen` and `other` with `_bytes` that
/// a rank sends and `_work`, its work as bytes that are sent in the same time.
inline constexpr llvm::StringLiteral kDecisionAttr = "coll.decision";

} // namespace mlir::coll

#endif // COLL_DIALECT_NOTES_H
