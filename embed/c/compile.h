// compile.h - the compiler behind the C API, or its absence: libcoll.so and libcollrt.so
// link different sources for it.

#ifndef COLL_EMBED_C_COMPILE_H
#define COLL_EMBED_C_COMPILE_H

#include "embed/c/context.h"
#include "embed/c/executable.h"

#include <string_view>

namespace coll::embed {

extern const bool kHasCompiler;

// `options` are complete; the text is borrowed.
Outcome compileStep(const Context &context, std::string_view text,
                    const coll_compile_options &options, std::shared_ptr<Executable> &executable);

// The part of a parser's process (coll_parser_main): its exit code.
int serveParser();

} // namespace coll::embed

#endif // COLL_EMBED_C_COMPILE_H
