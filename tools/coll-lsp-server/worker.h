//===- worker.h - work that may crash, hang or be given up ------------*- C++ -*-===//
//
// Whatever parses a text runs in a process of its own: what an editor holds while
// someone types is seldom a valid file, and neither a crash nor an endless loop may
// reach the editor. One process does one thing and ends; nothing has to be restarted.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_WORKER_H
#define COLL_TOOLS_COLL_LSP_SERVER_WORKER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <string>
#include <vector>

namespace coll::lsp {

/// Runs this program again with `arguments`, `input` on its standard input, and returns
/// what it wrote to its standard output. An error, in words for the user, where it
/// crashed, failed, or took longer than `deadline`; the process is gone in any case.
///
/// `cancelled` is asked some times a second; once it holds, the process is ended and
/// an error returned. Thread safe.
llvm::Expected<std::string> runWorker(
    const std::vector<std::string> &arguments, llvm::StringRef input,
    std::chrono::milliseconds deadline,
    llvm::function_ref<bool()> cancelled = [] { return false; });

/// In the worker: ends with the process that started it.
void followParent();

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_WORKER_H
