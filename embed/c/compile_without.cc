// compile_without.cc - libcollrt.so, which has no compiler.

#include "embed/c/compile.h"

namespace coll::embed {

const bool kHasCompiler = false;

Outcome compileStep(const Context &, std::string_view, const coll_compile_options &,
                    std::shared_ptr<Executable> &) {
  return fail(COLL_UNSUPPORTED, "libcollrt has no compiler: link libcoll instead");
}

int serveParser() { return 1; }

} // namespace coll::embed
