//===- level.h - which level of the IR a module is at ------------------*- C++ -*-===//

#ifndef COLL_COMPILER_LEVEL_H
#define COLL_COMPILER_LEVEL_H

#include "mlir/IR/BuiltinOps.h"

namespace coll::run {

/// In the order in which the compiler passes through them.
enum class Level {
  Foreign,    // StableHLO: for the import pipeline
  Step,       // L0
  Annotated,  // L1 to L3: a mesh and shardings, global shapes
  Spmd,       // L4, L5: one program for all ranks
  Programs,   // L6: coll.program per rank class
  Kernels,    // on the way to L7: kernels outlined
  Exec,       // L7a: buffers, and what happens to them
  Executable, // L7: LLVM dialect
};

Level detectLevel(mlir::ModuleOp module);

/// For messages: "a step (L0)".
llvm::StringRef describe(Level level);

} // namespace coll::run

#endif // COLL_COMPILER_LEVEL_H
