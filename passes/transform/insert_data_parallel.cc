//===- insert_data_parallel.cc - L0 to L1 ----------------------------------------===//
//
// This pass only annotates. Propagation and partitioning do the rest, so that results are those of
// the global batch whatever is annotated here.
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "dialect/signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/passes.h"
#include "passes/transform/find_step.h"
#include "passes/transform/init_function.h"

namespace mlir::coll {

#define GEN_PASS_DEF_INSERTDATAPARALLELPASS
#include "passes/passes.h.inc"

namespace {

class InsertDataParallelPass : public impl::InsertDataParallelPassBase<InsertDataParallelPass> {
public:
  using InsertDataParallelPassBase::InsertDataParallelPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCollDialects(registry);
  }

  void runOnOperation() override {
    func::FuncOp step = findStep(getOperation(), "to distribute");
    if (!step)
      return signalPassFailure();
    MeshOp grid = getOrCreateMesh(step);
    if (!grid)
      return signalPassFailure();
    annotateArguments(step, grid);
    if (!getOperation().lookupSymbol(kInitFunction))
      createInitFunction(step, grid);
  }

private:
  /// A mesh that the user wrote is kept if it has the axis and the size.
  MeshOp getOrCreateMesh(func::FuncOp step) {
    ModuleOp module = getOperation();
    if (ranks < 1 || ranks > (1 << 24)) {
      step.emitError() << "cannot run on " << ranks.getValue() << " ranks; expected 1 to 16777216";
      return nullptr;
    }
    auto meshes = module.getOps<MeshOp>();
    if (!meshes.empty()) {
      MeshOp present = *meshes.begin();
      std::optional<int64_t> size = present.getAxisSize(axis);
      if (size == ranks.getValue())
        return present;
      present.emitError() << "has no axis \"" << axis << "\" of size " << ranks.getValue()
                          << " to split the batch over";
      return nullptr;
    }
    if (Operation *taken = module.lookupSymbol(mesh)) {
      taken->emitError() << "takes the name @" << mesh << " that the mesh needs";
      return nullptr;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    return MeshOp::create(builder, module.getLoc(), mesh, builder.getStrArrayAttr({axis}),
                          builder.getDenseI64ArrayAttr({ranks}));
  }

  /// The batch size is that of the first batch argument that has dimensions; other
  /// lengths (a random key, a schedule) are not split.
  void annotateArguments(func::FuncOp step, MeshOp grid) {
    std::optional<int64_t> batch;
    auto symbol = FlatSymbolRefAttr::get(grid.getSymNameAttr());
    SmallVector<Attribute> shardings(step.getNumArguments());
    for (unsigned index = 0; index < step.getNumArguments(); ++index) {
      auto type = dyn_cast<RankedTensorType>(step.getArgument(index).getType());
      if (!type || step.getArgAttr(index, kShardingAttr))
        continue;
      auto role = step.getArgAttrOfType<StringAttr>(index, kRoleAttr);
      auto sharding = ShardingAttr::replicated(symbol, type.getRank());
      if (role && role.getValue() == kRoleBatch && type.getRank() > 0) {
        batch = batch.value_or(type.getDimSize(0));
        if (*batch == type.getDimSize(0))
          sharding = splitFirstDim(sharding);
        else
          step.emitRemark() << "batch argument " << index << " has leading extent "
                            << type.getDimSize(0) << ", not the batch size " << *batch
                            << ": it is replicated";
      }
      shardings[index] = sharding;
    }
    setArgumentAttrs(step, kShardingAttr, shardings);
  }

  ShardingAttr splitFirstDim(ShardingAttr sharding) {
    MLIRContext *context = &getContext();
    SmallVector<DimShardingAttr> dims(sharding.getDims());
    dims[0] = DimShardingAttr::get(context, {StringAttr::get(context, axis)}, 1);
    return ShardingAttr::get(context, sharding.getMesh(), dims, {}, ReductionKind::Sum);
  }
};

} // namespace
} // namespace mlir::coll
