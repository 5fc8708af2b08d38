//===- guard.h - a crash becomes a diagnostic ---------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COMMON_GUARD_H
#define COLL_TOOLS_COMMON_GUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::coll {

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

/// Makes output that cannot be written an error of the process when it ends: LLVM would abort it.
/// Covers what ends the process by itself, as --help does. Call it before anything is printed.
void checkOutputAtExit();

} // namespace mlir::coll

#endif // COLL_TOOLS_COMMON_GUARD_H
