//===- document.h - a text that an editor changes ---------------------*- C++ -*-===//
//
// Editors count columns in UTF-16 units, MLIR's library in bytes. A Document holds the text and
// converts columns, so that no other code has to.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_DOCUMENT_H
#define COLL_TOOLS_COLL_LSP_SERVER_DOCUMENT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::lsp {

class Document {
public:
  explicit Document(std::string text = "");

  llvm::StringRef text() const { return text_; }

  /// Applies one entry of didChange's `contentChanges`: a range and its new text, or a
  /// new text for everything. Positions beyond a line or the text mean its end. False,
  /// and no change, where the entry is malformed.
  bool apply(const llvm::json::Value &change);

  enum class Columns { Bytes, Utf16 };

  /// Converts the columns of every position (an object with `line` and `character`)
  /// inside `value` to `columns`. Objects that name a `uri` other than `uri` are left alone.
  void convertColumns(llvm::json::Value &value, Columns columns, llvm::StringRef uri) const;

private:
  void findLines();
  /// The text of a line without its end; empty beyond the last.
  llvm::StringRef line(int64_t number) const;
  size_t offsetOf(int64_t line, int64_t utf16Column) const;

  std::string text_;
  std::vector<size_t> lineStarts_;
};

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_DOCUMENT_H
