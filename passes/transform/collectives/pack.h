//===- pack.h - small tensors as one tensor of a call ------------------*- C++ -*-===//
//
// The blocks of several tensors are packed into rows, one for each rank of the group: row i is what
// rank i contributes to an all_gather, or gets from a reduce_scatter.
//
//   a [2, 3] split along 0          all_gather                a [4, 3] = rows[:, 0:6]
//   b [4]    split along 0     ->   of 10 elements   ->  rows [2, 10]
//                                                             b [8]    = rows[:, 6:10]
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_TRANSFORM_COLLECTIVES_PACK_H
#define COLL_PASSES_TRANSFORM_COLLECTIVES_PACK_H

#include "dialect/dialect.h"

namespace mlir::coll {

/// Replaces operations that differ in their tensors and dimensions only by one, where the last of
/// them stands, and returns that one. None depends on another. All are of one kind:
/// coll.all_gather, coll.reduce_scatter, or coll.all_to_all between different dimensions.
Operation *packCollectives(ArrayRef<Operation *> collectives);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_COLLECTIVES_PACK_H
