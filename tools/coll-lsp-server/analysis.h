//===- analysis.h - what coll knows of a file -------------------------*- C++ -*-===//
//
// Diagnostics and hovers. It runs in a worker (worker.h), and its result travels as JSON.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_ANALYSIS_H
#define COLL_TOOLS_COLL_LSP_SERVER_ANALYSIS_H

#include "llvm/Support/JSON.h"

namespace coll::lsp {

/// Analyses a text, each part between `// -----` lines by itself. Columns are bytes.
///
///   "diagnostics": diagnostics of the protocol: of parser, verifiers and verify-ranks, and as
///       warnings what the compiler would say of a step
///   "texts": hover texts (Markdown)
///   "hovers": [line, first column, last column, index of the text] each
///
/// `uri` names the document in related information, `ranks` is for steps that say nothing.
llvm::json::Value analyze(llvm::StringRef text, llvm::StringRef uri, int64_t ranks);

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_ANALYSIS_H
