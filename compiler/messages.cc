//===- messages.cc - messages about a step that is compiled ---------------------===//

#include "compiler/messages.h"

#include "passes/export/descriptor.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

namespace coll::run {

namespace {
/// A base, so that it exists before the handler that writes to it.
struct Rendering {
  std::string text;
  llvm::raw_string_ostream stream{text};
};

Message describe(mlir::Diagnostic &diagnostic) {
  Message message;
  message.severity = diagnostic.getSeverity();
  message.text = diagnostic.str();
  message.location = mlir::coll::getSourceText(diagnostic.getLocation());
  return message;
}
} // namespace

class DiagnosticListener::Impl : private Rendering, private mlir::SourceMgrDiagnosticHandler {
public:
  Impl(mlir::MLIRContext &context, llvm::SourceMgr &sources, MessageHandler handler)
      : SourceMgrDiagnosticHandler(sources, &context, stream) {
    // The default handler would leave out notes, which say which ranks wait for each other.
    setHandler([this, handler = std::move(handler)](mlir::Diagnostic &diagnostic) {
      emitDiagnostic(diagnostic);
      llvm::StringRef rendered = text;
      rendered.consume_front("<unknown>:0: "); // the place of no operation
      Message message = describe(diagnostic);
      message.rendered = rendered.str();
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        message.notes.push_back(describe(note));
      handler(std::move(message));
      text.clear();
    });
  }
};

DiagnosticListener::DiagnosticListener(mlir::MLIRContext &context, llvm::SourceMgr &sources,
                                       MessageHandler handler)
    : impl_(std::make_unique<Impl>(context, sources, std::move(handler))) {}

DiagnosticListener::~DiagnosticListener() = default;

Messages::Messages(mlir::MLIRContext &context, MessageHandler handler)
    : handler_(std::move(handler)), noSources_(std::make_unique<llvm::SourceMgr>()),
      listener_(std::make_unique<DiagnosticListener>(
          context, *noSources_, [this](Message message) { say(std::move(message)); })) {}

Messages::~Messages() = default;

void Messages::note(const llvm::Twine &text) {
  say({mlir::DiagnosticSeverity::Note, text.str(), "", "", {}});
}

void Messages::say(Message message) {
  const bool isNew = said_.insert(message.rendered + message.text).second;
  all_.push_back(std::move(message));
  if (isNew && handler_)
    handler_(all_.back());
}

llvm::json::Value toJSON(const Message &message) {
  llvm::json::Array notes;
  for (const Message &note : message.notes)
    notes.push_back(toJSON(note));
  return llvm::json::Object{{"severity", static_cast<int64_t>(message.severity)},
                            {"text", llvm::json::fixUTF8(message.text)},
                            {"location", llvm::json::fixUTF8(message.location)},
                            {"rendered", llvm::json::fixUTF8(message.rendered)},
                            {"notes", std::move(notes)}};
}

bool fromJSON(const llvm::json::Value &value, Message &message, llvm::json::Path path) {
  int64_t severity = 0;
  llvm::json::ObjectMapper object(value, path);
  if (!object || !object.map("severity", severity) || !object.map("text", message.text) ||
      !object.map("location", message.location) || !object.map("rendered", message.rendered) ||
      !object.map("notes", message.notes))
    return false;
  message.severity = static_cast<mlir::DiagnosticSeverity>(severity);
  return severity >= 0 && severity <= static_cast<int64_t>(mlir::DiagnosticSeverity::Remark);
}

} // namespace coll::run
