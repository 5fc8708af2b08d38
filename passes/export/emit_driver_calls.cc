// Driver functions: elements, communication, products.

#include "passes/export/emit_driver.h"

#include "dialect/exec/memory_form.h"
#include "dialect/futures.h"
#include "dialect/shape.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "runtime/step/abi/abi.h"

#include <numeric>

using namespace mlir;
using namespace mlir::coll;

// Offset of the first function in CollAbi: two 32-bit fields come before it.
static constexpr int64_t kAbiHeaderBytes = 8;

static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

Value DriverEmitter::emitAbiCall(AbiFunction function, ArrayRef<Value> args) {
  int64_t offset = kAbiHeaderBytes + 8 * static_cast<int64_t>(function);
  Value callee = LLVM::LoadOp::create(b_, loc_, ptr_, gep(abi_, offset));
  SmallVector<Type> types;
  SmallVector<Value> operands{callee};
  for (Value arg : args) {
    types.push_back(arg.getType());
    operands.push_back(arg);
  }
  auto type = LLVM::LLVMFunctionType::get(b_.getI32Type(), types);
  return LLVM::CallOp::create(b_, loc_, type, operands).getResult();
}

void DriverEmitter::callAbi(AbiFunction function, ArrayRef<Value> args) {
  Value status = emitAbiCall(function, args);
  Value bad = LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ne, status, i32(0));
  Block *next = newBlock({});
  cf::CondBranchOp::create(b_, loc_, bad, failed_, ValueRange{status}, next, ValueRange{});
  b_.setInsertionPointToStart(next);
}

Value DriverEmitter::loadElement(Value at, Type element) {
  if (Type stored = getStoredElement(element); stored != element)
    return LLVM::TruncOp::create(b_, loc_, element, LLVM::LoadOp::create(b_, loc_, stored, at));
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return arith::BitcastOp::create(b_, loc_, element,
                                    LLVM::LoadOp::create(b_, loc_, b_.getI8Type(), at));
  if (element.isIndex())
    return arith::IndexCastOp::create(b_, loc_, element,
                                      LLVM::LoadOp::create(b_, loc_, b_.getI64Type(), at));
  return LLVM::LoadOp::create(b_, loc_, element, at);
}

void DriverEmitter::storeElement(Value element, Value at) {
  Value value = toLlvm(element);
  Type type = value.getType(), stored = getStoredElement(type);
  if (type.isInteger(1))
    value = LLVM::ZExtOp::create(b_, loc_, stored, value);
  else if (stored != type)
    value = LLVM::SExtOp::create(b_, loc_, stored, value);
  LLVM::StoreOp::create(b_, loc_, value, at);
}

/// Constant table of {source, target} for coll.permute.
Value DriverEmitter::pairTable(ArrayRef<int64_t> pairs) {
  SmallVector<int32_t> narrow(pairs.begin(), pairs.end());
  int64_t size = narrow.size();
  auto type = RankedTensorType::get({size}, b_.getI32Type());
  return makeGlobal("pairs_" + std::to_string(numPairTables_++),
                    LLVM::LLVMArrayType::get(b_.getI32Type(), size),
                    DenseIntElementsAttr::get(type, narrow));
}

namespace {
/// [outer][count] view of a tensor cut in front of `dim`.
struct Blocks {
  int64_t outer, count;
  Blocks(ArrayRef<int64_t> shape, int64_t dim)
      : outer(product(shape.take_front(dim))), count(product(shape.drop_front(dim))) {}
};
} // namespace

/// Elements of what is sent, or else received; of several tensors from the first to the last.
static int64_t countElements(Block &body) {
  auto comm = cast<CollectiveOpInterface>(body.front());
  Value any = comm.getCommInput() ? comm.getCommInput() : comm.getCommResult();
  if (!any)
    return 0;
  if (comm->getNextNode() == &body.back())
    return product(shapeOf(any));
  return exec::getBucketBytes(body) / getElementBytes(elementOf(any));
}

