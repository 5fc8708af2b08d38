//===- stablehlo_control.cc - loops, branches and calls --------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_callbacks.h"
#include "passes/import/stablehlo_handlers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

LogicalResult importWhile(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  SmallVector<Value> inits = src.operands();
  TypeRange types = ValueRange(inits).getTypes();
  auto loop = scf::WhileOp::create(b, types, inits);
  SmallVector<Location> locs(inits.size(), b.getLoc());

  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  FailureOr<SmallVector<Value>> condition =
      src.importer.importRegion(src.op, src.op->getRegion(0), before->getArguments());
  if (failed(condition))
    return failure();
  if (condition->size() != 1 ||
      condition->front().getType() != RankedTensorType::get({}, b.getI1Type()))
    return src.error("needs a condition that returns tensor<i1>");
  scf::ConditionOp::create(b, extractScalar(b, condition->front()), before->getArguments());

  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  FailureOr<SmallVector<Value>> next =
      src.importer.importRegion(src.op, src.op->getRegion(1), after->getArguments());
  if (failed(next))
    return failure();
  if (!llvm::equal(ValueRange(*next).getTypes(), types))
    return src.error("needs a body that returns the operands' types");
  scf::YieldOp::create(b, *next);
  b.setInsertionPointAfter(loop);
  return src.finish(loop.getResults());
}

namespace {

/// Fills one region of an scf.if.
LogicalResult importBranch(Source &src, Region &source, Block *target) {
  ImplicitLocOpBuilder &b = src.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(target);
  FailureOr<SmallVector<Value>> results = src.importer.importRegion(src.op, source, {});
  if (failed(results))
    return failure();
  SmallVector<Type> types;
  for (unsigned i = 0; i < src.op->getNumResults(); ++i)
    types.push_back(src.tensor(i));
  if (!llvm::equal(ValueRange(*results).getTypes(), types))
    return src.error("needs branches that return the results' types");
  scf::YieldOp::create(b, *results);
  return success();
}

/// An scf.if with empty blocks.
scf::IfOp createIf(Source &src, Value condition) {
  SmallVector<Type> types;
  for (unsigned i = 0; i < src.op->getNumResults(); ++i)
    types.push_back(src.tensor(i));
  auto branch = scf::IfOp::create(src.b, types, condition, /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  OpBuilder::InsertionGuard guard(src.b);
  src.b.createBlock(&branch.getThenRegion());
  src.b.createBlock(&branch.getElseRegion());
  return branch;
}

} // namespace

LogicalResult importIf(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  if (src.operand(0).getType() != RankedTensorType::get({}, b.getI1Type()))
    return src.error("needs a condition of type tensor<i1>");
  scf::IfOp branch = createIf(src, extractScalar(b, src.operand(0)));
  if (failed(importBranch(src, src.op->getRegion(0), branch.thenBlock())) ||
      failed(importBranch(src, src.op->getRegion(1), branch.elseBlock())))
    return failure();
  return src.finish(branch.getResults());
}

/// Takes the results of an error check from the branch without the error.
static LogicalResult importErrorCheck(Source &src, Region &branch) {
  emitRemark(src.b.getLoc(), "an error check that calls Python is left out (eqx.error_if, "
                             "checkify); the step goes on as if there were no error");
  FailureOr<SmallVector<Value>> results = src.importer.importRegion(src.op, branch, {});
  return failed(results) ? failure() : src.finish(*results);
}

LogicalResult importCase(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  if (Region *branch = findBranchWithoutError(src.op))
    return importErrorCheck(src, *branch);
  unsigned numBranches = src.op->getNumRegions();
  RankedTensorType type = src.operandTensor(0);
  if (numBranches == 0 || type.getRank() != 0 || !type.getElementType().isInteger(32))
    return src.error("needs branches and an index of type tensor<i32>");
  if (numBranches == 1) {
    FailureOr<SmallVector<Value>> results =
        src.importer.importRegion(src.op, src.op->getRegion(0), {});
    return failed(results) ? failure() : src.finish(*results);
  }
  // A chain of branches; any other index takes the last branch.
  Value index = extractScalar(b, src.operand(0));
  OpBuilder::InsertionGuard guard(b);
  scf::IfOp outermost;
  for (unsigned i = 0; i + 1 < numBranches; ++i) {
    Value isThis = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index,
                                         splatInt(b, b.getI32Type(), int64_t{i}));
    scf::IfOp branch = createIf(src, isThis);
    if (!outermost)
      outermost = branch;
    else
      scf::YieldOp::create(b, branch.getResults());
    if (failed(importBranch(src, src.op->getRegion(i), branch.thenBlock())))
      return failure();
    b.setInsertionPointToStart(branch.elseBlock());
  }
  if (failed(importBranch(src, src.op->getRegion(numBranches - 1), b.getInsertionBlock())))
    return failure();
  b.setInsertionPointAfter(outermost);
  return src.finish(outermost.getResults());
}

namespace {

LogicalResult inlineFunction(Source &src, StringRef attribute) {
  FailureOr<StringRef> callee = getSymbol(src.op, attribute);
  if (failed(callee))
    return failure();
  FailureOr<SmallVector<Value>> results = src.importer.inlineCall(src.op, *callee);
  return failed(results) ? failure() : src.finish(*results);
}

} // namespace

LogicalResult importCall(Source &src) { return inlineFunction(src, "callee"); }

LogicalResult importComposite(Source &src) { return inlineFunction(src, "decomposition"); }

LogicalResult importIdentity(Source &src) { return src.finish(src.operands()); }

LogicalResult importShardingConstraint(Source &src) {
  FailureOr<Value> value = src.importer.constrain(src.op, src.operand(0));
  return failed(value) ? failure() : src.finish(*value);
}

LogicalResult importShardingGroup(Source &src) {
  emitRemark(src.b.getLoc(),
             "a group of values that are sharded alike is left out: each is sharded "
             "in the cheapest way; write one sharding on all of them to keep it");
  return success();
}

LogicalResult importCustomCall(Source &src) {
  if (isDroppableCallback(src.op)) {
    emitRemark(src.b.getLoc(), "a call of Python without results is left out (jax.debug.print, "
                               "jax.debug.callback): a step runs without Python");
    return success();
  }
  // The support check accepts only calls that pass their operand on. Their own shardings are those
  // of their results (Importer::constrainResults).
  return importIdentity(src);
}

} // namespace mlir::coll::stablehlo
