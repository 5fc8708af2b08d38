//===- init_function.cc ----------------------------------------------------------===//

#include "passes/transform/init_function.h"

#include "dialect/signature.h"

namespace mlir::coll {

namespace {

/// A function from all state to all state, with the arguments' attributes of `step`.
func::FuncOp createSignature(OpBuilder &builder, func::FuncOp step) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (unsigned index = 0; index < step.getNumArguments(); ++index) {
    auto role = step.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    if (!role || role.getValue() != kRoleState)
      continue;
    types.push_back(step.getArgument(index).getType());
    attributes.push_back(step.getArgAttrDict(index));
  }
  return func::FuncOp::create(builder, step.getLoc(), kInitFunction,
                              builder.getFunctionType(types, types), {}, attributes);
}

} // namespace

void createInitFunction(func::FuncOp step, MeshOp mesh) {
  OpBuilder builder(step);
  func::FuncOp init = createSignature(builder, step);
  Block *body = init.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<StringAttr> axes;
  for (Attribute axis : mesh.getAxisNames())
    axes.push_back(cast<StringAttr>(axis));
  auto group =
      GroupAttr::get(step.getContext(), FlatSymbolRefAttr::get(mesh.getSymNameAttr()), axes, {});
  InitOp::create(builder, step.getLoc(), group);
  SmallVector<Value> results;
  SmallVector<Attribute> shardings;
  for (auto [index, argument] : llvm::enumerate(body->getArguments())) {
    auto sharding = init.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    shardings.push_back(sharding);
    if (!sharding.isReplicated()) {
      results.push_back(argument);
      continue;
    }
    auto broadcast =
        BroadcastOp::create(builder, step.getArgument(index).getLoc(), argument, 0, group);
    broadcast->setAttr(kWhyAttr, builder.getStringAttr("initial state from rank 0"));
    results.push_back(broadcast.getResult());
  }
  setResultAttrs(init, kShardingAttr, shardings);
  func::ReturnOp::create(builder, step.getLoc(), results);
}

} // namespace mlir::coll
