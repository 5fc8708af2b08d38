//===- ring.h - reductions to roots and back, round a ring --------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_ROOTS_RING_H
#define COLL_PASSES_TRANSFORM_ROOTS_RING_H

#include "dialect/dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coll {

/// For root updates with `route ring`, of a partitioned function: the reductions that bring
/// gradients to their roots and the gathers that bring parameters back become loops of n - 1
/// coll.permute each, from neighbour to neighbour. The order in which contributions are added is
/// that of the ring.
void expandRings(FunctionOpInterface function, MeshOp mesh);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_ROOTS_RING_H
