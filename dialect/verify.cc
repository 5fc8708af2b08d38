//===- verify.cc - verifiers of meshes, attributes, resharding and programs ---===//
//
// (Cn) names the constraint in ops.td or attrs.td that a line checks. Attribute values
// come from unchecked text: arithmetic on them is guarded.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"
#include "dialect/sharding.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::coll;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static constexpr int64_t kMaxRanks = int64_t{1} << 24;

/// Adds `axes` to `seen`; an error if one was there already.
static LogicalResult addAxes(EmitError emitError, ArrayRef<StringAttr> axes,
                             llvm::SmallPtrSetImpl<StringAttr> &seen) {
  for (StringAttr axis : axes)
    if (!seen.insert(axis).second)
      return emitError() << "axis " << axis << " occurs twice";
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult DimShardingAttr::verify(EmitError emitError, ArrayRef<StringAttr> axes,
                                      int64_t unit) {
  llvm::SmallPtrSet<StringAttr, 4> seen;
  if (failed(addAxes(emitError, axes, seen))) // (C1)
    return failure();
  if (unit < 1) // (C2)
    return emitError() << "unit must be at least 1, but is " << unit;
  if (unit > std::numeric_limits<int32_t>::max()) // (C2)
    return emitError() << "unit must be less than 2^31, but is " << unit;
  return success();
}

LogicalResult ShardingAttr::verify(EmitError emitError, FlatSymbolRefAttr mesh,
                                   ArrayRef<DimShardingAttr> dims, ArrayRef<StringAttr> partialAxes,
                                   ReductionKind) {
  llvm::SmallPtrSet<StringAttr, 4> seen;
  for (DimShardingAttr dim : dims)
    if (failed(addAxes(emitError, dim.getAxes(), seen))) // (C1)
      return failure();
  return addAxes(emitError, partialAxes, seen); // (C1)
}

LogicalResult GroupAttr::verify(EmitError emitError, FlatSymbolRefAttr mesh,
                                ArrayRef<StringAttr> axes, ArrayRef<DenseI64ArrayAttr> lists) {
  if (mesh) {
    llvm::SmallPtrSet<StringAttr, 4> seen;
    if (axes.empty())
      return emitError() << "names no axis of " << mesh; // (C3)
    return addAxes(emitError, axes, seen);               // (C1)
  }
  if (lists.empty() || lists.front().empty()) // (C3)
    return emitError() << "rank lists must not be empty";
  llvm::DenseSet<int64_t> seen;
  for (DenseI64ArrayAttr list : lists) {
    if (list.size() != lists.front().size()) // (C3)
      return emitError() << "rank lists have different lengths: " << lists.front().size() << " and "
                         << list.size();
    for (int64_t rank : list.asArrayRef()) {
      if (rank < 0 || rank >= kMaxRanks) // (C2)
        return emitError() << "rank " << rank << " is not within 0 to " << kMaxRanks - 1;
      if (!seen.insert(rank).second) // (C1)
        return emitError() << "rank " << rank << " occurs twice";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Number of ranks along `axes` of the mesh that `symbol` names, seen from `op`.
/// Safe on a mesh that was not verified yet.
static std::optional<int64_t> verifyAxes(EmitError emitError, Operation *op,
                                         FlatSymbolRefAttr symbol, ArrayRef<StringAttr> axes) {
  MeshOp mesh = lookupMesh(op, symbol);
  if (!mesh) {
    emitError() << "there is no mesh " << symbol;
    return std::nullopt;
  }
  int64_t product = 1;
  for (StringAttr axis : axes) {
    std::optional<int64_t> size = mesh.getAxisSize(axis);
    if (!size) {
      (emitError() << "mesh " << symbol << " has no axis " << axis).attachNote(mesh.getLoc())
          << "the mesh is here";
      return std::nullopt;
    }
    if (*size < 1 || llvm::MulOverflow(product, *size, product)) {
      emitError() << "mesh " << symbol << " is malformed";
      return std::nullopt;
    }
  }
  return product;
}

std::optional<int64_t> coll::detail::verifyGroup(Operation *op, GroupAttr group) {
  if (!group.isMesh())
    return group.getLists().front().size();
  return verifyAxes([&] { return op->emitOpError(); }, op, group.getMesh(), group.getAxes());
}

LogicalResult coll::detail::verifyShardingSymbols(EmitError emitError, Operation *op,
                                                  ShardingAttr sharding) {
  SmallVector<StringAttr> axes(sharding.getPartialAxes());
  for (DimShardingAttr dim : sharding.getDims())
    llvm::append_range(axes, dim.getAxes());
  return success(verifyAxes(emitError, op, sharding.getMesh(), axes).has_value());
}

LogicalResult AxisIndexOp::verifySymbolUses(SymbolTableCollection &) {
  auto axes = llvm::to_vector(getAxes().getAsRange<StringAttr>());
  auto emitError = [&] { return emitOpError(); };
  return success(verifyAxes(emitError, *this, getMeshAttr(), axes).has_value());
}

LogicalResult GroupOp::verifySymbolUses(SymbolTableCollection &) {
  return success(coll::detail::verifyGroup(*this, getGroup()).has_value());
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &) {
  auto emitError = [&] { return emitOpError(); };
  return success(succeeded(coll::detail::verifyShardingSymbols(emitError, *this, getSource())) &&
                 succeeded(coll::detail::verifyShardingSymbols(emitError, *this, getTarget())));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult MeshOp::verify() {
  if (getAxisNames().size() != getAxisSizes().size()) // (C1)
    return emitOpError("has ") << getAxisNames().size() << " axis names for "
                               << getAxisSizes().size() << " sizes";
  llvm::SmallPtrSet<Attribute, 4> seen;
  for (auto axis : getAxisNames().getAsRange<StringAttr>()) {
    if (axis.empty()) // (C1)
      return emitOpError("has an axis without a name");
    if (!seen.insert(axis).second) // (C1)
      return emitOpError("axis ") << axis << " occurs twice";
  }
  int64_t ranks = 1;
  for (auto [axis, size] : llvm::zip(getAxisNames(), getAxisSizes())) {
    if (size < 1) // (C2)
      return emitOpError("axis ") << axis << " must have at least one rank, but has " << size;
    if (llvm::MulOverflow(ranks, size, ranks) || ranks > kMaxRanks) // (C2)
      return emitOpError("has more than ") << kMaxRanks << " ranks";
  }
  return success();
}

LogicalResult AxisIndexOp::verify() {
  if (getAxes().empty()) // (C1)
    return emitOpError("names no axis");
  return success();
}

LogicalResult ReshardOp::verify() {
  int64_t rank = cast<ShapedType>(getInput().getType()).getRank();
  for (ShardingAttr sharding : {getSource(), getTarget()})
    if (static_cast<int64_t>(sharding.getDims().size()) != rank) // (C1)
      return emitOpError("sharding ") << sharding << " has " << sharding.getDims().size()
                                      << " dimensions, but the value is " << getInput().getType();
  if (getSource().getMesh() != getTarget().getMesh()) // (C2)
    return emitOpError("goes from mesh ")
           << getSource().getMesh() << " to mesh " << getTarget().getMesh();
  if (getSource().isPartial() && getTarget().isPartial() &&
      getSource().getPartialKind() != getTarget().getPartialKind()) // (C3)
    return emitOpError("changes the reduction of a partial value from ")
           << stringifyReductionKind(getSource().getPartialKind()) << " to "
           << stringifyReductionKind(getTarget().getPartialKind());
  auto given = (*this)->getAttrOfType<ArrayAttr>(kShardingsAttr);
  if (given && (given.size() != 1 || given[0] != getTarget())) // (C4)
    return emitOpError("goes to ")
           << getTarget() << ", but its " << kShardingsAttr << " are " << given;
  return success();
}

LogicalResult ProgramOp::verify() {
  ArrayRef<int64_t> ranks = getRanks();
  if (ranks.empty()) // (C1)
    return emitOpError("has no ranks");
  if (static_cast<int64_t>(ranks.size()) > kMaxRanks || ranks.back() >= kMaxRanks) // (C1)
    return emitOpError("has more than ") << kMaxRanks << " ranks";
  int64_t previous = -1;
  for (int64_t rank : ranks) {
    if (rank <= previous) // (C1)
      return emitOpError("ranks must be ascending from 0, but ")
             << rank << " follows " << (previous < 0 ? "the start" : std::to_string(previous));
    previous = rank;
  }
  for (Operation &op : getBody().front())
    if (!isa<FunctionOpInterface>(op)) { // (C2)
      InFlightDiagnostic diagnostic = emitOpError("holds something that is not a function");
      diagnostic.attachNote(op.getLoc()) << "'" << op.getName() << "' is here";
      return diagnostic;
    }
  return success();
}
