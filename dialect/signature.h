//===- signature.h - attributes of a function's arguments and results -*- C++ -*-===//

#ifndef COLL_DIALECT_SIGNATURE_H
#define COLL_DIALECT_SIGNATURE_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coll {

/// On an argument or a result of a rank program: its number in the step. Without it the number is
/// the position in the program; programs with the same arguments have no such attribute.
inline constexpr llvm::StringLiteral kIndexAttr = "coll.index";

/// Gives argument i the attribute `name` with the value `values[i]`; where that is null, it stays
/// as it is. A loop over setArgAttr() would make a list of all arguments for each of them, which
/// the context keeps: 200 MB for 5,000 arguments.
void setArgumentAttrs(FunctionOpInterface function, StringRef name, ArrayRef<Attribute> values);

/// The same for results.
void setResultAttrs(FunctionOpInterface function, StringRef name, ArrayRef<Attribute> values);

/// Removes the attribute `name` from all arguments and results.
void removeSignatureAttrs(FunctionOpInterface function, StringRef name);

} // namespace mlir::coll

#endif // COLL_DIALECT_SIGNATURE_H
