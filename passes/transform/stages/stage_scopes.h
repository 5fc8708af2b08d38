//===- stage_scopes.h - named scopes of JAX, from locations -----------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_SCOPES_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_SCOPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Location.h"

#include <set>
#include <string>
#include <vector>

namespace llvm {
class GlobPattern;
}

namespace mlir::coll {

/// A pattern that begins so means a scope and not a parameter.
inline constexpr llvm::StringLiteral kScopePrefix = "scope:";

/// Moves kStageAttr (dialect/notes.h) into locations, as a scope, since passes may drop attributes.
/// In Python the user writes the scope: `with jax.named_scope("coll.stage:1")`.
void markStages(func::FuncOp step);

/// Puts `op` and the operations in its regions into the scope of a stage.
void markStage(Operation *op, int64_t stage);

/// The stages that scopes of the locations name.
std::set<int> getMarkedStages(llvm::ArrayRef<Operation *> ops);

/// The name stacks of a location, without the operation's own name and without the names of
/// transformations: "jit(step)/jvp(GPT)/Block_1/mul" is "step/GPT/Block_1".
std::vector<std::string> getScopes(Location loc);

/// Whether a pattern matches the scope, or one that it lies in: "Block_1", "GPT/Block_*".
bool matchesScope(const llvm::GlobPattern &glob, llvm::StringRef scope);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_SCOPES_H
