// Driver functions: entry, addresses, control flow.

#include "passes/export/emit_driver.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "runtime/step/abi/abi.h"

using namespace mlir;
using namespace mlir::coll;

static constexpr int kInvalidCall = 1;

DriverEmitter::DriverEmitter(ModuleOp module, DescriptorBuilder &descriptor)
    : module_(module), b_(module.getContext()), descriptor_(descriptor) {}

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
  // A GEPArg keeps the low bits of a constant that is wider than this.
  if (llvm::isInt<LLVM::kGEPConstantBitWidth>(bytes))
    return LLVM::GEPOp::create(b_, loc_, ptr_, b_.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  return LLVM::GEPOp::create(b_, loc_, ptr_, b_.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{i64(bytes)});
}

Value DriverEmitter::gep(Value base, Value index, int64_t elementBytes) {
  Value bytes = LLVM::MulOp::create(b_, loc_, index, i64(elementBytes));
  return LLVM::GEPOp::create(b_, loc_, ptr_, b_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

Value DriverEmitter::makeGlobal(StringRef name, Type type, Attribute value) {
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(module_.getBody());
    LLVM::GlobalOp::create(b_, loc_, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           value, /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(b_, loc_, ptr_, name);
}

Value DriverEmitter::makeWords(StringRef name, ArrayRef<int64_t> words) {
  const auto count = static_cast<int64_t>(words.size());
  return makeGlobal(
      (name + "_" + Twine(numTables_++)).str(), LLVM::LLVMArrayType::get(b_.getI64Type(), count),
      DenseIntElementsAttr::get(RankedTensorType::get({count}, b_.getI64Type()), words));
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

/// A block that takes `values`.
Block *DriverEmitter::newBlockFor(ValueRange values) { return newBlock(values.getTypes()); }

SmallVector<Value> DriverEmitter::lookup(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return values_.lookup(value); });
}

Value DriverEmitter::address(Value view) {
  if (auto constant = view.getDefiningOp<exec::ConstantOp>())
    return constantAddress(constant);
  exec::Extent extent = *exec::getExtent(view);
  return gep(buffers_.lookup(extent.base), extent.offset);
}

/// Checks the table's version and loads the addresses of arguments and results.
void DriverEmitter::emitEntry(exec::FunctionOp source) {
  Value version = LLVM::LoadOp::create(b_, loc_, b_.getI32Type(), abi_);
  Value other =
      LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ne, version, i32(kCollAbiVersion));
  Block *next = newBlock({});
  cf::CondBranchOp::create(b_, loc_, other, failed_, ValueRange{i32(kInvalidCall)}, next,
                           ValueRange{});
  b_.setInsertionPointToStart(next);
  auto load = [&](BlockArgument buffer, Value table, int64_t index) {
    buffers_[buffer] = LLVM::LoadOp::create(b_, loc_, ptr_, gep(table, 8 * index));
  };
  for (unsigned i = 0; i < source.getNumArguments(); ++i)
    load(source.getBody().getArgument(i), args_, i);
  for (unsigned k = 0; k < source.getNumResults(); ++k)
    if (source.getUpdates()[k] < 0)
      load(source.getResultBuffer(k), results_, k);
  buffers_[source.getArena()] = arena_;
  enter(source);
  bool needsRank = false;
  source.walk([&](Operation *op) { needsRank |= isa<RankOp, AxisIndexOp>(op); });
  rankSlot_ = Value();
  if (needsRank) {
    rankSlot_ = stackSlot(b_.getI64Type());
    callAbi(AbiFunction::rank, {ctx_, rankSlot_});
  }
}

LogicalResult DriverEmitter::emitFor(scf::ForOp op) {
  Value lower = values_.lookup(op.getLowerBound()), upper = values_.lookup(op.getUpperBound());
  Value step = values_.lookup(op.getStep());
  SmallVector<Value> carried{lower};
  llvm::append_range(carried, lookup(op.getInitArgs()));
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
  values_.map(op.getRegionIterArgs(), state);
  if (failed(emitBlock(*op.getBody())))
    return failure();
  SmallVector<Value> next{arith::AddIOp::create(b_, loc_, iv, step)};
  llvm::append_range(next, lookup(op.getYieldedValues()));
  cf::BranchOp::create(b_, loc_, header, next);
  b_.setInsertionPointToStart(exit);
  values_.map(op.getResults(), state);
  return success();
}

LogicalResult DriverEmitter::emitWhile(scf::WhileOp op) {
  Block *before = newBlockFor(op.getInits()), *after = newBlockFor(op.getResults()),
        *exit = newBlockFor(op.getResults());
  cf::BranchOp::create(b_, loc_, before, lookup(op.getInits()));
  b_.setInsertionPointToStart(before);
  values_.map(op.getBeforeArguments(), before->getArguments());
  if (failed(emitBlock(*op.getBeforeBody())))
    return failure();
  SmallVector<Value> forwarded = lookup(op.getConditionOp().getArgs());
  Value condition = values_.lookup(op.getConditionOp().getCondition());
  cf::CondBranchOp::create(b_, loc_, condition, after, forwarded, exit, forwarded);

  b_.setInsertionPointToStart(after);
  values_.map(op.getAfterArguments(), after->getArguments());
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  cf::BranchOp::create(b_, loc_, before, lookup(op.getYieldOp().getOperands()));
  b_.setInsertionPointToStart(exit);
  values_.map(op.getResults(), exit->getArguments());
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
    cf::BranchOp::create(b_, loc_, join, lookup(source->getTerminator()->getOperands()));
  }
  b_.setInsertionPointToStart(join);
  values_.map(op.getResults(), join->getArguments());
  return success();
}

