//===- shared_object.h - compiled code as a file that runs without MLIR --*- C++ -*-===//

#ifndef COLL_COMPILER_SHARED_OBJECT_H
#define COLL_COMPILER_SHARED_OBJECT_H

#include "passes/export/jit/object_code.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace coll::run {

/// Links code that was compiled for a shared object (Target::isShared) into `path`, with the
/// table of runtime/step/abi/table.h. The file appears as a whole or not at all. Runs the system's
/// C compiler, `cc`, to link; an error if there is none.
llvm::Error writeSharedObject(const mlir::coll::ObjectCode &code, llvm::StringRef path);

} // namespace coll::run

#endif // COLL_COMPILER_SHARED_OBJECT_H
