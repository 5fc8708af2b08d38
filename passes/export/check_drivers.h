//===- check_drivers.h - what a driver function may take and hold -----*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_CHECK_DRIVERS_H
#define COLL_PASSES_EXPORT_CHECK_DRIVERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// Every tensor must be one whose size in memory is known, and `init`, which may be
/// null, must take and return exactly the state arguments of `step`. Says what is not so.
LogicalResult checkDrivers(func::FuncOp step, func::FuncOp init);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_CHECK_DRIVERS_H
