//===- marks.h - which text an operation came from --------------------*- C++ -*-===//
//
// Passes rewrite operations, but they keep locations. A parsed module's locations are
// replaced by marks, numbers of operations and block arguments; whatever comes
// out of passes, values and diagnostics alike, leads back to the text through them.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_MARKS_H
#define COLL_TOOLS_COLL_LSP_SERVER_MARKS_H

#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/SMLoc.h"

#include <optional>
#include <vector>

namespace coll::lsp {

/// An operation or block argument with a mark.
struct Marked {
  mlir::Operation *op = nullptr;
  mlir::Value argument;
  /// Its name in the text; invalid where the text has none.
  llvm::SMRange range;
  /// The location that the text gave it.
  mlir::Location location;
};

class Marks {
public:
  /// Marks everything inside `module`, which `state` describes. Both must outlive this.
  Marks(mlir::ModuleOp module, const mlir::AsmParserState &state);

  const std::vector<Marked> &all() const { return marked_; }

  /// The mark that `location` is, or is derived from.
  std::optional<size_t> find(mlir::Location location) const;

private:
  std::vector<Marked> marked_;
};

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_MARKS_H
