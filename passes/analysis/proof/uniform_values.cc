//===- uniform_values.cc - values that are equal on all ranks -------------------===//

#include "passes/analysis/proof/uniform_values.h"
#include "dialect/dialect.h"
#include "passes/analysis/rank_groups.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::coll;

static constexpr size_t kMaxAxes = 64;

UniformValues::UniformValues(func::FuncOp function, GroupTable &groups) : groups_(groups) {
  auto meshes = function->getParentOfType<ModuleOp>().getOps<MeshOp>();
  if (llvm::hasSingleElement(meshes) && (*meshes.begin()).getAxisNames().size() <= kMaxAxes) {
    mesh_ = *meshes.begin();
    all_ = axesOf(llvm::to_vector(mesh_.getAxisNames().getAsRange<StringAttr>())) | 1;
  }
  for (BlockArgument argument : function.getArguments()) {
    auto sharding = function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
    mark(argument, sharding ? axesOf(sharding) : all_);
  }
  // Iterates to a fixpoint, which exists because the sets of axes only grow.
  bool changed = true;
  while (changed) {
    changed = false;
    function.walk([&](Operation *op) { changed |= visit(op); });
  }
}

/// Leaves out axes of size 1.
UniformValues::AxisSet UniformValues::axesOf(ArrayRef<StringAttr> axes) const {
  if (!mesh_)
    return axes.empty() ? 0 : all_;
  AxisSet set = 0;
  MeshOp mesh = mesh_;
  for (auto [index, axis] : llvm::enumerate(mesh.getAxisNames()))
    if (llvm::is_contained(axes, axis) && mesh.getAxisSizes()[index] > 1)
      set |= AxisSet(1) << index;
  return set;
}

/// Nullopt if the group is not given by axes of the mesh.
std::optional<UniformValues::AxisSet> UniformValues::axesOf(Operation *op, GroupAttr group) {
  if (groups_.isWorld(groups_.getGroup(op, group)))
    return all_;
  if (mesh_ && group.isMesh())
    return axesOf(group.getAxes());
  return std::nullopt;
}

UniformValues::AxisSet UniformValues::axesOf(ShardingAttr sharding) const {
  AxisSet set = axesOf(sharding.getPartialAxes());
  for (DimShardingAttr dim : sharding.getDims())
    set |= axesOf(dim.getAxes());
  return set;
}

UniformValues::AxisSet UniformValues::axesOf(ValueRange values) const {
  AxisSet set = 0;
  for (Value value : values)
    set |= varying_.lookup(value);
  return set;
}

bool UniformValues::mark(ValueRange values, AxisSet axes) {
  bool changed = false;
  for (Value value : values) {
    AxisSet &set = varying_[value];
    changed |= (axes & ~set) != 0;
    set |= axes;
  }
  return changed;
}

/// For an operation that reads no memory and is neither loop nor branch.
UniformValues::AxisSet UniformValues::axesOfResults(Operation *op) {
  if (isa<RankOp, GroupOp>(op))
    return all_;
  if (auto index = dyn_cast<AxisIndexOp>(op))
    return axesOf(llvm::to_vector(index.getAxes().getAsRange<StringAttr>()));
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    std::optional<AxisSet> group = axesOf(op, collective.getCommGroup());
    if (!group)
      return all_;
    if (isa<AllReduceOp, AllGatherOp, BroadcastOp>(op))
      return axesOf(op->getOperands()) & ~*group;
    return isa<ReduceScatterOp, AllToAllOp>(op) ? axesOf(op->getOperands()) | *group : all_;
  }
  return axesReadBy(op);
}

/// What `op` and the operations in it read and make.
UniformValues::AxisSet UniformValues::axesReadBy(Operation *op) {
  AxisSet set = 0;
  op->walk([&](Operation *nested) {
    set |= axesOf(nested->getOperands());
    // Results of calls count as varying: callees are not followed.
    if (nested != op && isa<RankOp, GroupOp, AxisIndexOp, CollectiveOpInterface>(nested))
      set |= axesOfResults(nested);
    if (isa<func::CallOp>(nested))
      set |= all_;
  });
  return set;
}

bool UniformValues::visitControl(Operation *op, bool &handled) {
  handled = true;
  auto carry = [&](ValueRange from, ValueRange to) {
    bool changed = false;
    for (auto [source, target] : llvm::zip(from, to))
      changed |= mark(target, axesOf(source));
    return changed;
  };
  bool changed = false;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    AxisSet trips = axesOf({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    changed |= mark(loop.getInductionVar(), trips);
    changed |= mark(loop.getResults(), trips);
    changed |= carry(loop.getInitArgs(), loop.getRegionIterArgs());
    changed |= carry(loop.getYieldedValues(), loop.getRegionIterArgs());
    return changed | carry(loop.getRegionIterArgs(), loop.getResults());
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    scf::ConditionOp condition = loop.getConditionOp();
    changed |= carry(loop.getInits(), loop.getBeforeArguments());
    changed |= carry(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    changed |= carry(condition.getArgs(), loop.getAfterArguments());
    changed |= carry(condition.getArgs(), loop.getResults());
    return changed | mark(loop.getResults(), axesOf(condition.getCondition()));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    changed |= mark(branch.getResults(), axesOf(branch.getCondition()));
    if (branch.getNumResults() == 0)
      return changed;
    changed |= carry(branch.thenYield().getOperands(), branch.getResults());
    return changed | carry(branch.elseYield().getOperands(), branch.getResults());
  }
  if (auto start = dyn_cast<StartOp>(op))
    return carry(start.getSources(), start.getBody().getArguments());
  if (auto await = dyn_cast<AwaitOp>(op)) {
    auto start = await.getFuture().getDefiningOp<StartOp>();
    return start ? carry(start.getBody().front().back().getOperands(), await.getResults())
                 : mark(await.getResults(), all_);
  }
  handled = false;
  return false;
}

bool UniformValues::visit(Operation *op) {
  bool handled = false;
  bool changed = visitControl(op, handled);
  if (handled || op->getNumResults() == 0)
    return changed;
  if (auto group = dyn_cast<GroupOp>(op))
    return mark(group.getPosition(), all_);
  // Values read from memory count as varying: memory is not followed.
  bool isFollowed = isa<CollectiveOpInterface>(op) || isMemoryEffectFree(op);
  return mark(op->getResults(), isFollowed ? axesOfResults(op) : all_);
}
