//===- emit_driver.h - the function that calls the kernels ------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EMIT_DRIVER_H
#define COLL_PASSES_EXPORT_EMIT_DRIVER_H

#include "dialect/exec/exec.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/descriptor.h"

namespace mlir::coll {

/// The table's functions, in its order.
enum class AbiFunction {
#define COLL_ABI_FUNCTION(name, parameters) name,
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION
};

/// Name of the form of a kernel that a call needs: the kernel itself, or its variant in which the
/// arguments that the call reuses are destinations.
std::string getKernelName(exec::CallOp call);

/// Emits an exec.function, operation by operation, as a function with the C signature CollEntry:
/// views become addresses, scf becomes branches, communication becomes calls through the table
/// of functions. Scalar operations are left for a later conversion.
class DriverEmitter {
public:
  /// `module` holds the lowered kernels and receives the function, and the constants.
  DriverEmitter(ModuleOp module, DescriptorBuilder &descriptor);

  LogicalResult emit(exec::FunctionOp source, StringRef name);

private:
  // emit_driver.cc
  void emitEntry(exec::FunctionOp source);
  Value constantAddress(exec::ConstantOp constant);
  Value address(Value view);
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation *op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  LogicalResult emitIf(scf::IfOp op);
  SmallVector<Value> lookup(ValueRange values);
  Block *newBlock(TypeRange args);
  Block *newBlockFor(ValueRange values);

  // emit_driver_calls.cc
  LogicalResult emitCall(exec::CallOp op);
  void emitLoad(exec::LoadOp op);
  void emitStore(exec::StoreOp op);
  void emitFill(exec::FillOp op);
  LLVM::LLVMFuncOp fillFunction(unsigned bytes);
  LogicalResult emitCommunication(Operation *op, OperandRange reads, OperandRange writes,
                                  OperandRange scalars, Value request, int32_t id);
  LogicalResult emitCollective(CollectiveOpInterface comm, Value src, Value dst, Value request,
                               int32_t id);
  LogicalResult emitDispatch(DispatchOp op, int32_t id, ValueRange reads, ValueRange writes);
  LogicalResult emitCombine(CombineOp op, int32_t id, ValueRange reads, ValueRange writes);
  LogicalResult emitStart(exec::StartOp op);
  LogicalResult emitWait(exec::WaitOp op);
  void emitAxisIndex(AxisIndexOp op);
  void emitGroup(GroupOp op);
  void emitGemm(exec::GemmOp op);
  void emitGemmLoop(exec::GemmOp op, unsigned dim, Value a, Value b, Value c);
  Value pairTable(ArrayRef<int64_t> pairs);
  void callAbi(AbiFunction function, ArrayRef<Value> args);
  Value rank();

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value null();
  /// `value` in a type that LLVM has: an index as i64, an eight-bit float as its bits.
  Value toLlvm(Value value);
  Value gep(Value base, int64_t bytes);
  Value gep(Value base, Value index, int64_t elementBytes);
  Value stackSlot(Type type);

  ModuleOp module_;
  DescriptorBuilder &descriptor_;
  OpBuilder b_;
  Location loc_ = UnknownLoc::get(b_.getContext());
  LLVM::LLVMPointerType ptr_;
  func::FuncOp function_;
  Block *failed_ = nullptr; // returns its argument
  Value abi_, ctx_, args_, results_, arena_;
  Value rankSlot_;
  IRMapping values_;
  llvm::StringMap<LLVM::LLVMFuncOp> functions_;   // lowered kernels
  llvm::DenseMap<Value, Value> buffers_;          // of the function: address, made at the entry
  llvm::DenseMap<Operation *, Value> requests_;   // start to stack slot
  llvm::DenseMap<Operation *, int32_t> startIds_; // start to operation id
  llvm::DenseMap<Attribute, std::string> constantNames_;
  int64_t numConstants_ = 0, numPairTables_ = 0;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EMIT_DRIVER_H
