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
  if (value)
    content.loc = value.getLoc();
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

/// The outermost branch in whose `else` the value is used, from `at` to `end`, and which begins
/// after it; null if there is none.
scf::IfOp BufferPlanner::findElse(Value value, Operation *at, int64_t end) const {
  scf::IfOp found;
  Region *home = value.getParentRegion();
  for (Region *region = at->getParentRegion(); region && region != home;
       region = region->getParentRegion()) {
    auto branch = dyn_cast<scf::IfOp>(region->getParentOp());
    if (branch && region == &branch.getElseRegion() && end <= 2 * end_.lookup(branch))
      found = branch;
  }
  return found;
}

/// A value from outside a loop that is read in it is live until the loop ends. One that is read in
/// both branches of an scf.if is not live in the first after its last use there: the second does
/// not follow.
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
  scf::IfOp branch = findElse(content.value, at, end);
  if (content.elseOf && content.elseOf != branch) {
    Interval apart = content.live.pop_back_val();
    content.live[--content.usesExtend].end = apart.end;
    content.elseOf = {};
  }
  if (branch && !content.elseOf && content.usesExtend + 1 == content.live.size()) {
    int64_t &before = content.live.back().end;
    before = std::max(before, 2 * position(branch) + 1);
    content.live.push_back({2 * position(&branch.elseBlock()->front()), end});
    ++content.usesExtend;
    content.elseOf = branch;
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
  if (failed(checkFutures()))
    return failure();
  assignSlots();
  return std::move(plan_);
}

FailureOr<BufferPlan> mlir::coll::planBuffers(func::FuncOp func, const KernelTable &kernels) {
  return BufferPlanner(func, kernels).run();
}
