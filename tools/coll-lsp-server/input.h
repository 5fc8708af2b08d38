//===- input.h - unchecked messages -----------------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_INPUT_H
#define COLL_TOOLS_COLL_LSP_SERVER_INPUT_H

#include "llvm/Support/LSP/Transport.h"

namespace coll::lsp {

/// Reads as LLVM's transport does, and leaves out messages that would end it (not an
/// object of JSON-RPC 2.0) or overflow the stack of its parser.
class CheckedInput : public llvm::lsp::JSONTransportInput {
public:
  explicit CheckedInput(std::FILE *file) : input_(file) {}

  bool hasError() const override { return input_.hasError(); }
  bool isEndOfInput() const override { return input_.isEndOfInput(); }
  llvm::LogicalResult readStandardMessage(std::string &json) override;
  llvm::LogicalResult readDelimitedMessage(std::string &json) override;

private:
  llvm::lsp::JSONTransportInputOverFile input_;
};

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_INPUT_H
