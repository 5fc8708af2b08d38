//===- compiler_identity.h - what compiled code depends on besides its input --*- C++ -*-===//

#ifndef COLL_COMPILER_COMPILER_IDENTITY_H
#define COLL_COMPILER_COMPILER_IDENTITY_H

#include <string>

namespace mlir::coll {

/// This very build of the compiler, of MLIR and of LLVM, by the linker's build IDs (by size and
/// time of the file where there are none), and the processor that code is made for. Equal texts:
/// equal code. Empty if it cannot be determined.
std::string describeCompiler();

} // namespace mlir::coll

#endif // COLL_COMPILER_COMPILER_IDENTITY_H