LogicalResult DriverEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    loc_ = op.getLoc();
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(emitOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult DriverEmitter::emitOp(Operation *op) {
  // Names of contents; constants are addressed where they are used.
  if (isa<exec::ViewOp, exec::ConstantOp, exec::RenameOp, exec::UndefinedOp>(op))
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto call = dyn_cast<exec::CallOp>(op))
    return emitCall(call);
  if (auto communicate = dyn_cast<exec::CommunicateOp>(op))
    return emitCommunication(op, communicate.getReads(), communicate.getWrites(),
                             communicate.getScalars(), null(),
                             descriptor_.addOp(communicate.getBody().front(), op->getLoc()));
  if (auto start = dyn_cast<exec::StartOp>(op))
    return emitStart(start);
  if (auto wait = dyn_cast<exec::WaitOp>(op))
    return emitWait(wait);
  if (auto gemm = dyn_cast<exec::GemmOp>(op)) {
    emitGemmLoop(gemm, 0, address(gemm.getA()), address(gemm.getB()), address(gemm.getC()));
    return success();
  }
  if (auto gemm = dyn_cast<exec::FusedGemmOp>(op))
    return emitFusedGemm(gemm), success();
  if (auto convolution = dyn_cast<exec::ConvolutionOp>(op))
    return emitConvolution(convolution), success();
  if (auto attention = dyn_cast<exec::AttentionOp>(op))
    return emitAttention(attention), success();
  if (auto gradient = dyn_cast<exec::AttentionGradientOp>(op))
    return emitAttentionGradient(gradient), success();
  if (auto copy = dyn_cast<exec::CopyOp>(op))
    return emitCopy(copy), success();
  if (auto fill = dyn_cast<exec::FillOp>(op))
    return emitFill(fill), success();
  if (auto load = dyn_cast<exec::LoadOp>(op))
    return emitLoad(load), success();
  if (auto store = dyn_cast<exec::StoreOp>(op))
    return emitStore(store), success();
  if (auto axis = dyn_cast<AxisIndexOp>(op))
    return emitAxisIndex(axis), success();
  if (auto group = dyn_cast<GroupOp>(op))
    return emitGroup(group), success();
  if (auto reaches = dyn_cast<exec::ReachesOp>(op))
    return emitReaches(reaches), success();
  if (isa<RankOp>(op)) {
    values_.map(op->getResult(0), rank());
    return success();
  }
  b_.clone(*op, values_);
  return success();
}

LogicalResult DriverEmitter::emit(exec::FunctionOp source, StringRef name) {
  loc_ = source.getLoc();
  ptr_ = LLVM::LLVMPointerType::get(b_.getContext());
  values_ = IRMapping();
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
