// compile.h - the compiler behind the C API, or its absence: libcoll.so and libcollrt.so
// link different sources for it.

#ifndef COLL_EMBED_C_COMPILE_H
#define COLL_EMBED_C_COMPILE_H

#include "embed/c/context.h"
#include "embed/c/executable.h"

#include <string_view>

namespace coll::embed {

extern const bool kHasCompiler;

// `options` has every field of this version; the text is borrowed.
Outcome compileStep(const Context &context, std::string_view text,
                    const coll_compile_options &options, std::shared_ptr<Executable> &executable);

// What coll_parser_main() runs in the process of a parser; returns its exit code.
int serveParser();

} // namespace coll::embed

#endif // COLL_EMBED_C_COMPILE_H
