//===- lower_kernels.cc - set-up of GPU code generation --------------------------===//

#include "passes/export/gpu/lower_kernels.h"

#include "dialect/dialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/passes.h"

namespace mlir::coll {

std::string getDefaultLibdevice() { return COLL_LIBDEVICE; }

void registerGpuCodeDialects(DialectRegistry &registry) {
  registerCollDialects(registry);
  registry.insert<affine::AffineDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, gpu::GPUDialect, LLVM::LLVMDialect, memref::MemRefDialect,
                  NVVM::NVVMDialect, vector::VectorDialect>();
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
}

gpu::GPUModuleOp createGpuModule(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
  return gpu::GPUModuleOp::create(b, module.getLoc(), "gpu_kernels");
}

} // namespace mlir::coll
