//===- messages.h - messages about a step that is compiled --------------*- C++ -*-===//

#ifndef COLL_COMPILER_MESSAGES_H
#define COLL_COMPILER_MESSAGES_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class SourceMgr;
}

namespace coll::run {

struct Message {
  mlir::DiagnosticSeverity severity = mlir::DiagnosticSeverity::Note;
  std::string text;
  std::string location; // "step.mlir:12:3"; empty if there is none
  // A diagnostic as a terminal shows it: with its source line, and the end of line. Empty
  // for what the compiler says about the whole step.
  std::string rendered;
  // The notes of a diagnostic, each with its place ("stablehlo.fft, 2 times: ..."); in `rendered`,
  // too.
  std::vector<Message> notes;
};

using MessageHandler = std::function<void(Message)>;

/// Hands the context's diagnostics to `handler` while it lives. `sources` are the texts whose
/// lines are shown; borrowed.
class DiagnosticListener {
public:
  DiagnosticListener(mlir::MLIRContext &context, llvm::SourceMgr &sources, MessageHandler handler);
  ~DiagnosticListener();

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Keeps the context's diagnostics and the compiler's notes, so that they can be repeated when a
/// step comes from the cache, and passes each to a handler, but none twice.
class Messages {
public:
  /// `handler` may be null.
  Messages(mlir::MLIRContext &context, MessageHandler handler);
  ~Messages();

  void note(const llvm::Twine &text);
  void say(Message message);

  /// All so far, repetitions included.
  const std::vector<Message> &all() const { return all_; }

private:
  MessageHandler handler_;
  std::vector<Message> all_;
  llvm::StringSet<> said_;
  std::unique_ptr<llvm::SourceMgr> noSources_;
  std::unique_ptr<DiagnosticListener> listener_;
};

llvm::json::Value toJSON(const Message &message);
bool fromJSON(const llvm::json::Value &value, Message &message, llvm::json::Path path);

} // namespace coll::run

#endif // COLL_COMPILER_MESSAGES_H
