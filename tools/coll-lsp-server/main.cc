//===- main.cc - coll-lsp-server: IR files in an editor -----------------------===//

#include "tools/coll-lsp-server/analysis.h"
#include "tools/coll-lsp-server/mlir_server.h"
#include "tools/coll-lsp-server/modes.h"
#include "tools/coll-lsp-server/server.h"
#include "tools/coll-lsp-server/worker.h"
#include "tools/common/guard.h"
#include "tools/common/tools.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using llvm::StringRef;

namespace {

constexpr llvm::StringLiteral kHelp =
    R"(usage: coll-lsp-server [--ranks=N]

Speaks the language server protocol on its standard input and output: diagnostics
(parser, verifiers, coll-verify-ranks), hover (shardings, collectives), definition,
references, symbols, completion. Editors start it; tools/coll-lsp-server/README.md says how.

  --ranks=N   for steps that say nothing about ranks: hovers are for data
              parallelism on N ranks (default 4)
)";

int runAnalysis(StringRef uri, int64_t ranks) {
  auto text = llvm::MemoryBuffer::getSTDIN();
  if (!text)
    return 1;
  coll::lsp::analyze((*text)->getBuffer(), uri, ranks, llvm::outs());
  return 0;
}

int fail(const llvm::Twine &text) {
  llvm::errs() << "coll-lsp-server: " << text << "\n";
  return 2;
}

} // namespace

int coll::lspServerMain(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN); // the editor may have ended
  StringRef first = argc > 1 ? argv[1] : "";
  auto onLargeStack = [](llvm::function_ref<int()> body) {
    coll::lsp::followParent();
    return mlir::coll::runOnLargeStack(body);
  };
  if (first == coll::lsp::kMlirServerMode)
    return onLargeStack([] { return coll::lsp::runMlirServer(); });
  int64_t ranks = 4;
  if (first == coll::lsp::kAnalysisMode && argc == 4 && !StringRef(argv[3]).getAsInteger(10, ranks))
    return onLargeStack([&] { return runAnalysis(argv[2], ranks); });
  for (int i = 1; i < argc; ++i) {
    StringRef option = argv[i];
    if (option == "--help" || option == "-h") {
      llvm::outs() << kHelp;
      return 0;
    }
    if (option == "--version") {
      llvm::outs() << "coll-lsp-server " COLL_VERSION "\n";
      return 0;
    }
    // Some editors add this option.
    if (option == "--stdio")
      continue;
    if (!option.consume_front("--ranks="))
      return fail("unknown option " + option + "; see coll-lsp-server --help");
    if (option.getAsInteger(10, ranks) || ranks < 1 || ranks > (1 << 24))
      return fail("--ranks=" + option + " is not a number of ranks");
  }
  return coll::lsp::serve(stdin, llvm::outs(), ranks);
}
