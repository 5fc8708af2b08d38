// Driver functions on host memory.

#include "passes/export/emit_cpu_driver.h"

#include "dialect/exec/memory_form.h"
#include "passes/export/emit_executable_kernels.h"

using namespace mlir;
using namespace mlir::coll;

CpuDriverEmitter::CpuDriverEmitter(ModuleOp module, DescriptorBuilder &descriptor)
    : DriverEmitter(module, descriptor) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    functions_[function.getName()] = function;
}

/// The kernel's variant: without the arguments that are read in a destination's place.
std::string mlir::coll::getKernelName(exec::CallOp call) {
  return getInPlaceName(call.getCallee(), call.getReused());
}

LogicalResult CpuDriverEmitter::emitCall(exec::CallOp op) {
  LLVM::LLVMFuncOp callee = functions_.lookup(getKernelName(op));
  SmallVector<Value> args;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    exec::Access access = op.getAccess(i);
    if (access == exec::Access::Scalar)
      args.push_back(toLlvm(values_.lookup(operand)));
    else if (access != exec::Access::Reuse)
      args.push_back(address(operand));
  }
  if (!callee || callee.getNumArguments() != args.size())
    return op.emitOpError("calls a kernel whose lowered form does not take these arguments");
  markComputation("kernel");
  LLVM::CallOp::create(b_, loc_, callee, args);
  return success();
}

void CpuDriverEmitter::markComputation(StringRef kind) {
  emitAbiCall(AbiFunction::compute, {ctx_, i32(computation(kind))}); // does not fail
}

Value CpuDriverEmitter::constantAddress(exec::ConstantOp constant) {
  DenseElementsAttr data = getStoredElements(cast<DenseElementsAttr>(constant.getValue()));
  Type element = data.getElementType();
  // LLVM has no eight-bit floats.
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8) {
    element = b_.getI8Type();
    data = data.bitcast(element);
  }
  std::string &name = constantNames_[constant.getValue()];
  if (!name.empty())
    return LLVM::AddressOfOp::create(b_, loc_, ptr_, name);
  name = "constant_" + std::to_string(constantNames_.size() - 1);
  Type storage = element.isIndex() ? b_.getI64Type() : element;
  int64_t count = data.getNumElements();
  return makeGlobal(name, LLVM::LLVMArrayType::get(storage, count),
                    data.reshape(RankedTensorType::get({count}, element)));
}

void CpuDriverEmitter::emitCopy(exec::CopyOp op) {
  markComputation("copy");
  LLVM::MemcpyOp::create(b_, loc_, address(op.getTarget()), address(op.getSource()),
                         i64(exec::getExtent(op.getTarget())->bytes), /*isVolatile=*/false);
}

/// `void coll_fill_N(ptr, count, pattern)`: stores `count` words of N bytes.
LLVM::LLVMFuncOp CpuDriverEmitter::fillFunction(unsigned bytes) {
  std::string name = "coll_fill_" + std::to_string(bytes);
  LLVM::LLVMFuncOp &function = functions_[name];
  if (function)
    return function;
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(module_.getBody());
  Type word = b_.getIntegerType(8 * bytes), i64Type = b_.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), {ptr_, i64Type, word});
  function = LLVM::LLVMFuncOp::create(b_, loc_, name, type);
  Block *entry = function.addEntryBlock(b_);
  Block *header = b_.createBlock(&function.getBody(), {}, i64Type, loc_);
  Block *body = b_.createBlock(&function.getBody());
  Block *exit = b_.createBlock(&function.getBody());
  b_.setInsertionPointToStart(entry);
  LLVM::BrOp::create(b_, loc_, ValueRange{i64(0)}, header);
  b_.setInsertionPointToStart(header);
  Value index = header->getArgument(0);
  Value more =
      LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::slt, index, entry->getArgument(1));
  LLVM::CondBrOp::create(b_, loc_, more, body, ValueRange{}, exit, ValueRange{});
  b_.setInsertionPointToStart(body);
  Value at = LLVM::GEPOp::create(b_, loc_, ptr_, word, entry->getArgument(0),
                                 ArrayRef<LLVM::GEPArg>{index});
  LLVM::StoreOp::create(b_, loc_, entry->getArgument(2), at);
  LLVM::BrOp::create(b_, loc_, ValueRange{LLVM::AddOp::create(b_, loc_, index, i64(1))}, header);
  b_.setInsertionPointToStart(exit);
  LLVM::ReturnOp::create(b_, loc_, ValueRange{});
  return function;
}

void CpuDriverEmitter::emitFill(exec::FillOp op) {
  int64_t bytes = exec::getExtent(op.getTarget())->bytes;
  int64_t width = getElementBytes(op.getValue().getType());
  if (bytes == 0)
    return;
  markComputation("fill");
  llvm::APInt bits = getStoredBits(op.getValue());
  Value target = address(op.getTarget());
  if (bits.isSplat(8)) {
    Value byte = LLVM::ConstantOp::create(b_, loc_, b_.getI8Type(),
                                          b_.getIntegerAttr(b_.getI8Type(), bits.trunc(8)));
    LLVM::MemsetOp::create(b_, loc_, target, byte, i64(bytes), /*isVolatile=*/false);
    return;
  }
  Type word = b_.getIntegerType(8 * width);
  Value pattern = LLVM::ConstantOp::create(b_, loc_, word, b_.getIntegerAttr(word, bits));
  LLVM::CallOp::create(b_, loc_, fillFunction(width),
                       ValueRange{target, i64(bytes / width), pattern});
}

void CpuDriverEmitter::emitLoad(exec::LoadOp op) {
  Type element = op.getType();
  Value at =
      gep(address(op.getSource()), toLlvm(values_.lookup(op.getIndex())), getElementBytes(element));
  values_.map(op.getResult(), loadElement(at, element));
}

void CpuDriverEmitter::emitStore(exec::StoreOp op) {
  Value at = address(op.getTarget());
  int64_t width = getElementBytes(op.getValues().front().getType());
  for (auto [i, element] : llvm::enumerate(op.getValues()))
    storeElement(values_.lookup(element), gep(at, i * width));
}

void CpuDriverEmitter::emitProducts(exec::GemmOp op, Value a, Value b, Value c) {
  if (getElementBytes(op.getElement()) < 4)
    return emitContraction(op, a, b, c);
  Batch batch = getInnermost(op);
  markComputation("product");
  callAbi(AbiFunction::gemm,
          {ctx_, i32(*getDtype(op.getElement())), i32(op.getTransA()), i32(op.getTransB()),
           i64(op.getMnk()[0]), i64(op.getMnk()[1]), i64(op.getMnk()[2]), a, i64(op.getLds()[0]),
           i64(batch.a), b, i64(op.getLds()[1]), i64(batch.b), c, i64(op.getLds()[2]), i64(batch.c),
           i64(batch.size), i32(op.getAccumulate())});
}