LogicalResult DriverEmitter::emitCollective(CollectiveOpInterface comm, int64_t elements, Value src,
                                            Value dst, Value request, int32_t id) {
  Operation *op = comm;
  Value input = comm.getCommInput(), result = comm.getCommResult();
  Value any = input ? input : result;
  Value group = i32(descriptor_.addGroup(comm.getCommGroup())), opId = i32(id);
  if (any && !getDtype(elementOf(any)))
    return op->emitOpError("cannot send elements of type ") << elementOf(any);
  Value dtype = any ? i32(*getDtype(elementOf(any))) : Value();
  Value count = any ? i64(elements) : Value();
  Value reduction, order = i32(static_cast<int32_t>(comm.getCommOrder())), root;
  if (auto kind = comm.getCommReduction())
    reduction = i32(static_cast<int32_t>(*kind));
  Value accumulation = i32(comm.getCommAccumulation() ? kCollAccumulateF32 : kCollAccumulateAny);
  if (auto position = comm.getCommRoot())
    root = i32(*position);
  auto outerCount = [&](Value part, int64_t dim) {
    Blocks blocks(shapeOf(part), dim);
    return std::make_pair(i64(blocks.outer), i64(blocks.count));
  };

  if (isa<AllReduceOp>(op)) {
    callAbi(AbiFunction::all_reduce,
            {ctx_, opId, src, dst, count, dtype, reduction, accumulation, order, group, request});
  } else if (isa<ReduceOp>(op)) {
    callAbi(AbiFunction::reduce, {ctx_, opId, src, dst, count, dtype, reduction, accumulation,
                                  order, root, group, request});
  } else if (isa<BroadcastOp>(op)) {
    callAbi(AbiFunction::broadcast, {ctx_, opId, src, dst, count, dtype, root, group, request});
  } else if (auto gather = dyn_cast<AllGatherOp>(op)) {
    auto [outer, block] = outerCount(input, gather.getDim());
    callAbi(AbiFunction::all_gather, {ctx_, opId, src, dst, outer, block, dtype, group, request});
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    auto [outer, block] = outerCount(input, gather.getDim());
    callAbi(AbiFunction::gather, {ctx_, opId, src, dst, outer, block, dtype, root, group, request});
  } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
    auto [outer, block] = outerCount(result, scatter.getDim());
    callAbi(AbiFunction::scatter,
            {ctx_, opId, src, dst, outer, block, dtype, root, group, request});
  } else if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
    auto [outer, block] = outerCount(result, scatter.getDim());
    callAbi(AbiFunction::reduce_scatter, {ctx_, opId, src, dst, outer, block, dtype, reduction,
                                          accumulation, order, group, request});
  } else if (auto exchange = dyn_cast<AllToAllOp>(op)) {
    SmallVector<int64_t> block(shapeOf(input));
    block[exchange.getSplitDim()] /=
        getGroupSize(exchange.getGroup(), lookupMesh(op, exchange.getGroup().getMesh()));
    Blocks from(block, exchange.getSplitDim()), to(block, exchange.getConcatDim());
    callAbi(AbiFunction::all_to_all, {ctx_, opId, src, dst, i64(from.outer), i64(from.count),
                                      i64(to.outer), i64(to.count), dtype, group, request});
  } else if (auto permute = dyn_cast<PermuteOp>(op)) {
    int64_t groupSize =
        getGroupSize(permute.getGroup(), lookupMesh(op, permute.getGroup().getMesh()));
    SmallVector<int64_t> list = permute.listPairs(groupSize);
    Value pairs = pairTable(list), numPairs = i32(list.size() / 2);
    callAbi(AbiFunction::permute,
            {ctx_, opId, src, dst, count, dtype, pairs, numPairs, group, request});
  } else if (isa<BarrierOp>(op)) {
    callAbi(AbiFunction::barrier, {ctx_, opId, group, request});
  } else if (isa<InitOp>(op)) {
    callAbi(AbiFunction::init, {ctx_, opId, group});
  } else if (auto send = dyn_cast<SendOp>(op)) {
    callAbi(AbiFunction::send,
            {ctx_, opId, src, count, dtype, toLlvm(values_.lookup(send.getPeer())),
             i64(send.getTag()), group, request});
  } else if (auto recv = dyn_cast<RecvOp>(op)) {
    callAbi(AbiFunction::recv,
            {ctx_, opId, dst, count, dtype, toLlvm(values_.lookup(recv.getPeer())),
             i64(recv.getTag()), group, request});
  } else {
    return op->emitOpError("has no entry in the runtime's table");
  }
  return success();
}

/// Views in the order of `tensors`, which are arguments or results of the operation in the region.
static SmallVector<Value> selectViews(ValueRange tensors, ValueRange all, ValueRange views) {
  SmallVector<Value> out;
  for (Value tensor : tensors) {
    auto it = llvm::find(all, tensor);
    out.push_back(it == all.end() ? Value() : views[it - all.begin()]);
  }
  return out;
}

