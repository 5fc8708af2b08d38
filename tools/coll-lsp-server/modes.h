//===- modes.h - modes of the server's processes ----------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_MODES_H
#define COLL_TOOLS_COLL_LSP_SERVER_MODES_H

#include "llvm/ADT/StringRef.h"

#include <chrono>

namespace coll::lsp {

// First argument of a worker; without one the process talks to the editor.
inline constexpr llvm::StringLiteral kMlirServerMode = "--worker=mlir";
inline constexpr llvm::StringLiteral kAnalysisMode = "--worker=analysis";

/// An editor waits for the answer.
inline constexpr std::chrono::seconds kQuestionDeadline{10};
/// The editor does not wait for it.
inline constexpr std::chrono::seconds kAnalysisDeadline{60};
/// Pause in typing after which a text is analysed.
inline constexpr std::chrono::milliseconds kDebounce{150};

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_MODES_H
