// library.cc - what the library is, and the names of its numbers.

#include "embed/c/compile.h"
#include "runtime/base/dtype.h"

uint32_t coll_version(void) { return COLL_VERSION_MAJOR << 16 | COLL_VERSION_MINOR; }

int32_t coll_has_compiler(void) { return coll::embed::kHasCompiler; }

size_t coll_dtype_size(int32_t dtype) {
  return coll::rt::isValidDtype(dtype)
             ? static_cast<size_t>(coll::rt::dtypeSize(static_cast<CollDtype>(dtype)))
             : 0;
}

const char *coll_code_name(int32_t code) {
  switch (code) {
  case COLL_OK:
    return "ok";
  case COLL_INVALID_ARGUMENT:
    return "invalid argument";
  case COLL_INVALID_HANDLE:
    return "invalid handle";
  case COLL_COMPILE:
    return "the step was refused";
  case COLL_CANCELLED:
    return "cancelled";
  default:
    return coll::rt::codeName(code);
  }
}
