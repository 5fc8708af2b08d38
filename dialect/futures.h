//===- futures.h - operations in flight, followed through loops -------*- C++ -*-===//
//
// A future, or a request of the exec level, is awaited in its own block or carried by an scf.for:
// as its initial value, its argument, what a round yields, its result.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_FUTURES_H
#define COLL_DIALECT_FUTURES_H

#include "mlir/IR/Operation.h"

namespace mlir::coll {

/// The operations whose future may be `future`, in no order. Empty if one of them is no start:
/// a function's argument, or the result of something else than a loop.
SmallVector<Operation *> getStarts(Value future);

/// Checks that each value that holds `future` is used once: by an operation for which `isAwait`
/// holds, or by a loop that carries it. Emits an error at `start` otherwise; `what` names the
/// value. Loops that are not well formed are left to their own verifier.
LogicalResult verifyAwaitedOnce(Operation *start, Value future, StringRef what,
                                llvm::function_ref<bool(Operation *)> isAwait);

} // namespace mlir::coll

#endif // COLL_DIALECT_FUTURES_H
