//===- guard.h - a crash becomes a diagnostic ---------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COMMON_GUARD_H
#define COLL_TOOLS_COMMON_GUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::coll {

/// Runs `body` in a child process, on a thread with a large stack, and returns what it returns. If
/// the child dies of a signal, prints that on the standard error stream and returns 70, or 128 +
/// the signal for the signals by which a user ends a program: SIGINT, SIGTERM, SIGHUP, SIGQUIT.
/// These are passed on to the child; another one, a second or more later, kills it. `tool` names
/// the program in the message; `why`, where given, gets what the signal was, and stays empty
/// otherwise.
///
/// Call it first thing in main, before any thread exists. Changes that `body` makes to memory are
/// not visible to the caller.
int runGuarded(llvm::StringRef tool, llvm::function_ref<int()> body, std::string *why = nullptr);

/// For a process that another one watches already: runs `body` on a thread with a large stack.
int runOnLargeStack(llvm::function_ref<int()> body);

/// If output cannot be written, the process ends with an error; LLVM would abort it. This also
/// covers options that end the process, such as --help. Call it before anything is printed.
void checkOutputAtExit();

} // namespace mlir::coll

#endif // COLL_TOOLS_COMMON_GUARD_H
