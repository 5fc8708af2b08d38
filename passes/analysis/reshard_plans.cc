//===- reshard_plans.cc - the planner of reshards on shardings -------------------===//

#include "passes/analysis/reshard_plans.h"

#include "dialect/sharding.h"
#include "passes/analysis/micro_batches.h"

#include <limits>

namespace mlir::coll {

namespace {

namespace plan = ::coll::plan;

} // namespace

plan::Mesh toPlanMesh(MeshOp mesh) {
  plan::Mesh result;
  for (auto [name, size] : llvm::zip(mesh.getAxisNames(), mesh.getAxisSizes()))
    result.axes.push_back({cast<StringAttr>(name).str(), size});
  return result;
}

int64_t getElementBytes(RankedTensorType type) {
  Type element = type.getElementType();
  return llvm::divideCeil(element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64, 8);
}

FailureOr<ReshardPlans> ReshardPlans::create(MeshOp mesh, StringRef topology) {
  plan::Mesh axes = toPlanMesh(mesh);
  if (topology.empty()) {
    // Over time, there are only reductions and gathers.
    const double messageBytes = mesh.getAxisSize(kTimeAxis)
                                    ? std::numeric_limits<double>::infinity()
                                    : plan::CostModel::kMessageBytes;
    return ReshardPlans(
        mesh, plan::ReshardPlanner(std::move(axes), plan::CostModel::byBytes(messageBytes)));
  }
  auto read = plan::readTopology(topology.str());
  if (!read.ok()) {
    emitError(mesh.getLoc()) << read.error();
    return failure();
  }
  auto cost = plan::CostModel::overTopology(*read, axes);
  if (!cost.ok()) {
    emitError(mesh.getLoc()) << topology << ": " << cost.error();
    return failure();
  }
  return ReshardPlans(mesh, plan::ReshardPlanner(std::move(axes), std::move(*cost)));
}

Layout ReshardPlans::layoutOf(RankedTensorType type, ShardingAttr sharding) {
  auto numbers = [&](ArrayRef<StringAttr> axes) {
    std::vector<int> result;
    for (StringAttr axis : axes)
      for (auto [index, name] : llvm::enumerate(mesh_.getAxisNames()))
        if (name == axis)
          result.push_back(index);
    return result;
  };
  ShardingAttr canonical = canonicalSharding(mesh_, type.getShape(), sharding);
  Layout layout;
  for (auto [dim, extent] : llvm::zip(canonical.getDims(), type.getShape()))
    layout.dims.push_back({numbers(dim.getAxes()), getBlockExtent(mesh_, dim, extent)});
  layout.partial = numbers(canonical.getPartialAxes());
  return layout;
}

SmallVector<StringAttr> ReshardPlans::axesOf(ArrayRef<int> axes) {
  return llvm::map_to_vector(
      axes, [&](int axis) { return cast<StringAttr>(mesh_.getAxisNames()[axis]); });
}

ShardingAttr ReshardPlans::shardingOf(RankedTensorType type, const Layout &layout,
                                      ReductionKind partialKind) {
  MLIRContext *context = mesh_.getContext();
  SmallVector<DimShardingAttr> dims;
  for (auto [split, extent] : llvm::zip(layout.dims, type.getShape())) {
    auto dim = DimShardingAttr::get(context, axesOf(split.axes), 1);
    if (getBlockExtent(mesh_, dim, extent) != split.block && llvm::isInt<32>(split.block))
      dim = DimShardingAttr::get(context, axesOf(split.axes), split.block);
    dims.push_back(dim);
  }
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(mesh_.getSymNameAttr()), dims,
                           axesOf(layout.partial), partialKind);
}

MovePlan ReshardPlans::plan(RankedTensorType type, ShardingAttr from, ShardingAttr to) {
  auto result = planner_.plan(type.getShape().vec(), getElementBytes(type), layoutOf(type, from),
                              layoutOf(type, to));
  assert(result.ok() && "the verifier has checked both shardings");
  return *result;
}

TargetsPlan ReshardPlans::planTargets(RankedTensorType type, ShardingAttr from,
                                      ArrayRef<ShardingAttr> targets) {
  std::vector<Layout> layouts;
  for (ShardingAttr target : targets)
    layouts.push_back(layoutOf(type, target));
  auto result = planner_.planTargets(type.getShape().vec(), getElementBytes(type),
                                     layoutOf(type, from), layouts);
  assert(result.ok() && "the verifier has checked all shardings");
  return *result;
}

} // namespace mlir::coll
