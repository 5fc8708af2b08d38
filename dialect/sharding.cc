//===- sharding.cc - arithmetic of meshes, shardings and groups ---------------===//

#include "dialect/sharding.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;

/// The product, or the largest int64_t if it does not fit.
static int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
}

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

int64_t MeshOp::getNumRanks() {
  int64_t ranks = 1;
  for (int64_t size : getAxisSizes())
    ranks = saturatingProduct(ranks, size);
  return ranks;
}

std::optional<int64_t> MeshOp::getAxisSize(StringRef axis) {
  for (auto [name, size] : llvm::zip(getAxisNames(), getAxisSizes()))
    if (cast<StringAttr>(name) == axis)
      return size;
  return std::nullopt;
}

int64_t MeshOp::getCoordinate(int64_t rank, StringRef axis) {
  // The last axis varies fastest: peel coordinates off from the back.
  for (size_t i = getAxisSizes().size(); i-- > 0;) {
    int64_t size = getAxisSizes()[i];
    if (cast<StringAttr>(getAxisNames()[i]) == axis)
      return rank % size;
    rank /= size;
  }
  assert(false && "the mesh has no such axis");
  return 0;
}

MeshOp coll::lookupMesh(Operation *from, FlatSymbolRefAttr symbol) {
  // Only mesh operations are looked into: passes may be changing the other
  // symbols of the module in parallel.
  for (Operation *op = from; op && symbol; op = op->getParentOp()) {
    if (!op->hasTrait<OpTrait::SymbolTable>() || op->getNumRegions() == 0 ||
        op->getRegion(0).empty())
      continue;
    for (MeshOp mesh : op->getRegion(0).front().getOps<MeshOp>())
      if (mesh.getSymNameAttr() == symbol.getAttr())
        return mesh;
  }
  return nullptr;
}

static int64_t getAxesProduct(MeshOp mesh, ArrayRef<StringAttr> axes) {
  int64_t product = 1;
  for (StringAttr axis : axes)
    product = saturatingProduct(product, mesh.getAxisSize(axis).value_or(1));
  return product;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

ShardingAttr ShardingAttr::replicated(FlatSymbolRefAttr mesh, int64_t rank) {
  MLIRContext *context = mesh.getContext();
  SmallVector<DimShardingAttr> dims(rank, DimShardingAttr::get(context, {}, 1));
  return get(context, mesh, dims);
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() &&
         llvm::all_of(getDims(), [](DimShardingAttr dim) { return dim.getAxes().empty(); });
}

ShardingAttr ShardingAttr::withoutPartial() const {
  return isPartial() ? get(getContext(), getMesh(), getDims()) : *this;
}

int64_t coll::getNumShards(MeshOp mesh, DimShardingAttr dim) {
  return getAxesProduct(mesh, dim.getAxes());
}

int64_t coll::getBlockExtent(MeshOp mesh, DimShardingAttr dim, int64_t extent) {
  // A dimension that is not split is not rounded up to its unit.
  if (dim.getAxes().empty())
    return extent;
  int64_t units = ceilDiv(extent, dim.getUnit());
  return saturatingProduct(ceilDiv(units, getNumShards(mesh, dim)), dim.getUnit());
}

bool coll::isUneven(MeshOp mesh, DimShardingAttr dim, int64_t extent) {
  return saturatingProduct(getBlockExtent(mesh, dim, extent), getNumShards(mesh, dim)) != extent;
}

RankedTensorType coll::getLocalType(MeshOp mesh, ShardingAttr sharding, RankedTensorType global) {
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::zip_equal(sharding.getDims(), global.getShape()))
    shape.push_back(getBlockExtent(mesh, dim, extent));
  return RankedTensorType::get(shape, global.getElementType(), global.getEncoding());
}

static SmallVector<StringAttr> withoutVoidAxes(MeshOp mesh, ArrayRef<StringAttr> axes) {
  return llvm::filter_to_vector(axes, [&](StringAttr axis) { return mesh.getAxisSize(axis) != 1; });
}

