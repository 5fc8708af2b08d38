//===- signature.h - arguments and results that a rank program has ----*- C++ -*-===//

#ifndef COLL_DIALECT_SIGNATURE_H
#define COLL_DIALECT_SIGNATURE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::coll {

/// On an argument or a result of a rank program: its number in the step. Without it the number is
/// the position in the program; programs with the same arguments have no such attribute.
inline constexpr llvm::StringLiteral kIndexAttr = "coll.index";

} // namespace mlir::coll

#endif // COLL_DIALECT_SIGNATURE_H
