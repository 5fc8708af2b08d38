// Contents of a driver function, their lifetimes and their ties.

#include "passes/export/exec/plan_buffers_impl.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/step/abi/abi.h"

using namespace mlir;
using namespace mlir::coll;

bool mlir::coll::livesInMemory(Type type) { return isa<RankedTensorType, RouteType>(type); }

int64_t mlir::coll::getBytes(Type type) {
  if (auto route = dyn_cast<RouteType>(type))
    return collRouteBytes(route.getTokens(), route.getTopk(), route.getCapacity());
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * getElementBytes(tensor.getElementType());
}

static std::optional<KernelArg::Access> parseAccess(StringRef text) {
  return llvm::StringSwitch<std::optional<KernelArg::Access>>(text)
      .Case("read", KernelArg::Access::Read)
      .Case("write", KernelArg::Access::Write)
      .Case("readwrite", KernelArg::Access::ReadWrite)
      .Default(std::nullopt);
}

FailureOr<KernelInfo> mlir::coll::getKernelInfo(func::FuncOp kernel) {
  KernelInfo info;
  info.numResults = kernel.getNumResults();
  if (kernel.getNumArguments() < info.numResults)
    return kernel.emitError("a kernel takes one destination per result");
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    KernelArg &arg = info.args.emplace_back();
    bool isDest = i >= kernel.getNumArguments() - info.numResults;
    if (!isa<RankedTensorType>(kernel.getArgument(i).getType())) {
      if (isDest)
        return kernel.emitError("destination ") << i << " is not a tensor";
      continue;
    }
    arg.access = isDest ? KernelArg::Access::ReadWrite : KernelArg::Access::Read;
    if (auto text = kernel.getArgAttrOfType<StringAttr>(i, "coll.access")) {
      auto access = parseAccess(text);
      if (!access || isDest == (*access == KernelArg::Access::Read))
        return kernel.emitError("argument ") << i << " cannot have access " << text;
      arg.access = *access;
    }
    if (auto alias = kernel.getArgAttrOfType<DenseI64ArrayAttr>(i, "coll.may_alias"))
      llvm::append_range(arg.mayAlias, alias.asArrayRef());
    for (int64_t result : arg.mayAlias)
      if (result < 0 || result >= info.numResults)
        return kernel.emitError("argument ") << i << " may alias no result " << result;
  }
  return info;
}

SmallVector<int64_t> mlir::coll::getUpdatedArgs(func::FuncOp func) {
  SmallVector<int64_t> states;
  bool hasRoles = false;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto role = func.getArgAttrOfType<StringAttr>(i, kRoleAttr);
    hasRoles |= static_cast<bool>(role);
    if (role && role.getValue() == kRoleState)
      states.push_back(i);
  }
  // All arguments of an @init are state, with or without a role.
  if (!hasRoles && func.getName() == kInitFunction)
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      states.push_back(i);
  SmallVector<int64_t> updated(func.getNumResults(), -1);
  for (auto [k, arg] : llvm::enumerate(states))
    if (k < updated.size() && func.getResultTypes()[k] == func.getArgumentTypes()[arg])
      updated[k] = arg;
  return updated;
}

static bool isInMemory(Value value) { return livesInMemory(value.getType()); }

void BufferPlanner::number(Region &region) {
  for (Operation &op : region.front()) {
    begin_[&op] = next_++;
    if (!isa<StartOp>(op))
      for (Region &nested : op.getRegions())
        if (!nested.empty())
          number(nested);
    end_[&op] = op.getNumRegions() ? next_++ : begin_[&op];
  }
}

Value BufferPlanner::root(Value value) const {
  for (;;) {
    if (Value other = alias_.lookup(value)) {
      value = other;
    } else if (Operation *op = value.getDefiningOp();
               isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      value = op->getOperand(0);
    } else {
      return value;
    }
  }
}

// Values that a loop carries without a change are the initial value.
void BufferPlanner::findPassedThrough(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [arg, init, yielded, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(),
                         loop.getResults()))
      if (isInMemory(arg) && root(yielded) == arg)
        alias_[arg] = alias_[result] = init;
    return;
  }
  auto loop = dyn_cast<scf::WhileOp>(op);
  if (!loop)
    return;
  auto forwarded = loop.getConditionOp().getArgs();
  auto yielded = loop.getYieldOp().getOperands();
  for (auto [j, arg] : llvm::enumerate(loop.getBeforeArguments())) {
    if (!isInMemory(arg))
      continue;
    SmallVector<unsigned> ks;
    bool unchanged = false;
    for (unsigned k = 0; k < forwarded.size(); ++k)
      if (isInMemory(forwarded[k]) && root(forwarded[k]) == arg) {
        ks.push_back(k);
        unchanged |= root(yielded[j]) == loop.getAfterArguments()[k];
      }
    if (!unchanged)
      continue;
    Value init = loop.getInits()[j];
    alias_[arg] = init;
    for (unsigned k : ks)
      alias_[loop.getAfterArguments()[k]] = alias_[loop.getResult(k)] = init;
  }
}

unsigned BufferPlanner::define(Value value, int64_t bytes, ArrayRef<Interval> live,
                               unsigned usesExtend) {
  unsigned id = contents_.size();
  Content &content = contents_.emplace_back();
  content.value = value;
  content.bytes = bytes;
  content.live.assign(live.begin(), live.end());
  content.usesExtend = usesExtend;
  parent_.push_back(id);
  BufferClass &cls = classes_.emplace_back();
  cls.members.push_back(id);
  cls.bytes = bytes;
  if (value)
    contentOf_[value] = id;
  return id;
}

