//===- emit_executable_driver.h - the function that calls the kernels -*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EMIT_EXECUTABLE_DRIVER_H
#define COLL_PASSES_EXPORT_EMIT_EXECUTABLE_DRIVER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/descriptor.h"
#include "passes/export/plan_buffers.h"

namespace mlir::coll {

/// The table's functions, in its order.
enum class AbiFunction {
#define COLL_ABI_FUNCTION(name, parameters) name,
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION
};

/// Name of the variant of a kernel in which these arguments are destinations.
std::string getInPlaceName(StringRef kernel, ArrayRef<std::pair<unsigned, unsigned>> aliases);

/// Emits a driver function in kernel form as a function with the C signature CollEntry: tensors
/// become addresses, scf becomes branches, communication becomes calls through the table of
/// functions. Scalar operations are left for a later conversion.
class DriverEmitter {
public:
  /// `module` holds the lowered kernels and receives the function, and the constants.
  DriverEmitter(ModuleOp module, const KernelTable &kernels, DescriptorBuilder &descriptor);

  LogicalResult emit(func::FuncOp source, const BufferPlan &plan, StringRef name);

private:
  struct Gemm;

  // emit_executable_driver.cc
  void emitEntry(func::FuncOp source);
  Value slotAddress(unsigned slot);
  Value constantAddress(int64_t index);
  Value address(Value tensor) { return slotAddress(plan_->slotOf.lookup(tensor)); }
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation *op);
  void emitCopies(Operation *op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  LogicalResult emitIf(scf::IfOp op);
  SmallVector<Value> scalars(ValueRange values);
  Block *newBlock(TypeRange args);
  Block *newBlockFor(ValueRange values);

  // emit_executable_calls.cc
  LogicalResult emitKernelCall(func::CallOp op);
  LogicalResult emitExtract(Operation *op);
  LogicalResult emitFromElements(Operation *op);
  void emitFill(Operation *constant);
  LLVM::LLVMFuncOp fillFunction(unsigned bytes);
  LogicalResult emitCommunication(CollectiveOpInterface comm, Value src, Value dst, Value request,
                                  int32_t id);
  LogicalResult emitBlocking(CollectiveOpInterface comm);
  LogicalResult emitDispatch(DispatchOp op);
  LogicalResult emitCombine(CombineOp op);
  LogicalResult emitStart(StartOp op);
  LogicalResult emitWait(WaitOp op);
  void emitAxisIndex(AxisIndexOp op);
  void emitGroup(GroupOp op);
  void emitGemm(GemmOp op);
  void emitGemmLoop(const Gemm &gemm, unsigned dim, Value a, Value b, Value c);
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
  const KernelTable &kernels_;
  DescriptorBuilder &descriptor_;
  OpBuilder b_;
  Location loc_ = UnknownLoc::get(b_.getContext());
  const BufferPlan *plan_ = nullptr;
  LLVM::LLVMPointerType ptr_;
  func::FuncOp function_;
  Block *failed_ = nullptr; // returns its argument
  Value abi_, ctx_, args_, results_, arena_;
  Value rankSlot_;
  IRMapping values_;
  llvm::StringMap<LLVM::LLVMFuncOp> functions_;   // lowered kernels
  llvm::DenseMap<unsigned, Value> pinned_;        // slot to address, made at the entry
  llvm::DenseMap<Operation *, Value> requests_;   // start to stack slot
  llvm::DenseMap<Operation *, int32_t> startIds_; // start to operation id
  llvm::DenseMap<Operation *, std::string> constantNames_;
  int64_t numConstants_ = 0, numPairTables_ = 0;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EMIT_EXECUTABLE_DRIVER_H
