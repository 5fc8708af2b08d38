//===- messages.cc - what is said about a step while it is compiled -------------===//

#include "compiler/messages.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

namespace coll::run {

namespace {
/// A base, so that it exists before the handler that writes to it.
struct Printed {
  llvm::SourceMgr sources;
  std::string text;
  llvm::raw_string_ostream stream{text};
};
} // namespace

/// Makes a diagnostic what the user sees of it.
class Messages::Listener : private Printed, private mlir::SourceMgrDiagnosticHandler {
public:
  Listener(mlir::MLIRContext &context, Messages &messages)
      : SourceMgrDiagnosticHandler(sources, &context, stream) {
    // The default handler would leave out notes, which say who waits for whom.
    setHandler([this, &messages](mlir::Diagnostic &diagnostic) {
      emitDiagnostic(diagnostic);
      llvm::StringRef said = text;
      said.consume_front("<unknown>:0: "); // stands for no place
      messages.say({diagnostic.getSeverity(), said.str()});
      text.clear();
    });
  }
};

Messages::Messages(mlir::MLIRContext &context, Audience audience)
    : audience_(audience), listener_(std::make_unique<Listener>(context, *this)) {}

Messages::~Messages() = default;

static bool isProblem(mlir::DiagnosticSeverity severity) {
  return severity == mlir::DiagnosticSeverity::Warning ||
         severity == mlir::DiagnosticSeverity::Error;
}

void Messages::note(const llvm::Twine &text) {
  say({mlir::DiagnosticSeverity::Note, ("coll-run: note: " + text + "\n").str()});
}

void Messages::say(Message message) {
  bool isHeard = audience_ == Audience::Everything ||
                 (audience_ == Audience::Problems && isProblem(message.severity));
  if (said_.insert(message.text).second && isHeard)
    llvm::errs() << message.text;
  all_.push_back(std::move(message));
}

llvm::json::Value toJSON(const Message &message) {
  return llvm::json::Object{{"severity", static_cast<int64_t>(message.severity)},
                            {"text", llvm::json::fixUTF8(message.text)}};
}

bool fromJSON(const llvm::json::Value &value, Message &message, llvm::json::Path path) {
  int64_t severity = 0;
  llvm::json::ObjectMapper object(value, path);
  if (!object || !object.map("severity", severity) || !object.map("text", message.text))
    return false;
  message.severity = static_cast<mlir::DiagnosticSeverity>(severity);
  return severity >= 0 && severity <= static_cast<int64_t>(mlir::DiagnosticSeverity::Remark);
}

} // namespace coll::run
