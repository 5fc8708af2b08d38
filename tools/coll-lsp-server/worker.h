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

#include <chrono>
#include <string>
#include <vector>

namespace coll::lsp {

struct WorkerOutput {
  /// The output that the worker wrote until it failed.
  std::string text;
  /// The failure in words for the user ("crashed (…)"); empty on success.
  std::string failure;
};

/// Runs this program again with `arguments` and with `input` on its standard input. It fails if the
/// process crashes or takes longer than `deadline`; in any case the process has ended on return.
/// `cancelled` is called several times a second; once it returns true, the process is killed.
/// Thread safe.
WorkerOutput runWorker(
    const std::vector<std::string> &arguments, llvm::StringRef input,
    std::chrono::milliseconds deadline,
    llvm::function_ref<bool()> cancelled = [] { return false; });

/// In the worker: makes it end with the process that started it.
void followParent();

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_WORKER_H
