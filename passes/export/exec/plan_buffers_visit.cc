// Contents that each operation of a driver function defines, uses and ties.

#include "passes/export/exec/plan_buffers_impl.h"

#include "dialect/attention.h"
#include "dialect/convolution.h"
#include "dialect/epilogue.h"
#include "dialect/exec/exec.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/step/abi/abi.h"

using namespace mlir;
using namespace mlir::coll;

void BufferPlanner::defineArguments() {
  SmallVector<int64_t> updated = getUpdatedArgs(func_);
  for (BlockArgument arg : func_.getArguments()) {
    unsigned id = define(arg, getBytes(arg.getType()), Interval{0, 1});
    contents_[id].isSlot = true;
    classes_[id].pin = Slot{Slot::Kind::Arg, arg.getArgNumber(), contents_[id].bytes};
    classes_[id].readOnly = !llvm::is_contained(updated, arg.getArgNumber());
  }
}

LogicalResult BufferPlanner::visitCall(func::CallOp call) {
  auto it = kernels_.find(call.getCallee());
  if (it == kernels_.end())
    return call.emitOpError("calls '") << call.getCallee() << "', which is not a kernel";
  const KernelInfo &kernel = it->second;
  for (Value result : call.getResults())
    defineResult(result);
  auto isReadOtherwise = [&](Value value, unsigned result, unsigned self) {
    for (auto [i, arg] : llvm::enumerate(kernel.args))
      if (i != self && arg.access != KernelArg::Access::Scalar &&
          arg.access != KernelArg::Access::Write && root(call.getOperand(i)) == root(value) &&
          !llvm::is_contained(arg.mayAlias, static_cast<int64_t>(result)))
        return true;
    return false;
  };
  int64_t now = 2 * position(call);
  for (auto [i, arg] : llvm::enumerate(kernel.args)) {
    if (arg.access == KernelArg::Access::Scalar || arg.access == KernelArg::Access::Write)
      continue;
    Value operand = call.getOperand(i);
    use(operand, call);
    SmallVector<int64_t> results = arg.mayAlias;
    if (arg.access == KernelArg::Access::ReadWrite)
      results = {static_cast<int64_t>(i - kernel.firstDest())};
    for (int64_t j : results) {
      Value result = call.getResult(j);
      unsigned dst = contentOf_.lookup(result);
      if (getBytes(operand.getType()) == contents_[dst].bytes && !isReadOtherwise(operand, j, i))
        allow(contentOf(operand), dst, {now, now + 1});
      tie(arg.access == KernelArg::Access::Read ? Tie::Kind::Alias : Tie::Kind::ReadWrite, operand,
          dst, call);
    }
  }
  if (kernel.scratchBytes) {
    scratch_[call] = define(Value(), kernel.scratchBytes, writtenBy(call));
    contents_[scratch_[call]].loc = call.getLoc();
  }
  return success();
}

void BufferPlanner::visitCommunication(Operation *op) {
  for (Value operand : op->getOperands())
    if (isInMemory(operand))
      use(operand, op);
  for (Value result : op->getResults())
    defineResult(result);
  if (coll::detail::canShareCall(op)) {
    Value input = op->getOperand(0);
    unsigned dst = contentOf(op->getResult(0));
    allow(contentOf(input), dst, {2 * position(op), 2 * position(op) + 1});
    tie(Tie::Kind::Alias, input, dst, op);
  }
}

