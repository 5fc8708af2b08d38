//===- safe_parse.h - input that nobody has checked -------------------*- C++ -*-===//
//
// MLIR's parser overflows the stack on deep nesting and can crash on corrupt
// bytecode. The tools read every file through this header, so that the worst that
// an input can do is end the tool with a diagnostic and a non-zero exit code.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COMMON_SAFE_PARSE_H
#define COLL_TOOLS_COMMON_SAFE_PARSE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>
#include <string>

namespace mlir::coll {

/// Reads `path` ("-" is the standard input). An error where the file cannot be
/// read, is larger than 2 GiB (a device: 1 MiB), is no text, nests brackets deeper than 1,000, or
/// is StableHLO bytecode. The error's text names the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readUntrusted(llvm::StringRef path);

/// The line (from 1) on which brackets nest deeper than the parser can take; nullopt
/// where they do not.
std::optional<size_t> findDeepNesting(llvm::StringRef text);

/// Where a text looks like StableHLO in its pretty form, which JAX prints unless asked
/// otherwise and which needs its dialect: what to do. Empty otherwise.
llvm::StringRef hintAtPrettyForm(llvm::StringRef text);

/// Runs `body` in a child process, on a thread with a large stack, and returns what
/// it returns. Where the child dies of a signal, says so on the standard error
/// stream and returns 70 (128 + the signal where a user asked for it: SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT, which are handed on to the child; another, a second or more later,
/// kills it). `tool` names the program in the message; `why`, where given, gets what the signal
/// was, and stays empty otherwise.
///
/// Call it first thing in main, before any thread exists. What `body` does to
/// memory is not seen by the caller.
int runGuarded(llvm::StringRef tool, llvm::function_ref<int()> body, std::string *why = nullptr);

/// The part of it that matters where another process watches this one: runs `body` on a
/// thread with a large stack.
int runOnLargeStack(llvm::function_ref<int()> body);

} // namespace mlir::coll

#endif // COLL_TOOLS_COMMON_SAFE_PARSE_H
