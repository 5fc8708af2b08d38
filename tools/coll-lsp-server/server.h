//===- server.h - the conversation with an editor ---------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_SERVER_H
#define COLL_TOOLS_COLL_LSP_SERVER_SERVER_H

#include <cstdint>
#include <cstdio>

namespace llvm {
class raw_ostream;
}

namespace coll::lsp {

/// Serves one editor until it sends `exit` or closes the input. Returns the exit code that the
/// protocol asks for. `ranks` is for steps that say nothing about ranks.
int serve(std::FILE *in, llvm::raw_ostream &out, int64_t ranks);

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_SERVER_H