void BufferPlanner::visitAwait(AwaitOp op) {
  auto start = op.getFuture().getDefiningOp<StartOp>();
  if (!start)
    return visitCarriedAwait(op);
  if (start.isBucket())
    return visitBucket(start, op);
  int64_t begin = 2 * position(start), end = 2 * position(op);
  for (Value source : start.getSources())
    if (isInMemory(source))
      use(source, op);
  for (Value result : op.getResults())
    define(result, getBytes(result.getType()), Interval{begin, end + 2});
  Operation *comm = start.getCommunication();
  if (!coll::detail::canShareCall(comm))
    return;
  Value source = start.getSources()[0];
  // No other operation may access the source while the operation is in flight.
  auto readMeanwhile = [&](OpOperand &use) {
    Operation *user = start->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return !user || (user != start && user != op && 2 * position(user) > begin);
  };
  if (root(source) != source || llvm::any_of(source.getUses(), readMeanwhile))
    return;
  unsigned dst = contentOf_.lookup(op.getResult(0));
  allow(contentOf(source), dst, {begin, end + 1});
  tie(Tie::Kind::Alias, source, dst, op);
}

/// The call works in place, on memory of its own in which its tensors lie one behind the other:
/// each is computed there, or copied to it before the start.
void BufferPlanner::visitBucket(StartOp start, AwaitOp await) {
  int64_t begin = 2 * position(start), end = 2 * position(await);
  SmallVector<unsigned> bucket;
  for (auto [source, result] : llvm::zip_equal(start.getSources(), await.getResults())) {
    use(source, start);
    unsigned held = define(result, getBytes(result.getType()), Interval{begin, end + 2});
    allow(contentOf(source), held, {begin, begin + 1});
    tie(Tie::Kind::ReadWrite, source, held, start);
    classes_[held].bucket = buckets_.size();
    bucket.push_back(held);
  }
  buckets_.push_back(std::move(bucket));
}

/// Nothing is computed in place. The gradient needs scratch memory. Attention, convolutions, and
/// products with epilogues, which read all their operands and write all their results.
void BufferPlanner::visitAttention(Operation *op) {
  for (Value result : op->getResults())
    defineResult(result);
  for (Value operand : op->getOperands())
    use(operand, op);
  auto gradient = dyn_cast<AttentionGradientOp>(op);
  if (!gradient)
    return;
  CollAttention call = {};
  AttentionSizes sizes = AttentionSizes::of(gradient.getSizes());
  call.batch = sizes.batch, call.heads = sizes.heads, call.queries = sizes.queries;
  scratch_[op] = define(Value(), collAttentionScratchBytes(&call), writtenBy(op));
}

void BufferPlanner::visitFor(scf::ForOp op) {
  int64_t begin = 2 * position(op), end = 2 * end_.lookup(op);
  Operation *yield = op.getBody()->getTerminator();
  for (auto [arg, init, result] :
       llvm::zip_equal(op.getRegionIterArgs(), op.getInitArgs(), op.getResults())) {
    if (!isInMemory(arg) || root(arg) != arg)
      continue;
    use(init, op);
    int64_t bytes = getBytes(arg.getType());
    unsigned id = define(arg, bytes, {{begin, begin + 1}, {2 * position(yield), end + 1}});
    unsigned out = define(result, bytes, Interval{end, end + 1});
    identify(out, id);
    allow(contentOf(init), id, {begin, begin + 1});
    tie(Tie::Kind::Carry, init, id, op);
  }
}

void BufferPlanner::visitWhile(scf::WhileOp op) {
  int64_t begin = 2 * position(op), end = 2 * end_.lookup(op);
  int64_t again = 2 * position(op.getYieldOp());
  for (auto [arg, init] : llvm::zip_equal(op.getBeforeArguments(), op.getInits())) {
    if (!isInMemory(arg) || root(arg) != arg)
      continue;
    use(init, op);
    // On the way to the next iteration it is not a result yet, so the two may share a buffer.
    unsigned id = define(arg, getBytes(arg.getType()), {{begin, begin + 1}, {again, end}});
    allow(contentOf(init), id, {begin, begin + 1});
    tie(Tie::Kind::Carry, init, id, op);
  }
  for (auto [arg, result] : llvm::zip_equal(op.getAfterArguments(), op.getResults())) {
    if (!isInMemory(arg) || root(arg) != arg)
      continue;
    int64_t bytes = getBytes(arg.getType());
    unsigned id = define(arg, bytes, writtenBy(op.getConditionOp()));
    identify(define(result, bytes, Interval{end, end + 1}), id);
  }
}

