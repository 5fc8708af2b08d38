//===- untrusted_text.h - unchecked input -----------------------------*- C++ -*-===//
//
// MLIR's parser overflows the stack on deep nesting and can crash on corrupt
// bytecode. The tools read every file through this header, so that the worst that
// an input can do is end the tool with a diagnostic and a non-zero exit code.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_UNTRUSTED_TEXT_H
#define COLL_COMPILER_UNTRUSTED_TEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>
#include <string>

namespace mlir::coll {

/// Reads `path` ("-" is the standard input). An error if the file cannot be read, is larger than
/// 2 GiB (a device: 1 MiB), is not text, nests brackets deeper than 1,000, or is StableHLO
/// bytecode. The error's text names the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readUntrusted(llvm::StringRef path);

/// The same checks of a text that is in memory already. `name` is for the error.
llvm::Error checkUntrusted(llvm::StringRef name, llvm::StringRef bytes);

/// The line (from 1) on which brackets nest deeper than the parser can take; nullopt
/// where they do not.
std::optional<size_t> findDeepNesting(llvm::StringRef text);

/// If a text looks like StableHLO in its pretty form, which JAX prints by default and which needs
/// the StableHLO dialect: what to do. Empty otherwise.
llvm::StringRef hintAtPrettyForm(llvm::StringRef text);

} // namespace mlir::coll

#endif // COLL_COMPILER_UNTRUSTED_TEXT_H
