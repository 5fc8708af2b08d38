//===- sharding_map.cc -----------------------------------------------------------===//

#include "passes/analysis/sharding_map.h"

#include "dialect/sharding.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::coll {

bool isUniformLoop(Operation *op) {
  if (isa<scf::ForOp>(op))
    return true;
  auto loop = dyn_cast<scf::WhileOp>(op);
  return loop && llvm::equal(loop.getConditionOp().getArgs(), loop.getBeforeArguments());
}

int64_t getCarriedIndex(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  int64_t number = argument.getArgNumber();
  return isa<scf::ForOp>(parent) ? number - 1 : number;
}

SmallVector<ShardingAttr> getResultShardings(Operation *op) {
  SmallVector<ShardingAttr> shardings(op->getNumResults());
  auto recorded = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
  if (!recorded || recorded.size() != op->getNumResults())
    return shardings;
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (isa<RankedTensorType>(result.getType()))
      shardings[index] = dyn_cast<ShardingAttr>(recorded[index]);
  return shardings;
}

ShardingAttr getRecordedSharding(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return nullptr;
  if (auto result = dyn_cast<OpResult>(value))
    return getResultShardings(result.getOwner())[result.getResultNumber()];
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<FunctionOpInterface>(parent))
    return function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
  if (!isUniformLoop(parent))
    return nullptr;
  return getResultShardings(parent)[getCarriedIndex(argument)];
}

ShardingAttr getReplicatedSharding(MeshOp mesh, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return nullptr;
  return ShardingAttr::replicated(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), type.getRank());
}

SmallVector<ShardingAttr> getTerminatorShardings(Operation *terminator) {
  Operation *parent = terminator->getParentOp();
  SmallVector<ShardingAttr> shardings(terminator->getNumOperands());
  if (auto function = dyn_cast<FunctionOpInterface>(parent)) {
    for (unsigned index = 0; index < shardings.size(); ++index)
      shardings[index] = function.getResultAttrOfType<ShardingAttr>(index, kShardingAttr);
    return shardings;
  }
  if (!isUniformLoop(parent) && !isa<scf::IfOp>(parent))
    return shardings;
  SmallVector<ShardingAttr> results = getResultShardings(parent);
  unsigned skipped = isa<scf::ConditionOp>(terminator) ? 1 : 0;
  for (auto [index, sharding] : llvm::enumerate(results))
    shardings[index + skipped] = sharding;
  return shardings;
}

SmallVector<Value> getCapturedTensors(Operation *op) {
  SmallVector<Value> tensors;
  if (op->getNumRegions() == 0 || isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return tensors;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::copy_if(captured, std::back_inserter(tensors),
                [](Value value) { return isa<RankedTensorType>(value.getType()); });
  return tensors;
}

void setShardings(Operation *op, ArrayRef<ShardingAttr> shardings) {
  SmallVector<Attribute> attributes;
  for (ShardingAttr sharding : shardings)
    attributes.push_back(sharding ? Attribute(sharding) : UnitAttr::get(op->getContext()));
  op->setAttr(kShardingsAttr, ArrayAttr::get(op->getContext(), attributes));
}

MeshOp getFunctionMesh(FunctionOpInterface function) {
  auto lookup = [&](ShardingAttr sharding) {
    return sharding ? lookupMesh(function, sharding.getMesh()) : MeshOp();
  };
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (MeshOp mesh = lookup(function.getArgAttrOfType<ShardingAttr>(index, kShardingAttr)))
      return mesh;
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (MeshOp mesh = lookup(function.getResultAttrOfType<ShardingAttr>(index, kShardingAttr)))
      return mesh;
  return nullptr;
}

} // namespace mlir::coll
