//===- mlir_server.h - MLIR's language server, one question at a time -*- C++ -*-===//
//
// MLIR's server (definition, references, symbols, completion) cannot be extended: its
// classes are not in the installed headers. It is used as it is, through the protocol: a
// worker gets a document and one question. Its diagnostics are not used: an
// error of an operation with a `loc` has no place in the text there.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_MLIR_SERVER_H
#define COLL_TOOLS_COLL_LSP_SERVER_MLIR_SERVER_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace coll::lsp {

class MlirServer {
public:
  /// `initializeParams` are those of the editor.
  explicit MlirServer(llvm::json::Value initializeParams)
      : initializeParams_(std::move(initializeParams)) {}

  /// The capabilities of the server: the result of `initialize`.
  llvm::Expected<llvm::json::Value> initialize() const;

  /// The answer to a request about a document. Columns are bytes. Thread safe.
  llvm::Expected<llvm::json::Value> ask(llvm::StringRef uri, llvm::StringRef text,
                                        llvm::StringRef method, llvm::json::Value params) const;

private:
  llvm::json::Value initializeParams_;
};

/// In the worker: answers requests from the standard input, and returns the exit code.
int runMlirServer();

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_MLIR_SERVER_H
