//===- place_roots.cc - root updates to rows that are split over the ranks --------===//
//
// Updates with equal regions and types become one, over a bucket in which each parameter has its
// rows (layout.h, bucket.h). States that only roots have become arguments of the step
// that hold them as rows; `coll.parts` says which state lies where.
//
//===----------------------------------------------------------------------------===//

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/micro_batches.h"
#include "passes/analysis/sharding_map.h"
#include "passes/passes.h"
#include "passes/transform/init_function.h"
#include "passes/transform/roots/bucket.h"
#include "passes/transform/roots/state.h"

#include <numeric>

namespace mlir::coll {

#define GEN_PASS_DEF_PLACEROOTSPASS
#include "passes/passes.h.inc"

namespace {

/// The axes of ranks that split the batch: gradients are sums over them.
SmallVector<StringAttr> getBatchAxes(func::FuncOp step) {
  for (unsigned index = 0; index < step.getNumArguments(); ++index) {
    auto role = step.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    auto sharding = step.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (role && role.getValue() == kRoleBatch && sharding && !sharding.getDims().empty() &&
        !sharding.getDims()[0].getAxes().empty())
      return llvm::filter_to_vector(sharding.getDims()[0].getAxes(),
                                    [](StringAttr axis) { return axis != kTimeAxis; });
  }
  return {};
}

/// Whether one operation over a bucket can replace both; they have to be on one stage.
bool canShareBucket(RootUpdateOp a, RootUpdateOp b) {
  if (a->getAttr(kStageAttr) != b->getAttr(kStageAttr) || a.getRoot() != b.getRoot() ||
      a.getRoute() != b.getRoute() || a.getForward() != b.getForward() ||
      a.getProperties().operandSegmentSizes != b.getProperties().operandSegmentSizes)
    return false;
  for (auto [x, y] : llvm::zip_equal(a->getOperandTypes(), b->getOperandTypes()))
    if (getElementTypeOrSelf(x) != getElementTypeOrSelf(y))
      return false;
  return OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

class PlaceRootsPass : public impl::PlaceRootsPassBase<PlaceRootsPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<CollDialect, arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect,
                    func::FuncDialect>();
  }

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>(kStepFunction);
    if (!step || step.isExternal())
      return;
    SmallVector<RootUpdateOp> updates;
    step.walk([&](RootUpdateOp op) {
      if (op.getRoot())
        updates.push_back(op);
    });
    if (!updates.empty() && failed(place(step, updates)))
      signalPassFailure();
  }

private:
  LogicalResult place(func::FuncOp step, SmallVector<RootUpdateOp> updates) {
    MeshOp mesh = getFunctionMesh(step);
    SmallVector<StringAttr> axes = getBatchAxes(step);
    if (!mesh || axes.empty())
      return updates.front().emitOpError()
             << "has no ranks to choose a root from: no batch argument of @step is split along "
                "its first dimension; give --mesh an axis for --strategy=data, or run without "
                "--root";
    RootedState state(step);
    SmallVector<SmallVector<RootUpdateOp>> groups;
    for (RootUpdateOp update : updates) {
      if (update->getParentOp() != step)
        return update.emitOpError() << "stands in a loop or a branch; a root is chosen once, "
                                       "outside of it";
      if (!hasRows(update)) {
        update.removeRootAttr();
        update.emitRemark() << "keeps no root: a parameter without dimensions or without elements "
                               "has no rows";
        continue;
      }
      if (isSplitElsewhere(update)) {
        update.removeRootAttr();
        update.emitRemark() << "keeps no root: its parameter or its state is split already";
        continue;
      }
      if (failed(state.check(update)))
        return failure();
      auto group =
          llvm::find_if(groups, [&](auto &g) { return canShareBucket(g.front(), update); });
      if (group == groups.end())
        groups.push_back({update});
      else
        group->push_back(update);
    }
    for (auto [number, group] : llvm::enumerate(groups))
      placeGroup(state, group, mesh, axes, number);
    if (failed(state.finish(mesh)))
      return failure();
    if (!sortTopologically(&step.getBody().front()))
      return step.emitError()
             << "a gradient depends on another parameter's update or norm, so that "
                "they cannot be updated together; distribute the step without "
                "roots";
    return success();
  }

  /// Scalars and tensors without elements do not go into buckets.
  static bool hasRows(RootUpdateOp update) {
    auto type = cast<RankedTensorType>(update.getStates().front().getType());
    return type.getRank() > 0 && type.getNumElements() > 0;
  }

  /// A parameter or state that is split over ranks in another way has no single root.
  static bool isSplitElsewhere(RootUpdateOp update) {
    return llvm::any_of(update.getStates(), [](Value state) {
      auto argument = dyn_cast<BlockArgument>(state);
      auto function = dyn_cast<func::FuncOp>(state.getParentBlock()->getParentOp());
      auto sharding =
          argument && function
              ? function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr)
              : nullptr;
      return sharding && !sharding.isReplicated();
    });
  }

  void placeGroup(RootedState &state, SmallVector<RootUpdateOp> group, MeshOp mesh,
                  ArrayRef<StringAttr> axes, int64_t number) {
    int64_t ranks = 1;
    for (StringAttr axis : axes)
      ranks *= *mesh.getAxisSize(axis);
    SmallVector<RootLayout::Item> items =
        llvm::map_to_vector(group, [&](RootUpdateOp op) { return state.describe(op); });
    Root root = *group.front().getRoot();
    RootBucket bucket(group, RootLayout::create(root, items, ranks), mesh, llvm::to_vector(axes));
    report(bucket, root, items);
    state.pack(bucket, number);
  }

  static int64_t bytesOf(Type element) {
    return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 8;
  }

  static void report(RootBucket &bucket, Root root, ArrayRef<RootLayout::Item> items) {
    const RootLayout &layout = bucket.getLayout();
    SmallVector<int64_t> loads = layout.getLoads();
    int64_t total = std::accumulate(loads.begin(), loads.end(), int64_t(0));
    int64_t most = *llvm::max_element(loads);
    RootUpdateOp first = bucket.getUpdates().front();
    int64_t bytesPerElement = 0;
    for (Value held : first.getStates().take_back(bucket.getNumHeld()))
      bytesPerElement += bytesOf(getElementTypeOrSelf(held.getType()));
    InFlightDiagnostic remark = first.emitRemark();
    remark << "root=" << stringifyRoot(root);
    if (auto stage = first->getAttrOfType<IntegerAttr>(kStageAttr))
      remark << ", stage " << stage.getInt();
    remark << ": " << items.size() << " parameters with " << total
           << " elements; elements per rank: ";
    if (layout.getNumRanks() <= 16)
      llvm::interleaveComma(loads, remark);
    else
      remark << "from " << *llvm::min_element(loads) << " to " << most;
    remark << " (" << (most * layout.getNumRanks() - total) * 100 / std::max<int64_t>(total, 1)
           << " % imbalance); optimizer state: "
           << layout.getBlockRows() * layout.getRowElements() * bytesPerElement
           << " bytes on each rank, " << total * bytesPerElement << " in all";
    bool isNamed = llvm::all_of(items, [](const RootLayout::Item &i) { return !i.name.empty(); });
    if (root == Root::Hash && !isNamed)
      remark << "; parameters without a name are hashed by their number";
  }
};

} // namespace
} // namespace mlir::coll
