//===- emit_cpu_driver.h - driver functions on host memory ------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EMIT_CPU_DRIVER_H
#define COLL_PASSES_EXPORT_EMIT_CPU_DRIVER_H

#include "passes/export/emit_driver.h"

namespace mlir::coll {

/// Name of the form of a kernel that a call needs: the kernel itself, or its variant in which the
/// arguments that the call reuses are destinations.
std::string getKernelName(exec::CallOp call);

/// Buffers are host memory: kernels are called, memory is copied and read in place.
class CpuDriverEmitter final : public DriverEmitter {
public:
  /// `module` holds the lowered kernels.
  CpuDriverEmitter(ModuleOp module, DescriptorBuilder &descriptor);

private:
  Value constantAddress(exec::ConstantOp constant) override;
  LogicalResult emitCall(exec::CallOp op) override;
  void emitCopy(exec::CopyOp op) override;
  void emitFill(exec::FillOp op) override;
  void emitLoad(exec::LoadOp op) override;
  void emitStore(exec::StoreOp op) override;
  void emitProducts(exec::GemmOp op, Value a, Value b, Value c) override;
  LLVM::LLVMFuncOp fillFunction(unsigned bytes);
  /// For profiles: from here on the program computes what is emitted next.
  void markComputation(StringRef kind);

  llvm::StringMap<LLVM::LLVMFuncOp> functions_; // lowered kernels
  llvm::DenseMap<Attribute, std::string> constantNames_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EMIT_CPU_DRIVER_H
