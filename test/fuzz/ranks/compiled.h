// compiled.h - what the programs of a compiled pipeline say to one another.

#ifndef COLL_TEST_FUZZ_RANKS_COMPILED_H
#define COLL_TEST_FUZZ_RANKS_COMPILED_H

#include "test/fuzz/ranks/protocol.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace coll::fuzz {

// The sends, receives and collectives of a module of stages (coll-split-stages), without what is
// computed. Tags are numbered anew. An error where an operation is none that a Protocol has.
llvm::Expected<Protocol> readProtocol(mlir::ModuleOp module);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANKS_COMPILED_H
