//===- emit_driver.h - the function that calls the kernels ------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EMIT_DRIVER_H
#define COLL_PASSES_EXPORT_EMIT_DRIVER_H

#include "dialect/exec/convolution.h"
#include "dialect/exec/epilogue.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/descriptor.h"
#include "runtime/step/abi/abi.h"

#include <array>
#include <cstring>
#include <type_traits>

namespace mlir::coll {

/// The table's functions, in its order.
enum class AbiFunction {
#define COLL_ABI_FUNCTION(name, parameters) name,
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION
};

/// The mode in which the runtime computes products of these elements with this precision.
CollCompute getCompute(Type element, exec::Precision precision);

/// Emits an exec.function, operation by operation, as a function with the C signature CollEntry:
/// views become addresses, scf becomes branches, communication becomes calls through the table of
/// functions. Scalar operations are left for a later conversion. The derived classes hold
/// everything that depends on the memory in which the buffers are.
class DriverEmitter {
public:
  /// `module` receives the function, and the constants.
  DriverEmitter(ModuleOp module, DescriptorBuilder &descriptor);
  virtual ~DriverEmitter() = default;

  LogicalResult emit(exec::FunctionOp source, StringRef name);

protected:
  /// Called at the function's entry, when the addresses of its buffers are known.
  virtual void enter(exec::FunctionOp source) {}
  virtual Value constantAddress(exec::ConstantOp constant) = 0;
  virtual LogicalResult emitCall(exec::CallOp op) = 0;
  virtual void emitCopy(exec::CopyOp op) = 0;
  virtual void emitFill(exec::FillOp op) = 0;
  virtual void emitLoad(exec::LoadOp op) = 0;
  virtual void emitStore(exec::StoreOp op) = 0;
  /// The products of the innermost batch dimension.
  virtual void emitProducts(exec::GemmOp op, Value a, Value b, Value c) = 0;

  /// The innermost batch dimension of a product: its size and strides in elements.
  struct Batch {
    int64_t size = 1, a = 0, b = 0, c = 0;
  };
  static Batch getInnermost(exec::GemmOp op);
  /// Emits the products as one call that names the types of factors and sums.
  void emitContraction(exec::GemmOp op, Value a, Value b, Value c);

  Value address(Value view);
  /// Loads an element from host memory as a scalar, or stores one.
  Value loadElement(Value at, Type element);
  void storeElement(Value element, Value at);
  /// Calls a function of the table, and returns from the step if it fails.
  void callAbi(AbiFunction function, ArrayRef<Value> args);
  /// Calls the function and returns its status.
  Value emitAbiCall(AbiFunction function, ArrayRef<Value> args);
  /// Id of the computation that is being emitted.
  int32_t computation(StringRef kind) { return descriptor_.addComputation(kind, loc_); }
  int32_t groupIndex(GroupAttr group) { return descriptor_.addGroup(group); }
  /// A constant of the function's module.
  Value makeGlobal(StringRef name, Type type, Attribute value);
  /// A struct of the ABI as a constant of the module, whose name a number completes.
  template <typename Struct>
  Value makeTable(StringRef name, const Struct &value) {
    static_assert(std::is_trivially_copyable_v<Struct> && sizeof(Struct) % sizeof(int64_t) == 0);
    std::array<int64_t, sizeof(Struct) / sizeof(int64_t)> words;
    std::memcpy(words.data(), &value, sizeof(value));
    return makeWords(name, words);
  }
  Value makeWords(StringRef name, ArrayRef<int64_t> words);

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value null();
  /// `value` in a type that LLVM has: an index as i64, an eight-bit float as its bits.
  Value toLlvm(Value value);
  Value gep(Value base, int64_t bytes);
  Value gep(Value base, Value index, int64_t elementBytes);
  Value stackSlot(Type type);

  ModuleOp module_;
  OpBuilder b_;
  Location loc_ = UnknownLoc::get(b_.getContext());
  LLVM::LLVMPointerType ptr_;
  Value ctx_;
  IRMapping values_;

private:
  // emit_driver.cc
  void emitEntry(exec::FunctionOp source);
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation *op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  LogicalResult emitIf(scf::IfOp op);
  SmallVector<Value> lookup(ValueRange values);
  Block *newBlock(TypeRange args);
  Block *newBlockFor(ValueRange values);

  // emit_driver_calls.cc
  LogicalResult emitCommunication(Operation *op, OperandRange reads, OperandRange writes,
                                  OperandRange scalars, Value request, int32_t id);
  LogicalResult emitCollective(CollectiveOpInterface comm, int64_t elements, Value src, Value dst,
                               Value request, int32_t id);
  LogicalResult emitDispatch(DispatchOp op, int32_t id, ValueRange reads, ValueRange writes);
  LogicalResult emitCombine(CombineOp op, int32_t id, ValueRange reads, ValueRange writes);
  LogicalResult emitStart(exec::StartOp op);
  LogicalResult emitWait(exec::WaitOp op);
  void emitAxisIndex(AxisIndexOp op);
  void emitGroup(GroupOp op);
  void emitReaches(exec::ReachesOp op);
  void emitGemmLoop(exec::GemmOp op, unsigned dim, Value a, Value b, Value c);
  Value pairTable(ArrayRef<int64_t> pairs);

  // epilogues/emit_driver_epilogue.cc
  void emitFusedGemm(exec::FusedGemmOp op);

  // emit_driver_convolution.cc
  void emitConvolution(exec::ConvolutionOp op);

  // emit_driver_attention.cc
  Value firstElement(Value view, ArrayRef<int64_t> at, Type element);
  void emitAttention(exec::AttentionOp op);
  void emitAttentionGradient(exec::AttentionGradientOp op);

  Value rank();

  DescriptorBuilder &descriptor_;
  func::FuncOp function_;
  Block *failed_ = nullptr; // returns its argument
  Value abi_, args_, results_, arena_;
  Value rankSlot_;
  llvm::DenseMap<Value, Value> buffers_;          // of the function: address, made at the entry
  llvm::DenseMap<Operation *, int32_t> startIds_; // start to operation id
  int64_t numPairTables_ = 0, numTables_ = 0;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EMIT_DRIVER_H
