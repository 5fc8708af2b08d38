//===- insert_strategy.cc - L0 to L1 by strategies and patterns -------------------===//

#include "dialect/sharding.h"
#include "passes/passes.h"
#include "passes/transform/find_step.h"
#include "passes/transform/init_function.h"
#include "passes/transform/strategy/shard_pattern.h"
#include "passes/transform/strategy/strategies.h"

namespace mlir::coll {

#define GEN_PASS_DEF_INSERTSTRATEGYPASS
#include "passes/passes.h.inc"

namespace {

constexpr StringLiteral kMeshName = "mesh";

class InsertStrategyPass : public impl::InsertStrategyPassBase<InsertStrategyPass> {
public:
  using InsertStrategyPassBase::InsertStrategyPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCollDialects(registry);
  }

  void runOnOperation() override {
    func::FuncOp step = findStep(getOperation(), "to distribute");
    if (!step)
      return signalPassFailure();
    MeshOp grid = createMesh(step);
    if (!grid)
      return signalPassFailure();
    StepSharding sharding(step, grid);
    for (const std::string &pattern : shards)
      if (failed(applyShardPattern(pattern, sharding)))
        return signalPassFailure();
    if (failed(applyStrategies(strategy, sharding)))
      return signalPassFailure();
    sharding.write();
    if (!getOperation().lookupSymbol(kInitFunction))
      createInitFunction(step, grid);
  }

private:
  /// The mesh `dp=2,tp=4`.
  MeshOp createMesh(func::FuncOp step) {
    ModuleOp module = getOperation();
    if (Operation *taken = module.lookupSymbol(kMeshName)) {
      taken->emitError() << "takes the name @" << kMeshName << " that the mesh needs";
      return nullptr;
    }
    SmallVector<StringRef> words, names;
    SmallVector<int64_t> sizes;
    StringRef(mesh).split(words, ',');
    int64_t total = 1;
    for (StringRef word : words) {
      auto [name, size] = word.split('=');
      int64_t value;
      bool isValid = !name.empty() && !size.getAsInteger(10, value) && value >= 1 &&
                     value <= kMaxRanks / total && !llvm::is_contained(names, name);
      if (!isValid) {
        step.emitError() << "mesh '" << mesh << "' is not of the form axis=N,axis=N with distinct "
                         << "axes and at most " << kMaxRanks << " ranks";
        return nullptr;
      }
      total *= value;
      names.push_back(name);
      sizes.push_back(value);
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    return MeshOp::create(builder, module.getLoc(), kMeshName, builder.getStrArrayAttr(names),
                          builder.getDenseI64ArrayAttr(sizes));
  }

  static constexpr int64_t kMaxRanks = 1 << 24;
};

} // namespace
} // namespace mlir::coll
