//===- error.h - errors of compiler, driver and coll-run -----------*- C++ -*-===//
//
// Functions of the compiler, the driver and coll-run that can fail return llvm::Error or Expected;
// coll-run prints the error as `coll-run: error: …` and exits with 1.
//
//===------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_ERROR_H
#define COLL_COMPILER_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace coll::run {

inline llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// "1 rank", "2 ranks".
inline std::string counted(int64_t count, llvm::StringRef noun) {
  return (llvm::Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

} // namespace coll::run

#endif // COLL_COMPILER_ERROR_H
