#include "passes/export/jit/helpers.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

// Addresses are all that is needed here, so the types do not matter.
extern "C" {
void __extendhfdf2();
void __extendhfsf2();
void __truncdfhf2();
void __truncsfhf2();
}

llvm::Error mlir::coll::defineHelpers(llvm::orc::LLJIT &jit, llvm::orc::JITDylib &library) {
  const std::pair<const char *, void (*)()> helpers[] = {{"__extendhfdf2", __extendhfdf2},
                                                         {"__extendhfsf2", __extendhfsf2},
                                                         {"__truncdfhf2", __truncdfhf2},
                                                         {"__truncsfhf2", __truncsfhf2}};
  llvm::orc::SymbolMap symbols;
  for (auto [name, address] : helpers)
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported |
                                              llvm::JITSymbolFlags::Callable};
  return library.define(llvm::orc::absoluteSymbols(std::move(symbols)));
}
