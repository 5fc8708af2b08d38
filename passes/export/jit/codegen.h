//===- codegen.h - LLVM IR to an object in memory -----------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_JIT_CODEGEN_H
#define COLL_PASSES_EXPORT_JIT_CODEGEN_H

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::coll {

/// Makes the host's code generator available; safe to call often.
void initializeCodegen();

/// Optimises `module` at `optLevel` and compiles it. Safe to call from several
/// threads, each with a module in a context of its own.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(llvm::Module &module, llvm::orc::JITTargetMachineBuilder target, unsigned optLevel);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_JIT_CODEGEN_H
