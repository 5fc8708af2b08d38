//===- messages.h - what is said about a step while it is compiled ------*- C++ -*-===//

#ifndef COLL_COMPILER_MESSAGES_H
#define COLL_COMPILER_MESSAGES_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>
#include <vector>

namespace coll::run {

/// The reader of messages.
enum class Audience {
  Everything, // notes, remarks, warnings and errors
  Problems,   // warnings and errors: the user wants quiet
  Nothing,    // another process speaks for this one
};

struct Message {
  mlir::DiagnosticSeverity severity;
  std::string text; // as it is printed
};

/// Prints the context's diagnostics and the tool's notes on the standard error stream, and
/// keeps them, so that they can be said again when a step is not compiled again. What has
/// been said is not repeated.
class Messages {
public:
  Messages(mlir::MLIRContext &context, Audience audience);
  ~Messages();

  void note(const llvm::Twine &text);
  void say(Message message);

  /// All so far, also those that no one heard.
  const std::vector<Message> &all() const { return all_; }

private:
  class Listener;

  Audience audience_;
  std::vector<Message> all_;
  llvm::StringSet<> said_;
  std::unique_ptr<Listener> listener_;
};

llvm::json::Value toJSON(const Message &message);
bool fromJSON(const llvm::json::Value &value, Message &message, llvm::json::Path path);

} // namespace coll::run

#endif // COLL_COMPILER_MESSAGES_H
