//===- sharding.h - arithmetic of meshes, shardings and groups --------*- C++ -*-===//
//
// Pure functions that do not touch IR.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_SHARDING_H
#define COLL_DIALECT_SHARDING_H

#include "dialect/dialect.h"

namespace mlir::coll {

/// Number of shards of a dimension: the product of its axes' sizes. Every axis
/// must be one of `mesh`.
int64_t getNumShards(MeshOp mesh, DimShardingAttr dim);

/// Length of every rank's block of a dimension of length `extent` (see
/// #coll.dim): the same on all ranks, padding at the end included.
int64_t getBlockExtent(MeshOp mesh, DimShardingAttr dim, int64_t extent);

/// Whether some rank's block holds padding.
bool isUneven(MeshOp mesh, DimShardingAttr dim, int64_t extent);

/// The type of one rank's part of a value of type `global` under `sharding`.
RankedTensorType getLocalType(MeshOp mesh, ShardingAttr sharding, RankedTensorType global);

/// The canonical form of all shardings that place a tensor of `shape` in the same way: without axes
/// of size 1, with the unit 1 where it gives the same blocks and the block as unit where it does
/// not, partial axes in the order of the mesh. Shardings are compared in this form.
ShardingAttr canonicalSharding(MeshOp mesh, ArrayRef<int64_t> shape, ShardingAttr sharding);

/// Size of the group that a rank of it belongs to. A mesh group needs its mesh,
/// which may be null otherwise.
int64_t getGroupSize(GroupAttr group, MeshOp mesh);

/// The groups as rank lists. If the group names axes, the world size is that of
/// `mesh`.
llvm::SmallVector<llvm::SmallVector<int64_t>> getGroupLists(GroupAttr group, MeshOp mesh);

/// The mesh that `symbol` names, seen from `from`; null if there is none. Looks through
/// coll.program and modules outward.
MeshOp lookupMesh(Operation *from, FlatSymbolRefAttr symbol);

/// The neutral element of `kind` for scalars of `type`; null if it has none (avg, or a type that
/// the kind does not support).
TypedAttr getIdentity(ReductionKind kind, Type type);

} // namespace mlir::coll

#endif // COLL_DIALECT_SHARDING_H