unsigned BufferPlanner::defineResult(Value value) {
  return define(value, getBytes(value.getType()), writtenBy(value.getDefiningOp()));
}

/// Constants and tensor.empty become contents when they are first needed.
unsigned BufferPlanner::contentOf(Value value) {
  value = root(value);
  if (auto it = contentOf_.find(value); it != contentOf_.end())
    return it->second;
  unsigned id = defineResult(value);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>();
      constant && !constant->hasAttr(kFillAttr)) {
    Slot slot{Slot::Kind::Constant, static_cast<int64_t>(plan_.constants.size()),
              contents_[id].bytes};
    plan_.constants.push_back(constant);
    contents_[id].isSlot = true;
    classes_[id].pin = slot;
    classes_[id].readOnly = true;
  }
  return id;
}

/// A value from outside a loop that is read in it is live until the loop ends.
void BufferPlanner::use(Value value, Operation *at) {
  Content &content = contents_[contentOf(value)];
  int64_t end = 2 * position(at) + 1;
  Region *home = content.value.getParentRegion();
  for (Region *region = at->getParentRegion(); region && region != home;
       region = region->getParentRegion()) {
    Operation *parent = region->getParentOp();
    if (parent == func_)
      break;
    if (isa<scf::ForOp, scf::WhileOp>(parent))
      end = std::max(end, 2 * end_.lookup(parent) + 1);
  }
  Interval &live = content.live[content.usesExtend];
  live.end = std::max(live.end, end);
}

void BufferPlanner::allow(unsigned src, unsigned dst, Interval window) {
  auto [it, isNew] = allowed_.try_emplace({src, dst}, window);
  if (!isNew)
    it->second = {std::min(it->second.begin, window.begin), std::max(it->second.end, window.end)};
}

void BufferPlanner::tie(Tie::Kind kind, Value src, unsigned dst, Operation *at) {
  unsigned from = contentOf(src);
  if (from == dst)
    return;
  int depth = 0;
  for (Operation *parent = at->getParentOp(); parent != func_; parent = parent->getParentOp())
    depth += isa<scf::ForOp, scf::WhileOp>(parent);
  ties_.push_back({kind, from, dst, at, depth});
}

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
  if (kernel.scratchBytes)
    scratch_[call] = define(Value(), kernel.scratchBytes, writtenBy(call));
  return success();
}

/// Whether the runtime accepts src == dst.
static bool worksInPlace(Operation *op) { return isa<AllReduceOp, ReduceOp, BroadcastOp>(op); }

void BufferPlanner::visitCommunication(Operation *op) {
  for (Value operand : op->getOperands())
    if (isInMemory(operand))
      use(operand, op);
  for (Value result : op->getResults())
    defineResult(result);
  if (worksInPlace(op)) {
    Value input = op->getOperand(0);
    unsigned dst = contentOf(op->getResult(0));
    allow(contentOf(input), dst, {2 * position(op), 2 * position(op) + 1});
    tie(Tie::Kind::Alias, input, dst, op);
  }
}

void BufferPlanner::visitWait(WaitOp op) {
  auto start = op.getRequest().getDefiningOp<StartOp>();
  int64_t begin = 2 * position(start), end = 2 * position(op);
  for (Value source : op.getSources())
    if (isInMemory(source))
      use(source, op);
  for (Value result : op.getResults())
    define(result, getBytes(result.getType()), Interval{begin, end + 2});
  Operation *comm = start.getCommunication();
  if (!worksInPlace(comm))
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
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::EmptyOp, arith::ConstantOp,
          StartOp>(op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call);
  if (isa<CollectiveOpInterface>(op))
    return visitCommunication(op), success();
  if (auto wait = dyn_cast<WaitOp>(op))
    return visitWait(wait), success();
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
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop), success();
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
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      carry(yield.getOperands(), loop.getRegionIterArgs());
    else if (auto loop = dyn_cast<scf::WhileOp>(parent))
      carry(yield.getOperands(), loop.getBeforeArguments());
    else
      carry(yield.getOperands(), parent->getResults());
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

/// Operations of the function in program order, bodies of coll.start left out.
static void collect(Region &region, SmallVectorImpl<Operation *> &ops) {
  for (Operation &op : region.front()) {
    ops.push_back(&op);
    if (!isa<StartOp>(op))
      for (Region &nested : op.getRegions())
        if (!nested.empty())
          collect(nested, ops);
  }
}

FailureOr<BufferPlan> BufferPlanner::run() {
  for (Type type : func_.getArgumentTypes())
    if (!isa<RankedTensorType>(type))
      return func_.emitError("arguments must be tensors, not ") << type;
  for (Type type : func_.getResultTypes())
    if (!isa<RankedTensorType>(type))
      return func_.emitError("results must be tensors, not ") << type;
  number(func_.getBody());
  SmallVector<Operation *> ops;
  collect(func_.getBody(), ops);
  for (Operation *op : llvm::reverse(ops)) // inner loops first
    findPassedThrough(op);
  defineArguments();
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  mergeTies();
  assignSlots();
  return std::move(plan_);
}

FailureOr<BufferPlan> mlir::coll::planBuffers(func::FuncOp func, const KernelTable &kernels) {
  return BufferPlanner(func, kernels).run();
}
