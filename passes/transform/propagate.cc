//===- propagate.cc - L1 to L2 ---------------------------------------------------===//

#include "dialect/sharding.h"
#include "passes/passes.h"
#include "passes/transform/propagation.h"
#include "passes/transform/uniform_loops.h"

namespace mlir::coll {

#define GEN_PASS_DEF_PROPAGATEPASS
#include "passes/passes.h.inc"

namespace {

/// Every sharding in the function names one mesh.
LogicalResult checkOneMesh(FunctionOpInterface function, MeshOp mesh) {
  auto check = [&](Attribute attribute, Operation *op) -> LogicalResult {
    auto sharding = dyn_cast_or_null<ShardingAttr>(attribute);
    if (!sharding || sharding.getMesh().getAttr() == mesh.getSymNameAttr())
      return success();
    return op->emitError() << "is sharded over mesh @" << sharding.getMesh().getValue()
                           << ", but another value of this function over @" << mesh.getSymName();
  };
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (failed(check(function.getArgAttr(index, kShardingAttr), function)))
      return failure();
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (failed(check(function.getResultAttr(index, kShardingAttr), function)))
      return failure();
  WalkResult result = function->walk([&](Operation *op) {
    auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
    for (Attribute attribute : shardings ? shardings.getValue() : ArrayRef<Attribute>())
      if (failed(check(attribute, op)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

class PropagatePass : public impl::PropagatePassBase<PropagatePass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registerCollDialects(registry);
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      MeshOp mesh = function.isExternal() ? MeshOp() : getFunctionMesh(function);
      if (!mesh)
        continue;
      if (!function.getFunctionBody().hasOneBlock()) {
        function.emitError("has several blocks; use scf for control flow");
        return signalPassFailure();
      }
      if (failed(checkOneMesh(function, mesh)))
        return signalPassFailure();
      makeLoopsUniform(function);
      Propagation propagation(function, mesh);
      propagation.run();
      propagation.record();
    }
  }
};

} // namespace
} // namespace mlir::coll
