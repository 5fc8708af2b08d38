//===- uniform_loops.cc ----------------------------------------------------------===//

#include "passes/transform/uniform_loops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/analysis/sharding_map.h"

namespace mlir::coll {

namespace {

/// The values that the condition of `loop` forwards, computed at the builder's insertion point from
/// the carried values `carried`.
SmallVector<Value> recompute(OpBuilder &builder, scf::WhileOp loop, ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getBeforeArguments(), carried);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(loop.getConditionOp().getArgs(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

void makeUniform(scf::WhileOp loop) {
  OpBuilder builder(loop);
  TypeRange types = loop.getInits().getTypes();
  auto uniform =
      scf::WhileOp::create(builder, loop.getLoc(), types, loop.getInits(), nullptr, nullptr);
  uniform->setDiscardableAttrs(loop->getDiscardableAttrDictionary());

  IRMapping before;
  before.map(loop.getBeforeArguments(), uniform.getBeforeArguments());
  builder.setInsertionPointToEnd(uniform.getBeforeBody());
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, before);
  scf::ConditionOp condition = loop.getConditionOp();
  scf::ConditionOp::create(builder, condition.getLoc(),
                           before.lookupOrDefault(condition.getCondition()),
                           uniform.getBeforeArguments());

  IRMapping after;
  builder.setInsertionPointToEnd(uniform.getAfterBody());
  after.map(loop.getAfterArguments(), recompute(builder, loop, uniform.getAfterArguments()));
  for (Operation &op : *loop.getAfterBody())
    builder.clone(op, after);

  builder.setInsertionPoint(loop);
  loop.replaceAllUsesWith(recompute(builder, loop, uniform.getResults()));
  loop.erase();
}

} // namespace

void makeLoopsUniform(Operation *root) {
  SmallVector<scf::WhileOp> loops;
  root->walk([&](scf::WhileOp loop) {
    bool pure = llvm::all_of(loop.getBeforeBody()->without_terminator(),
                             [](Operation &op) { return isMemoryEffectFree(&op); });
    if (!isUniformLoop(loop) && pure)
      loops.push_back(loop);
  });
  for (scf::WhileOp loop : loops)
    makeUniform(loop);
}

} // namespace mlir::coll
