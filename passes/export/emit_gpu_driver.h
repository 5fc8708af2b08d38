//===- emit_gpu_driver.h - driver functions on GPU memory -------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EMIT_GPU_DRIVER_H
#define COLL_PASSES_EXPORT_EMIT_GPU_DRIVER_H

#include "passes/export/emit_driver.h"
#include "passes/export/gpu/lower_kernels.h"

namespace mlir::coll {

/// Buffers are GPU memory, the function runs on the host: kernels are launched, products and
/// copies enqueued by the runtime, scalars of the control flow fetched.
class GpuDriverEmitter final : public DriverEmitter {
public:
  GpuDriverEmitter(ModuleOp module, DescriptorBuilder &descriptor,
                   const llvm::StringMap<GpuKernel> &kernels)
      : DriverEmitter(module, descriptor), kernels_(kernels) {}

  /// The table of the launches of all functions: coll_gpu_kernels.
  std::string writeKernelTable() const;
  /// Their constants, at the offsets that the code has: coll_constants.
  StringRef getConstants() const { return constants_; }

private:
  void enter(exec::FunctionOp source) override;
  Value constantAddress(exec::ConstantOp constant) override;
  LogicalResult emitCall(exec::CallOp op) override;
  void emitCopy(exec::CopyOp op) override;
  void emitFill(exec::FillOp op) override;
  void emitLoad(exec::LoadOp op) override;
  void emitStore(exec::StoreOp op) override;
  void emitProducts(exec::GemmOp op, Value a, Value b, Value c) override;
  void findAddresses(exec::CallOp op, const exec::Members &members);
  void emitLaunch(exec::CallOp op, const GpuLaunch &launch);

  struct TableEntry {
    const GpuLaunch *launch;
    std::string loc; // of the first call
  };

  const llvm::StringMap<GpuKernel> &kernels_;
  std::vector<TableEntry> table_;
  llvm::StringMap<unsigned> tableIndex_; // by symbol
  std::string constants_;
  llvm::DenseMap<Attribute, int64_t> constantOffsets_;
  // On the stack of the function that is emitted: values of a launch's parameters and pointers to
  // them, scalars on their way from or to the GPU.
  Value parameters_, pointers_, scalars_, addresses_;
  Value constantBase_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EMIT_GPU_DRIVER_H
