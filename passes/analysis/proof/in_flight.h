//===- in_flight.h - buffers that belong to the runtime ---------------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_IN_FLIGHT_H
#define COLL_PASSES_ANALYSIS_PROOF_IN_FLIGHT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// Checks that between a coll.start and its coll.wait nothing reads or writes the
/// destination, and nothing is received into a source; views of them count as they
/// do. A source may be read, and may be the destination itself. (That each request
/// is waited for exactly once is start_c4.) Emits an error for every misuse.
LogicalResult checkBuffersInFlight(func::FuncOp function);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_IN_FLIGHT_H
