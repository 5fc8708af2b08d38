// Driver functions: entry, control flow, copies.

#include "passes/export/emit_executable_driver.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/step/abi/abi.h"

using namespace mlir;
using namespace mlir::coll;

static constexpr int kInvalidCall = 1;

DriverEmitter::DriverEmitter(ModuleOp module, const KernelTable &kernels,
                             DescriptorBuilder &descriptor)
    : module_(module), kernels_(kernels), descriptor_(descriptor), b_(module.getContext()) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    functions_[function.getName()] = function;
}

Value DriverEmitter::i32(int64_t value) {
  return LLVM::ConstantOp::create(b_, loc_, b_.getI32Type(), value);
}
Value DriverEmitter::i64(int64_t value) {
  return LLVM::ConstantOp::create(b_, loc_, b_.getI64Type(), value);
}
Value DriverEmitter::null() { return LLVM::ZeroOp::create(b_, loc_, ptr_); }

Value DriverEmitter::toLlvm(Value value) {
  Type type = value.getType();
  if (type.isIndex())
    return arith::IndexCastOp::create(b_, loc_, b_.getI64Type(), value);
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return arith::BitcastOp::create(b_, loc_, b_.getI8Type(), value);
  return value;
}

Value DriverEmitter::gep(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  if (bytes == static_cast<int32_t>(bytes))
    return LLVM::GEPOp::create(b_, loc_, ptr_, b_.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  return LLVM::GEPOp::create(b_, loc_, ptr_, b_.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{i64(bytes)});
}

Value DriverEmitter::gep(Value base, Value index, int64_t elementBytes) {
  Value bytes = LLVM::MulOp::create(b_, loc_, index, i64(elementBytes));
  return LLVM::GEPOp::create(b_, loc_, ptr_, b_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

/// Stack memory, reserved at the entry.
Value DriverEmitter::stackSlot(Type type) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&function_.getBody().front());
  return LLVM::AllocaOp::create(b_, loc_, ptr_, type, i32(1));
}

Block *DriverEmitter::newBlock(TypeRange args) {
  Block *block = new Block();
  function_.getBody().push_back(block);
  for (Type type : args)
    block->addArgument(type, loc_);
  return block;
}

/// A block that takes the scalars among `values`.
Block *DriverEmitter::newBlockFor(ValueRange values) {
  SmallVector<Type> types;
  for (Value value : values)
    if (!livesInMemory(value.getType()))
      types.push_back(value.getType());
  return newBlock(types);
}

SmallVector<Value> DriverEmitter::scalars(ValueRange values) {
  SmallVector<Value> out;
  for (Value value : values)
    if (!livesInMemory(value.getType()))
      out.push_back(values_.lookup(value));
  return out;
}

static void mapScalars(IRMapping &map, ValueRange from, ValueRange to) {
  unsigned next = 0;
  for (Value value : from)
    if (!livesInMemory(value.getType()))
      map.map(value, to[next++]);
}

Value DriverEmitter::constantAddress(int64_t index) {
  arith::ConstantOp constant = plan_->constants[index];
  DenseElementsAttr data = getStoredElements(cast<DenseElementsAttr>(constant.getValue()));
  auto type = cast<RankedTensorType>(constant.getType());
  Type element = data.getElementType();
  // LLVM has no eight-bit floats.
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8) {
    element = b_.getI8Type();
    data = data.bitcast(element);
  }
  std::string &name = constantNames_[constant];
  if (name.empty()) {
    name = "constant_" + std::to_string(numConstants_++);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(module_.getBody());
    Type storage = element.isIndex() ? b_.getI64Type() : element;
    auto array = LLVM::LLVMArrayType::get(storage, type.getNumElements());
    Attribute flat = data.reshape(RankedTensorType::get({type.getNumElements()}, element));
    LLVM::GlobalOp::create(b_, loc_, array, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           flat, /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(b_, loc_, ptr_, name);
}

Value DriverEmitter::slotAddress(unsigned slot) {
  const Slot &where = plan_->slots[slot];
  if (where.kind == Slot::Kind::Arena)
    return gep(arena_, where.index);
  if (where.kind == Slot::Kind::Constant)
    return constantAddress(where.index);
  return pinned_.lookup(slot);
}

/// Checks the table's version and loads the addresses of arguments and results.
void DriverEmitter::emitEntry(func::FuncOp source) {
  Value version = LLVM::LoadOp::create(b_, loc_, b_.getI32Type(), abi_);
  Value other =
      LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ne, version, i32(kCollAbiVersion));
  Block *next = newBlock({});
  cf::CondBranchOp::create(b_, loc_, other, failed_, ValueRange{i32(kInvalidCall)}, next,
                           ValueRange{});
  b_.setInsertionPointToStart(next);
  for (auto [i, slot] : llvm::enumerate(plan_->slots)) {
    if (slot.kind != Slot::Kind::Arg && slot.kind != Slot::Kind::Result)
      continue;
    Value table = slot.kind == Slot::Kind::Arg ? args_ : results_;
    pinned_[i] = LLVM::LoadOp::create(b_, loc_, ptr_, gep(table, 8 * slot.index));
  }
  bool needsRank = false;
  source.walk([&](Operation *op) { needsRank |= isa<RankOp, AxisIndexOp>(op); });
  rankSlot_ = Value();
  if (needsRank) {
    rankSlot_ = stackSlot(b_.getI64Type());
    callAbi(AbiFunction::rank, {ctx_, rankSlot_});
  }
}

void DriverEmitter::emitCopies(Operation *op) {
  auto it = plan_->copiesBefore.find(op);
  if (it == plan_->copiesBefore.end())
    return;
  for (const SlotCopy &copy : it->second)
    if (copy.bytes)
      LLVM::MemcpyOp::create(b_, loc_, slotAddress(copy.dst), slotAddress(copy.src),
                             i64(copy.bytes), /*isVolatile=*/false);
}

LogicalResult DriverEmitter::emitFor(scf::ForOp op) {
  Value lower = values_.lookup(op.getLowerBound()), upper = values_.lookup(op.getUpperBound());
  Value step = values_.lookup(op.getStep());
  SmallVector<Value> carried{lower};
  llvm::append_range(carried, scalars(op.getInitArgs()));
  Block *header = newBlock(ValueRange(carried).getTypes()), *body = newBlock({}),
        *exit = newBlock({});
  cf::BranchOp::create(b_, loc_, header, carried);
  b_.setInsertionPointToStart(header);
  Value iv = header->getArgument(0);
  auto less = op.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value more = arith::CmpIOp::create(b_, loc_, less, iv, upper);
  cf::CondBranchOp::create(b_, loc_, more, body, ValueRange{}, exit, ValueRange{});

  b_.setInsertionPointToStart(body);
  values_.map(op.getInductionVar(), iv);
  ValueRange state = header->getArguments().drop_front();
  mapScalars(values_, op.getRegionIterArgs(), state);
  if (failed(emitBlock(*op.getBody())))
    return failure();
  SmallVector<Value> next{arith::AddIOp::create(b_, loc_, iv, step)};
  llvm::append_range(next, scalars(op.getYieldedValues()));
  cf::BranchOp::create(b_, loc_, header, next);
  b_.setInsertionPointToStart(exit);
  mapScalars(values_, op.getResults(), state);
  return success();
}

LogicalResult DriverEmitter::emitWhile(scf::WhileOp op) {
  Block *before = newBlockFor(op.getInits()), *after = newBlockFor(op.getResults()),
        *exit = newBlockFor(op.getResults());
  cf::BranchOp::create(b_, loc_, before, scalars(op.getInits()));
  b_.setInsertionPointToStart(before);
  mapScalars(values_, op.getBeforeArguments(), before->getArguments());
  if (failed(emitBlock(*op.getBeforeBody())))
    return failure();
  SmallVector<Value> forwarded = scalars(op.getConditionOp().getArgs());
  Value condition = values_.lookup(op.getConditionOp().getCondition());
  cf::CondBranchOp::create(b_, loc_, condition, after, forwarded, exit, forwarded);

  b_.setInsertionPointToStart(after);
  mapScalars(values_, op.getAfterArguments(), after->getArguments());
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  cf::BranchOp::create(b_, loc_, before, scalars(op.getYieldOp().getOperands()));
  b_.setInsertionPointToStart(exit);
  mapScalars(values_, op.getResults(), exit->getArguments());
  return success();
}

LogicalResult DriverEmitter::emitIf(scf::IfOp op) {
  Block *then = newBlock({}), *join = newBlockFor(op.getResults());
  Block *otherwise = op.elseBlock() ? newBlock({}) : join;
  cf::CondBranchOp::create(b_, loc_, values_.lookup(op.getCondition()), then, ValueRange{},
                           otherwise, ValueRange{});
  const std::pair<Block *, Block *> branches[] = {{then, op.thenBlock()},
                                                  {otherwise, op.elseBlock()}};
  for (auto [block, source] : branches) {
    if (!source)
      continue;
    b_.setInsertionPointToStart(block);
    if (failed(emitBlock(*source)))
      return failure();
    cf::BranchOp::create(b_, loc_, join, scalars(source->getTerminator()->getOperands()));
  }
  b_.setInsertionPointToStart(join);
  mapScalars(values_, op.getResults(), join->getArguments());
  return success();
}

LogicalResult DriverEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    loc_ = op.getLoc();
    emitCopies(&op);
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(emitOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult DriverEmitter::emitOp(Operation *op) {
  if (isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto call = dyn_cast<func::CallOp>(op))
    return emitKernelCall(call);
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return emitDispatch(dispatch);
  if (auto combine = dyn_cast<CombineOp>(op))
    return emitCombine(combine);
  if (auto comm = dyn_cast<CollectiveOpInterface>(op))
    return emitBlocking(comm);
  if (auto start = dyn_cast<StartOp>(op))
    return emitStart(start);
  if (auto wait = dyn_cast<WaitOp>(op))
    return emitWait(wait);
  if (auto gemm = dyn_cast<GemmOp>(op))
    return emitGemm(gemm), success();
  if (auto axis = dyn_cast<AxisIndexOp>(op))
    return emitAxisIndex(axis), success();
  if (auto group = dyn_cast<GroupOp>(op))
    return emitGroup(group), success();
  if (isa<RankOp>(op)) {
    values_.map(op->getResult(0), rank());
    return success();
  }
  if (isa<tensor::ExtractOp>(op))
    return emitExtract(op);
  if (isa<tensor::FromElementsOp>(op))
    return emitFromElements(op);
  if (isa<arith::ConstantOp>(op) && isa<RankedTensorType>(op->getResult(0).getType())) {
    if (op->hasAttr(kFillAttr))
      emitFill(op);
    return success();
  }
  if (op->getNumRegions() || op->getNumSuccessors())
    return op->emitOpError("cannot be in kernel form");
  b_.clone(*op, values_);
  return success();
}

LogicalResult DriverEmitter::emit(func::FuncOp source, const BufferPlan &plan, StringRef name) {
  plan_ = &plan;
  loc_ = source.getLoc();
  ptr_ = LLVM::LLVMPointerType::get(b_.getContext());
  values_ = IRMapping();
  pinned_.clear();
  b_.setInsertionPointToEnd(module_.getBody());
  SmallVector<Type> types(5, ptr_);
  function_ = func::FuncOp::create(b_, loc_, name, b_.getFunctionType(types, b_.getI32Type()));
  Block *entry = function_.addEntryBlock();
  abi_ = entry->getArgument(0), ctx_ = entry->getArgument(1), args_ = entry->getArgument(2);
  results_ = entry->getArgument(3), arena_ = entry->getArgument(4);
  failed_ = newBlock(b_.getI32Type());
  b_.setInsertionPointToStart(failed_);
  func::ReturnOp::create(b_, loc_, ValueRange{failed_->getArgument(0)});
  b_.setInsertionPointToStart(entry);
  emitEntry(source);
  if (failed(emitBlock(source.getBody().front())))
    return failure();
  func::ReturnOp::create(b_, loc_, ValueRange{i32(0)});
  return success();
}
