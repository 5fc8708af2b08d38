//===- printer.h - the compiler's messages for the user ------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_PRINTER_H
#define COLL_TOOLS_COLL_RUN_PRINTER_H

#include "compiler/messages.h"

namespace coll::run {

/// Which messages are printed.
enum class Audience {
  Everything, // notes, remarks, warnings and errors, with all frames of their calls
  Usual,      // the same, but a remark has the innermost frame only
  Problems,   // warnings and errors: the user wants quiet
  Nothing,    // another process speaks for this one
};

/// Prints the messages that the audience is to see to the standard error stream.
MessageHandler makePrinter(Audience audience);

bool isProblem(mlir::DiagnosticSeverity severity);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_PRINTER_H
