//===- insert_micro_batches.cc - the batch split over time (L0 or L1 to L1) ------===//
//
// Micro-batches are a mesh axis: propagation and partitioning then find out what each of them can
// compute alone, and which values are sums over all of them.
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "passes/analysis/micro_batches.h"
#include "passes/passes.h"
#include "passes/transform/find_step.h"
#include "passes/transform/stages/stage_scopes.h"
#include "passes/transform/strategy/step_sharding.h"

namespace mlir::coll {

#define GEN_PASS_DEF_INSERTMICROBATCHESPASS
#include "passes/passes.h.inc"

namespace {

class InsertMicroBatchesPass : public impl::InsertMicroBatchesPassBase<InsertMicroBatchesPass> {
public:
  using InsertMicroBatchesPassBase::InsertMicroBatchesPassBase;

  void runOnOperation() override {
    func::FuncOp step = findStep(getOperation(), "whose batch could be cut");
    if (!step)
      return signalPassFailure();
    MeshOp mesh = addAxis(step);
    if (!mesh || failed(splitBatch(step, mesh)))
      return signalPassFailure();
    markStages(step);
  }

private:
  /// A single micro-batch is treated as the first of two, the second of which has no rows: an axis
  /// of size 1 would not show which values are sums over the batch.
  int64_t getAxisSize() const { return std::max<int64_t>(count, 2); }

  /// The mesh with one more axis.
  MeshOp addAxis(func::FuncOp step) {
    if (count < 1 || count > (1 << 16)) {
      step.emitError("a batch is cut into 1 to 65536 micro-batches, not ") << count.getValue();
      return nullptr;
    }
    auto meshes = getOperation().getOps<MeshOp>();
    if (meshes.empty()) {
      step.emitError("has no mesh (coll-insert-strategy)");
      return nullptr;
    }
    MeshOp mesh = *meshes.begin();
    if (mesh.getAxisSize(kTimeAxis)) {
      mesh.emitError("has an axis \"") << kTimeAxis << "\", which micro-batches need";
      return nullptr;
    }
    SmallVector<Attribute> names(mesh.getAxisNames().begin(), mesh.getAxisNames().end());
    SmallVector<int64_t> sizes(mesh.getAxisSizes());
    names.push_back(StringAttr::get(&getContext(), kTimeAxis));
    sizes.push_back(getAxisSize());
    mesh.setAxisNamesAttr(ArrayAttr::get(&getContext(), names));
    mesh.setAxisSizes(sizes);
    return mesh;
  }

  LogicalResult splitBatch(func::FuncOp step, MeshOp mesh) {
    std::optional<int64_t> batch = StepSharding(step, mesh).getBatchSize();
    if (!batch)
      return step.emitError("has no batch argument to cut into micro-batches");
    for (unsigned index = 0; index < step.getNumArguments(); ++index) {
      auto type = dyn_cast<RankedTensorType>(step.getArgument(index).getType());
      auto role = step.getArgAttrOfType<StringAttr>(index, kRoleAttr);
      if (!type || type.getRank() == 0 || type.getDimSize(0) != *batch || !role ||
          role.getValue() != kRoleBatch)
        continue;
      if (failed(splitArgument(step, mesh, index, *batch)))
        return failure();
    }
    return success();
  }

  LogicalResult refuseToCut(func::FuncOp step, unsigned index, int64_t batch, int64_t replicas) {
    auto name = step.getArgAttrOfType<StringAttr>(index, kNameAttr);
    InFlightDiagnostic error = step.emitError("batch argument ");
    error << (name ? name.getValue().str() : std::to_string(index)) << " has " << batch
          << " rows, which " << replicas << (replicas == 1 ? " replica" : " replicas")
          << " cannot cut into " << count.getValue() << " micro-batches each; ask for ";
    if (batch >= replicas)
      return error << batch / replicas << " at most, or pass a larger batch";
    return error << "fewer replicas, or pass a larger batch";
  }

  LogicalResult splitArgument(func::FuncOp step, MeshOp mesh, unsigned index, int64_t batch) {
    auto sharding = step.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (!sharding)
      return step.emitError("argument ") << index << " has no sharding (coll-insert-strategy)";
    DimShardingAttr rows = sharding.getDims()[0];
    int64_t replicas = getNumShards(mesh, rows);
    if (rows.getUnit() != 1)
      return step.emitError("argument ") << index << " is split in units of " << rows.getUnit()
                                         << " rows, which micro-batches would cut";
    if (count * replicas > batch)
      return refuseToCut(step, index, batch, replicas);
    SmallVector<StringAttr> axes(rows.getAxes());
    auto time = StringAttr::get(&getContext(), kTimeAxis);
    int64_t unit = 1;
    if (count == 1) {
      axes.insert(axes.begin(), time);
      unit = (batch + replicas - 1) / replicas;
    } else {
      axes.push_back(time);
    }
    SmallVector<DimShardingAttr> dims(sharding.getDims());
    dims[0] = DimShardingAttr::get(&getContext(), axes, unit);
    step.setArgAttr(index, kShardingAttr,
                    ShardingAttr::get(&getContext(), sharding.getMesh(), dims,
                                      sharding.getPartialAxes(), sharding.getPartialKind()));
    return success();
  }
};

} // namespace
} // namespace mlir::coll
