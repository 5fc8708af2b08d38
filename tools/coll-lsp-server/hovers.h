//===- hovers.h - which text to show where ----------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_HOVERS_H
#define COLL_TOOLS_COLL_LSP_SERVER_HOVERS_H

#include "tools/coll-lsp-server/inference.h"
#include "tools/coll-lsp-server/marks.h"

#include "mlir/AsmParser/AsmParserState.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace coll::lsp {

/// Calls `emit` with each range of the text that has a hover, and the hover's text: the definition
/// and the uses of values, and the names of operations.
void collectHovers(const Marks &marks, const mlir::AsmParserState &state,
                   const Inference &inference,
                   llvm::function_ref<void(llvm::ArrayRef<llvm::SMRange>, std::string)> emit);

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_HOVERS_H
