// step_library.h - a compiled step in a shared object, as coll-compile writes it.

#ifndef COLL_RUNTIME_PROGRAM_STEP_LIBRARY_H
#define COLL_RUNTIME_PROGRAM_STEP_LIBRARY_H

#include "runtime/program/program.h"

#include <string>
#include <vector>

namespace coll::rt {

// Whether the file begins like a shared object; false if it cannot be read.
bool isSharedObject(const std::string &path);

// The programs in the file, one for each class of ranks. The file becomes code of this process, and
// stays loaded. Fails if it is not a compiled step, has another version, or needs a processor with
// more features.
Result<std::vector<Program>> loadStepLibrary(const std::string &path);

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_STEP_LIBRARY_H
