//===- helpers.h - functions that code generation calls by itself -*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_JIT_HELPERS_H
#define COLL_PASSES_EXPORT_JIT_HELPERS_H

#include "llvm/Support/Error.h"

namespace llvm::orc {
class JITDylib;
class LLJIT;
} // namespace llvm::orc

namespace mlir::coll {

/// Defines in `library` the float16 conversions that LLVM calls if the processor has no instruction
/// for them. They come from libgcc. Compiled code finds that in the process if it is a shared
/// library, but not inside a static executable.
llvm::Error defineHelpers(llvm::orc::LLJIT &jit, llvm::orc::JITDylib &library);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_JIT_HELPERS_H