LogicalResult DriverEmitter::emitCommunication(Operation *op, OperandRange reads,
                                               OperandRange writes, OperandRange scalars,
                                               Value request, int32_t id) {
  Block &block = op->getRegion(0).front();
  auto comm = cast<CollectiveOpInterface>(block.front());
  for (auto [argument, scalar] :
       llvm::zip_equal(block.getArguments().drop_front(reads.size()), scalars))
    values_.map(argument, values_.lookup(scalar));
  ValueRange arguments = block.getArguments().take_front(reads.size());
  if (auto dispatch = dyn_cast<DispatchOp>(*comm))
    return emitDispatch(dispatch, id, selectViews(comm->getOperands(), arguments, reads), writes);
  if (auto combine = dyn_cast<CombineOp>(*comm))
    return emitCombine(combine, id, selectViews(comm->getOperands(), arguments, reads), writes);
  Value input = comm.getCommInput();
  Value src = input ? address(selectViews(input, arguments, reads).front()) : Value();
  Value dst = comm.getCommResult() ? address(writes.front()) : Value();
  return emitCollective(comm, countElements(block), src, dst, request, id);
}

LogicalResult DriverEmitter::emitDispatch(DispatchOp op, int32_t id, ValueRange reads,
                                          ValueRange writes) {
  std::optional<int> dtype = getDtype(elementOf(op.getInput()));
  if (!dtype)
    return op.emitOpError("cannot send elements of type ") << elementOf(op.getInput());
  RouteType route = op.getRoute().getType();
  Value scales = op.getScales();
  // Results stand in the order rows, experts, weights, counts, route, scales.
  callAbi(AbiFunction::dispatch, {ctx_,
                                  i32(id),
                                  address(reads[0]),
                                  address(reads[1]),
                                  address(reads[2]),
                                  scales ? address(reads[3]) : null(),
                                  i64(route.getTokens()),
                                  i64(shapeOf(op.getInput())[1]),
                                  i32(route.getTopk()),
                                  i64(scales ? shapeOf(scales)[1] : 0),
                                  i32(*dtype),
                                  i32(*getDtype(elementOf(op.getExperts()))),
                                  i32(op.getLocalExperts()),
                                  i64(route.getCapacity()),
                                  address(writes[0]),
                                  address(writes[1]),
                                  address(writes[2]),
                                  scales ? address(writes[5]) : null(),
                                  address(writes[3]),
                                  address(writes[4]),
                                  i32(descriptor_.addGroup(op.getGroup()))});
  return success();
}

LogicalResult DriverEmitter::emitCombine(CombineOp op, int32_t id, ValueRange reads,
                                         ValueRange writes) {
  std::optional<int> dtype = getDtype(elementOf(op.getInput()));
  if (!dtype)
    return op.emitOpError("cannot add up elements of type ") << elementOf(op.getInput());
  RouteType route = op.getRoute().getType();
  callAbi(AbiFunction::combine,
          {ctx_, i32(id), address(reads[0]), address(writes[0]), i64(route.getTokens()),
           i64(shapeOf(op.getInput())[1]), i32(route.getTopk()), i64(route.getCapacity()),
           i32(*dtype), address(reads[1]), i32(descriptor_.addGroup(op.getGroupAttr()))});
  return success();
}

LogicalResult DriverEmitter::emitStart(exec::StartOp op) {
  int32_t id = descriptor_.addOp(op.getBody().front(), op.getLoc());
  startIds_[op] = id;
  Value slot = stackSlot(ptr_);
  if (failed(emitCommunication(op, op.getReads(), op.getWrites(), op.getScalars(), slot, id)))
    return failure();
  values_.map(op.getRequest(), LLVM::LoadOp::create(b_, loc_, ptr_, slot).getResult());
  return success();
}

LogicalResult DriverEmitter::emitWait(exec::WaitOp op) {
  // A loop's request may come from several starts; the one before it has been emitted already.
  SmallVector<Operation *> starts = getStarts(op.getRequest());
  const auto *start = llvm::find_if(starts, [&](Operation *at) { return startIds_.contains(at); });
  callAbi(AbiFunction::wait,
          {ctx_, i32(startIds_.lookup(*start)), values_.lookup(op.getRequest())});
  return success();
}

Value DriverEmitter::rank() {
  Value value = LLVM::LoadOp::create(b_, loc_, b_.getI64Type(), rankSlot_);
  return arith::IndexCastOp::create(b_, loc_, b_.getIndexType(), value);
}

void DriverEmitter::emitAxisIndex(AxisIndexOp op) {
  MeshOp mesh = lookupMesh(op, op.getMeshAttr());
  Value self = LLVM::LoadOp::create(b_, loc_, b_.getI64Type(), rankSlot_), combined;
  for (StringRef axis : op.getAxes().getAsValueRange<StringAttr>()) {
    int64_t stride = 1, size = *mesh.getAxisSize(axis);
    bool after = false;
    for (auto [name, extent] :
         llvm::zip_equal(mesh.getAxisNames().getAsValueRange<StringAttr>(), mesh.getAxisSizes())) {
      if (after)
        stride *= extent;
      after |= name == axis;
    }
    Value coordinate = LLVM::URemOp::create(
        b_, loc_, LLVM::UDivOp::create(b_, loc_, self, i64(stride)), i64(size));
    combined =
        combined ? LLVM::AddOp::create(b_, loc_, LLVM::MulOp::create(b_, loc_, combined, i64(size)),
                                       coordinate)
                       .getResult()
                 : coordinate;
  }
  values_.map(op.getResult(),
              arith::IndexCastOp::create(b_, loc_, b_.getIndexType(), combined).getResult());
}