void BufferPlanner::visitIf(scf::IfOp op) {
  for (Value result : op.getResults()) {
    if (!isInMemory(result))
      continue;
    int64_t then = 2 * position(op.thenYield()), otherwise = 2 * position(op.elseYield());
    define(result, getBytes(result.getType()), {{then, then + 1}, {otherwise, otherwise + 1}}, 1);
  }
}

void BufferPlanner::visitReturn(func::ReturnOp op) {
  SmallVector<int64_t> updated = getUpdatedArgs(func_);
  Interval now = writtenBy(op);
  for (auto [k, value] : llvm::enumerate(op.getOperands())) {
    use(value, op);
    if (updated[k] >= 0 && root(value) == func_.getArgument(updated[k]))
      continue;
    unsigned out = define(Value(), getBytes(value.getType()), now);
    contents_[out].isSlot = true;
    if (updated[k] >= 0)
      identify(out, contentOf_.lookup(func_.getArgument(updated[k])));
    else
      classes_[out].pin = Slot{Slot::Kind::Result, static_cast<int64_t>(k), contents_[out].bytes};
    allow(contentOf(value), out, {now.begin, now.begin + 1});
    tie(Tie::Kind::Result, value, out, op);
  }
}

LogicalResult BufferPlanner::visit(Operation *op) {
  auto carry = [&](ValueRange from, ValueRange to) {
    for (auto [src, dst] : llvm::zip_equal(from, to)) {
      if (!isInMemory(src) || root(dst) != dst)
        continue;
      use(src, op);
      unsigned id = contentOf_.lookup(dst);
      allow(contentOf(src), id, {2 * position(op), 2 * position(op) + 1});
      tie(Tie::Kind::Carry, src, id, op);
    }
  };
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::EmptyOp, arith::ConstantOp>(op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call);
  if (isa<CollectiveOpInterface>(op))
    return visitCommunication(op), success();
  if (auto start = dyn_cast<StartOp>(op))
    return visitStart(start), success();
  if (auto await = dyn_cast<AwaitOp>(op))
    return visitAwait(await), success();
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    unsigned dst = defineResult(gemm.getResult());
    use(gemm.getA(), op);
    use(gemm.getB(), op);
    if (gemm.getAccumulate()) {
      use(gemm.getC(), op);
      if (root(gemm.getC()) != root(gemm.getA()) && root(gemm.getC()) != root(gemm.getB()))
        allow(contentOf(gemm.getC()), dst, {2 * position(op), 2 * position(op) + 1});
      tie(Tie::Kind::ReadWrite, gemm.getC(), dst, op);
    }
    return success();
  }
  if (isa<AttentionOp, AttentionGradientOp, ConvolutionOp, FusedGemmOp>(op))
    return visitAttention(op), success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop), visitCarriedFutures(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop), success();
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch), success();
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return visitReturn(ret), success();
  if (auto condition = dyn_cast<scf::ConditionOp>(op))
    return carry(condition.getArgs(), cast<scf::WhileOp>(op->getParentOp()).getAfterArguments()),
           success();
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      carry(yield.getOperands(), loop.getRegionIterArgs());
      visitYieldedFutures(loop);
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      carry(yield.getOperands(), loop.getBeforeArguments());
    } else {
      carry(yield.getOperands(), parent->getResults());
    }
    return success();
  }
  bool allowed = isa<tensor::ExtractOp, tensor::FromElementsOp>(op);
  for (Value result : op->getResults())
    if (isInMemory(result)) {
      if (!allowed)
        return op->emitOpError("cannot be in kernel form: it makes a tensor outside a kernel");
      defineResult(result);
    }
  for (Value operand : op->getOperands())
    if (isInMemory(operand)) {
      if (!allowed)
        return op->emitOpError("cannot be in kernel form: it reads a tensor outside a kernel");
      use(operand, op);
    }
  return success();
}
