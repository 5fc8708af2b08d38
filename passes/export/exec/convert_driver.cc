// Driver functions on buffers: the function, its memory, control flow.

#include "passes/export/exec/convert_driver.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::coll;

exec::FunctionOp DriverConverter::makeFunction(func::FuncOp source) {
  SmallVector<int64_t> updates = getUpdatedArgs(source);
  auto function = exec::FunctionOp::create(b_, loc_, source.getName(), source.getFunctionType(),
                                           source.getArgAttrsAttr(), source.getResAttrsAttr(),
                                           updates, plan_->arenaBytes);
  Block *block = b_.createBlock(&function.getBody());
  size_t buffers = source.getNumArguments() + llvm::count(updates, -1) + 1;
  for (size_t i = 0; i < buffers; ++i)
    block->addArgument(exec::BufferType::get(b_.getContext()), loc_);
  return function;
}

Value DriverConverter::slotValue(const Slot &slot) {
  switch (slot.kind) {
  case Slot::Kind::Arg:
    return function_.getBody().front().getArgument(slot.index);
  case Slot::Kind::Result:
    return function_.getResultBuffer(slot.index);
  case Slot::Kind::Arena:
    return function_.getArena();
  case Slot::Kind::Constant: {
    arith::ConstantOp constant = plan_->constants[slot.index];
    return exec::ConstantOp::create(b_, constant.getLoc(), exec::BufferType::get(b_.getContext()),
                                    cast<ElementsAttr>(constant.getValue()));
  }
  }
  llvm_unreachable("every kind of slot has a case");
}

/// The memory of all contents stands at the beginning, in the order in which they begin to exist.
void DriverConverter::makeViews() {
  views_.clear();
  for (const PlannedContent &content : plan_->contents) {
    const Slot &slot = plan_->slots[content.slot];
    Value base = slotValue(slot);
    if (content.isSlot) {
      views_.push_back(base);
      continue;
    }
    int64_t offset = slot.kind == Slot::Kind::Arena ? slot.index : 0;
    Location loc = content.loc ? Location(content.loc) : loc_;
    views_.push_back(exec::ViewOp::create(b_, loc, base, offset, content.bytes));
  }
}

SmallVector<Value> DriverConverter::views(ValueRange tensors) const {
  SmallVector<Value> out;
  for (Value tensor : tensors)
    if (livesInMemory(tensor.getType()))
      out.push_back(view(tensor));
  return out;
}

SmallVector<Value> DriverConverter::scalars(ValueRange values) {
  SmallVector<Value> out;
  for (Value value : values)
    if (!livesInMemory(value.getType()))
      out.push_back(values_.lookup(value));
  return out;
}

static SmallVector<Type> scalarTypes(ValueRange values) {
  SmallVector<Type> types;
  for (Value value : values)
    if (!livesInMemory(value.getType()))
      types.push_back(value.getType());
  return types;
}

static void mapScalars(IRMapping &map, ValueRange from, ValueRange to) {
  unsigned next = 0;
  for (Value value : from)
    if (!livesInMemory(value.getType()))
      map.map(value, to[next++]);
}

void DriverConverter::emitMoves(Operation *op) {
  auto it = plan_->movesBefore.find(op);
  if (it == plan_->movesBefore.end())
    return;
  for (const Move &move : it->second) {
    if (move.src == move.dst || plan_->contents[move.src].bytes == 0)
      continue;
    if (move.isCopy)
      exec::CopyOp::create(b_, loc_, view(move.src), view(move.dst));
    else
      exec::RenameOp::create(b_, loc_, view(move.src), view(move.dst));
  }
}

LogicalResult DriverConverter::convertFor(scf::ForOp op) {
  auto loop = scf::ForOp::create(b_, loc_, values_.lookup(op.getLowerBound()),
                                 values_.lookup(op.getUpperBound()), values_.lookup(op.getStep()),
                                 scalars(op.getInitArgs()), nullptr, op.getUnsignedCmp());
  loop.getBody()->clear();
  values_.map(op.getInductionVar(), loop.getInductionVar());
  mapScalars(values_, op.getRegionIterArgs(), loop.getRegionIterArgs());
  OpBuilder::InsertionGuard guard(b_);
  if (failed(convertBlock(*op.getBody(), loop.getBody())))
    return failure();
  scf::YieldOp::create(b_, loc_, scalars(op.getYieldedValues()));
  mapScalars(values_, op.getResults(), loop.getResults());
  return success();
}