ShardingAttr coll::canonicalSharding(MeshOp mesh, ArrayRef<int64_t> shape, ShardingAttr sharding) {
  MLIRContext *context = mesh.getContext();
  SmallVector<DimShardingAttr> dims;
  for (auto [dim, extent] : llvm::zip_equal(sharding.getDims(), shape)) {
    SmallVector<StringAttr> axes = withoutVoidAxes(mesh, dim.getAxes());
    auto canonical = DimShardingAttr::get(context, axes, 1);
    int64_t block = getBlockExtent(mesh, dim, extent);
    // If the block is too long to be a unit, the sharding keeps its unit.
    if (!axes.empty() && getBlockExtent(mesh, canonical, extent) != block)
      canonical =
          DimShardingAttr::get(context, axes, llvm::isInt<32>(block) ? block : dim.getUnit());
    dims.push_back(canonical);
  }
  SmallVector<StringAttr> partial;
  for (auto axis : mesh.getAxisNames().getAsRange<StringAttr>())
    if (mesh.getAxisSize(axis) != 1 && llvm::is_contained(sharding.getPartialAxes(), axis))
      partial.push_back(axis);
  return ShardingAttr::get(context, sharding.getMesh(), dims, partial, sharding.getPartialKind());
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

int64_t coll::getGroupSize(GroupAttr group, MeshOp mesh) {
  if (!group.isMesh())
    return group.getLists().front().size();
  return getAxesProduct(mesh, group.getAxes());
}

SmallVector<SmallVector<int64_t>> coll::getGroupLists(GroupAttr group, MeshOp mesh) {
  SmallVector<SmallVector<int64_t>> lists;
  if (!group.isMesh()) {
    for (DenseI64ArrayAttr ranks : group.getLists())
      lists.emplace_back(ranks.asArrayRef());
    return lists;
  }
  int64_t size = getGroupSize(group, mesh);
  int64_t ranks = mesh.getNumRanks();
  lists.assign(ranks / size, SmallVector<int64_t>(size));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t position = 0;
    for (StringAttr axis : group.getAxes())
      position = position * *mesh.getAxisSize(axis) + mesh.getCoordinate(rank, axis);
    int64_t index = 0;
    for (auto axis : mesh.getAxisNames().getAsRange<StringAttr>())
      if (!llvm::is_contained(group.getAxes(), axis))
        index = index * *mesh.getAxisSize(axis) + mesh.getCoordinate(rank, axis);
    lists[index][position] = rank;
  }
  return lists;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static TypedAttr getFloatIdentity(ReductionKind kind, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  // Formats without infinities start from their largest finite value.
  auto extreme = [&](bool negative) {
    return llvm::APFloat::semanticsHasInf(semantics)
               ? llvm::APFloat::getInf(semantics, negative)
               : llvm::APFloat::getLargest(semantics, negative);
  };
  switch (kind) {
  case ReductionKind::Sum:
    return FloatAttr::get(type, llvm::APFloat::getZero(semantics));
  case ReductionKind::Prod:
    return FloatAttr::get(type, 1.0);
  case ReductionKind::Min:
    return FloatAttr::get(type, extreme(/*negative=*/false));
  case ReductionKind::Max:
    return FloatAttr::get(type, extreme(/*negative=*/true));
  default:
    return {};
  }
}

TypedAttr coll::getIdentity(ReductionKind kind, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return getFloatIdentity(kind, floatType);
  if (!type.isIntOrIndex())
    return {};
  unsigned width =
      type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  if (width == 0)
    return {};
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
  case ReductionKind::Xor:
  case ReductionKind::UMax:
    return IntegerAttr::get(type, APInt::getZero(width));
  case ReductionKind::Prod:
    return IntegerAttr::get(type, APInt(width, 1));
  case ReductionKind::And:
  case ReductionKind::UMin:
    return IntegerAttr::get(type, APInt::getAllOnes(width));
  case ReductionKind::Min:
    return IntegerAttr::get(type, APInt::getSignedMaxValue(width));
  case ReductionKind::Max:
    return IntegerAttr::get(type, APInt::getSignedMinValue(width));
  case ReductionKind::Avg:
    return {};
  }
  return {};
}