void DriverEmitter::emitGroup(GroupOp op) {
  Value position = stackSlot(b_.getI64Type()), size = stackSlot(b_.getI64Type());
  callAbi(AbiFunction::group_position,
          {ctx_, i32(descriptor_.addGroup(op.getGroup())), position, size});
  const std::pair<Value, Value> outputs[] = {{op.getPosition(), position}, {op.getSize(), size}};
  for (auto [result, slot] : outputs) {
    Value value = LLVM::LoadOp::create(b_, loc_, b_.getI64Type(), slot);
    values_.map(result, arith::IndexCastOp::create(b_, loc_, b_.getIndexType(), value).getResult());
  }
}

void DriverEmitter::emitReaches(exec::ReachesOp op) {
  Value slot = stackSlot(b_.getI32Type());
  callAbi(AbiFunction::reaches, {ctx_, i32(descriptor_.addReached(op.getGroup())), slot});
  Value answer = LLVM::LoadOp::create(b_, loc_, b_.getI32Type(), slot);
  values_.map(op.getResult(),
              LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ne, answer, i32(0)).getResult());
}

DriverEmitter::Batch DriverEmitter::getInnermost(exec::GemmOp op) {
  if (op.getBatchSizes().empty())
    return {};
  return {op.getBatchSizes().back(), op.getBatchStridesA().back(), op.getBatchStridesB().back(),
          op.getBatchStridesC().back()};
}

CollCompute mlir::coll::getCompute(Type element, exec::Precision precision) {
  if (element.isF64())
    return kCollComputeF64;
  switch (precision) {
  case exec::Precision::Highest:
    return kCollComputeF32;
  case exec::Precision::Tf32:
    return kCollComputeTf32;
  case exec::Precision::Bf16:
    return kCollComputeBf16;
  }
  llvm_unreachable("every precision has a case");
}

void DriverEmitter::emitContraction(exec::GemmOp op, Value a, Value b, Value c) {
  Batch batch = getInnermost(op);
  CollContraction contraction = {};
  contraction.dtype_a = contraction.dtype_b = *getDtype(op.getElement());
  contraction.dtype_out = *getDtype(op.getResultElement());
  contraction.compute = getCompute(op.getElement(), op.getProductPrecision());
  contraction.trans_a = op.getTransA(), contraction.trans_b = op.getTransB();
  contraction.accumulate = op.getAccumulate();
  contraction.batch = batch.size;
  contraction.m = op.getMnk()[0], contraction.n = op.getMnk()[1], contraction.k = op.getMnk()[2];
  contraction.ld_a = op.getLds()[0], contraction.ld_b = op.getLds()[1];
  contraction.ld_out = op.getLds()[2];
  contraction.stride_a = batch.a, contraction.stride_b = batch.b;
  contraction.stride_out = batch.c;
  callAbi(AbiFunction::contract,
          {ctx_, i32(computation("product")), makeTable("contraction", contraction), a, b, c});
}

/// The runtime does the innermost batch dimension, loops the others.
void DriverEmitter::emitGemmLoop(exec::GemmOp op, unsigned dim, Value a, Value b, Value c) {
  if (dim + 1 >= op.getBatchSizes().size())
    return emitProducts(op, a, b, c);
  int64_t width = getElementBytes(op.getElement());
  int64_t sumWidth = getElementBytes(op.getResultElement());
  Block *header = newBlock(b_.getI64Type()), *body = newBlock({}), *exit = newBlock({});
  cf::BranchOp::create(b_, loc_, header, ValueRange{i64(0)});
  b_.setInsertionPointToStart(header);
  Value index = header->getArgument(0);
  Value more =
      LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::slt, index, i64(op.getBatchSizes()[dim]));
  cf::CondBranchOp::create(b_, loc_, more, body, ValueRange{}, exit, ValueRange{});
  b_.setInsertionPointToStart(body);
  emitGemmLoop(op, dim + 1, gep(a, index, op.getBatchStridesA()[dim] * width),
               gep(b, index, op.getBatchStridesB()[dim] * width),
               gep(c, index, op.getBatchStridesC()[dim] * sumWidth));
  Value next = LLVM::AddOp::create(b_, loc_, index, i64(1));
  cf::BranchOp::create(b_, loc_, header, ValueRange{next});
  b_.setInsertionPointToStart(exit);
}
