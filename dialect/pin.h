//===- pin.h - shardings that the user wrote --------------------------*- C++ -*-===//

#ifndef COLL_DIALECT_PIN_H
#define COLL_DIALECT_PIN_H

#include "llvm/ADT/StringRef.h"

namespace mlir::coll {

/// On a coll.reshard from a sharding to the same: the user wrote this sharding. A dictionary of the
/// dimensions that may be split further and the axes that may not split them.
inline constexpr llvm::StringLiteral kPinAttr = "coll.pin";
inline constexpr llvm::StringLiteral kPinOpenDims = "open_dims";
inline constexpr llvm::StringLiteral kPinReplicated = "replicated";

} // namespace mlir::coll

#endif // COLL_DIALECT_PIN_H
