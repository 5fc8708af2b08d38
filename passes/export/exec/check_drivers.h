//===- check_drivers.h - checks of driver functions -------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_CHECK_DRIVERS_H
#define COLL_PASSES_EXPORT_CHECK_DRIVERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// Checks that the size of every tensor is known, and that `init`, which may be null, takes and
/// returns exactly the state arguments of `step`. Reports errors.
LogicalResult checkDrivers(func::FuncOp step, func::FuncOp init);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_CHECK_DRIVERS_H