LogicalResult DriverConverter::convertWhile(scf::WhileOp op) {
  SmallVector<Type> types = scalarTypes(op.getResults());
  auto loop = scf::WhileOp::create(b_, loc_, types, scalars(op.getInits()));
  OpBuilder::InsertionGuard guard(b_);
  auto addBlock = [&](Region &region, ValueRange from) {
    Block *block = b_.createBlock(&region);
    for (Type type : scalarTypes(from))
      block->addArgument(type, loc_);
    mapScalars(values_, from, block->getArguments());
    return block;
  };
  if (failed(
          convertBlock(*op.getBeforeBody(), addBlock(loop.getBefore(), op.getBeforeArguments()))))
    return failure();
  scf::ConditionOp::create(b_, loc_, values_.lookup(op.getConditionOp().getCondition()),
                           scalars(op.getConditionOp().getArgs()));
  if (failed(convertBlock(*op.getAfterBody(), addBlock(loop.getAfter(), op.getAfterArguments()))))
    return failure();
  scf::YieldOp::create(b_, loc_, scalars(op.getYieldOp().getOperands()));
  mapScalars(values_, op.getResults(), loop.getResults());
  return success();
}

LogicalResult DriverConverter::convertIf(scf::IfOp op) {
  auto branch = scf::IfOp::create(b_, loc_, scalarTypes(op.getResults()),
                                  values_.lookup(op.getCondition()), /*addThenBlock=*/true,
                                  /*addElseBlock=*/op.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(b_);
  const std::pair<Block *, Block *> branches[] = {{op.thenBlock(), branch.thenBlock()},
                                                  {op.elseBlock(), branch.elseBlock()}};
  for (auto [from, to] : branches) {
    if (!from)
      continue;
    to->clear();
    if (failed(convertBlock(*from, to)))
      return failure();
    scf::YieldOp::create(b_, loc_, scalars(from->getTerminator()->getOperands()));
  }
  mapScalars(values_, op.getResults(), branch.getResults());
  return success();
}

/// Converts all operations, and the moves in front of the terminator; the terminator itself is
/// left to the caller.
LogicalResult DriverConverter::convertBlock(Block &from, Block *to) {
  b_.setInsertionPointToEnd(to);
  for (Operation &op : from) {
    loc_ = op.getLoc();
    emitMoves(&op);
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(convertOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult DriverConverter::convertOp(Operation *op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return success();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    if (auto it = plan_->contentOf.find(empty); it != plan_->contentOf.end())
      exec::UndefinedOp::create(b_, loc_, view(it->second));
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return convertFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return convertWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return convertIf(branch);
  if (auto call = dyn_cast<func::CallOp>(op))
    return convertCall(call);
  if (auto start = dyn_cast<StartOp>(op))
    return convertStart(start), success();
  if (auto await = dyn_cast<AwaitOp>(op))
    return convertAwait(await), success();
  if (isa<CollectiveOpInterface>(op))
    return convertBlocking(op), success();
  if (auto gemm = dyn_cast<GemmOp>(op))
    return convertGemm(gemm), success();
  if (auto gemm = dyn_cast<FusedGemmOp>(op))
    return convertFusedGemm(gemm), success();
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return convertConvolution(convolution), success();
  if (auto attention = dyn_cast<AttentionOp>(op))
    return convertAttention(attention), success();
  if (auto gradient = dyn_cast<AttentionGradientOp>(op))
    return convertAttentionGradient(gradient), success();
  if (isa<tensor::ExtractOp>(op))
    return convertExtract(op), success();
  if (isa<tensor::FromElementsOp>(op))
    return convertFromElements(op), success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && isa<RankedTensorType>(constant.getType()))
    return convertConstant(constant), success();
  if (op->getNumRegions() || op->getNumSuccessors())
    return op->emitOpError("cannot be in kernel form");
  b_.clone(*op, values_);
  return success();
}

LogicalResult DriverConverter::convert(func::FuncOp source, const BufferPlan &plan) {
  plan_ = &plan;
  loc_ = source.getLoc();
  values_ = IRMapping();
  b_.setInsertionPointToEnd(module_.getBody());
  function_ = makeFunction(source);
  Block *body = &function_.getBody().front();
  b_.setInsertionPointToEnd(body);
  makeViews();
  if (failed(convertBlock(source.getBody().front(), body)))
    return failure();
  exec::ReturnOp::create(b_, loc_);
  return success();
}
