//===- analysis.h - diagnostics and hovers of a file ------------------*- C++ -*-===//
//
// Diagnostics and hovers. It runs in a worker (worker.h), and its result travels as JSON.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_ANALYSIS_H
#define COLL_TOOLS_COLL_LSP_SERVER_ANALYSIS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace coll::lsp {

/// Analyses a text, each part between `// -----` lines by itself. Writes lines of JSON:
///
///   - each diagnostic (of parser, verifiers and verify-ranks, and as warnings what the
///     compiler would say of a step) as the protocol has it, as soon as it is found;
///   - at the end an object with "texts": hover texts (Markdown), and "hovers": [line,
///     first column, last column, index of the text] each.
///
/// Columns are bytes. `uri` names the document in related information, `ranks` is for steps
/// that say nothing.
void analyze(llvm::StringRef text, llvm::StringRef uri, int64_t ranks, llvm::raw_ostream &out);

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_ANALYSIS_H
