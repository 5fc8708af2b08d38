//===- partition.cc - L3 to L4 ---------------------------------------------------===//

#include "passes/transform/partition.h"

#include "dialect/sharding.h"
#include "dialect/signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/passes.h"
#include "passes/transform/roots/ring.h"

namespace mlir::coll {

#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/passes.h.inc"

RankedTensorType FunctionPartitioner::localType(Type global, ShardingAttr sharding) {
  return getLocalType(mesh_, sharding, cast<RankedTensorType>(global));
}

Type FunctionPartitioner::localTypeOf(Value value) {
  ShardingAttr sharding = getRecordedSharding(value);
  return sharding ? localType(value.getType(), sharding) : value.getType();
}

LogicalResult FunctionPartitioner::run() {
  auto function = cast<func::FuncOp>(function_.getOperation());
  SmallVector<Type> arguments, results;
  for (Value argument : function.getArguments())
    arguments.push_back(localTypeOf(argument));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto sharding = function.getResultAttrOfType<ShardingAttr>(index, kShardingAttr);
    results.push_back(sharding ? localType(type, sharding) : type);
  }
  auto toGlobal = [](Type type) -> Attribute {
    return isa<RankedTensorType>(type) ? TypeAttr::get(type) : nullptr;
  };
  setArgumentAttrs(function, kGlobalTypeAttr,
                   llvm::map_to_vector(function.getArgumentTypes(), toGlobal));
  setResultAttrs(function, kGlobalTypeAttr,
                 llvm::map_to_vector(function.getResultTypes(), toGlobal));

  Block &global = function.getBody().front();
  auto *local = new Block();
  function.getBody().push_back(local);
  for (auto [argument, type] : llvm::zip(global.getArguments(), arguments))
    mapping_.map(argument, local->addArgument(type, argument.getLoc()));
  LogicalResult result = partitionBlock(global, *local);
  if (failed(result)) {
    local->dropAllReferences();
    local->dropAllDefinedValueUses();
    local->erase();
    return failure();
  }
  global.dropAllReferences();
  global.dropAllDefinedValueUses();
  global.erase();
  function.setFunctionType(FunctionType::get(function.getContext(), arguments, results));
  return success();
}

LogicalResult FunctionPartitioner::partitionBlock(Block &from, Block &to) {
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(&to);
  for (Operation &op : from)
    if (failed(partitionOp(&op)))
      return failure();
  return success();
}

LogicalResult FunctionPartitioner::partitionOp(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return partitionReshard(reshard);
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return partitionNested(op);
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    builder_.clone(*op, mapping_);
    return success();
  }
  return partitionByRule(op);
}

/// Loops and branches: the same operation around partitioned blocks.
LogicalResult FunctionPartitioner::partitionNested(Operation *op) {
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(mapping_.lookupOrDefault(operand));
  for (Value result : op->getResults())
    state.types.push_back(localTypeOf(result));
  state.attributes = op->getDiscardableAttrDictionary();
  state.attributes.erase(kShardingsAttr);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *local = builder_.create(state);
  mapping_.map(op->getResults(), local->getResults());
  for (auto [from, to] : llvm::zip(op->getRegions(), local->getRegions())) {
    if (from.empty())
      continue;
    Block &block = to.emplaceBlock();
    for (BlockArgument argument : from.getArguments())
      mapping_.map(argument, block.addArgument(localTypeOf(argument), argument.getLoc()));
    if (failed(partitionBlock(from.front(), block)))
      return failure();
  }
  return success();
}

namespace {

bool isPartitioned(func::FuncOp function) {
  auto knows = [](unsigned count, llvm::function_ref<Attribute(unsigned)> attribute) {
    return llvm::any_of(llvm::seq(count), [&](unsigned index) { return attribute(index); });
  };
  return knows(function.getNumArguments(),
               [&](unsigned index) { return function.getArgAttr(index, kGlobalTypeAttr); }) ||
         knows(function.getNumResults(),
               [&](unsigned index) { return function.getResultAttr(index, kGlobalTypeAttr); });
}

class PartitionPass : public impl::PartitionPassBase<PartitionPass> {
public:
  using PartitionPassBase::PartitionPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  }

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      MeshOp mesh = getFunctionMesh(function);
      if (!mesh)
        continue;
      if (isPartitioned(function)) {
        function.emitOpError() << "has been partitioned already: its types are those of one rank";
        return signalPassFailure();
      }
      FailureOr<ReshardPlans> plans = ReshardPlans::create(mesh, topology);
      if (failed(plans) ||
          failed(FunctionPartitioner(function, mesh, f32Sums, std::move(*plans)).run()))
        return signalPassFailure();
      expandRings(function, mesh);
    }
  }
};

} // namespace
} // namespace mlir::coll
