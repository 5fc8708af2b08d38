//===- printer.cc - the compiler's messages for the user -------------------------===//

#include "tools/coll-run/printer.h"

#include "llvm/Support/raw_ostream.h"

namespace coll::run {

bool isProblem(mlir::DiagnosticSeverity severity) {
  return severity == mlir::DiagnosticSeverity::Warning ||
         severity == mlir::DiagnosticSeverity::Error;
}

MessageHandler makePrinter(Audience audience) {
  return [audience](const Message &message) {
    if (audience == Audience::Nothing ||
        (audience == Audience::Problems && !isProblem(message.severity)))
      return;
    if (audience == Audience::Usual && message.severity == mlir::DiagnosticSeverity::Remark &&
        !message.location.empty())
      llvm::errs() << message.location << ": remark: " << message.text << '\n';
    else if (message.rendered.empty())
      llvm::errs() << "coll-run: note: " << message.text << '\n';
    else
      llvm::errs() << message.rendered;
  };
}

} // namespace coll::run
