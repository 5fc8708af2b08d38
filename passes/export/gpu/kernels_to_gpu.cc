//===- kernels_to_gpu.cc - kernel functions of a file to launches and PTX --------===//

#include "dialect/dialect.h"
#include "passes/export/gpu/lower_kernels.h"
#include "passes/passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::coll {

#define GEN_PASS_DEF_KERNELSTOGPUPASS
#include "passes/passes.h.inc"

namespace {

class KernelsToGpuPass : public impl::KernelsToGpuPassBase<KernelsToGpuPass> {
public:
  using KernelsToGpuPassBase::KernelsToGpuPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerGpuCodeDialects(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (isKernel(function))
        kernels.push_back(function);
      else
        function.erase(); // it calls kernels as functions of tensors
    }
    gpu::GPUModuleOp code = createGpuModule(getOperation());
    FailureOr<llvm::StringMap<GpuKernel>> table = outlineGpuLaunches(kernels, code);
    if (failed(table) || (!ptx.empty() && failed(writePtx(code, *table))))
      signalPassFailure();
  }

private:
  static bool isKernel(func::FuncOp function) {
    return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned arg) {
      return function.getArgAttr(arg, kAccessAttr) != nullptr;
    });
  }

  LogicalResult writePtx(gpu::GPUModuleOp code, llvm::StringMap<GpuKernel> &table) {
    GpuOptions options;
    options.chip = chip;
    options.libdevice = libdevice.getValue() == "default" ? getDefaultLibdevice() : libdevice;
    gpu::GPUModuleOp copy = code.clone();
    OpBuilder(code).insert(copy);
    copy.setName((code.getName() + "_ptx").str());
    FailureOr<std::vector<std::string>> texts = emitPtx(copy, table, options);
    copy.erase();
    if (failed(texts))
      return failure();
    for (auto [i, text] : llvm::enumerate(*texts)) {
      std::error_code error;
      llvm::ToolOutputFile file((ptx + Twine(i) + ".ptx").str(), error, llvm::sys::fs::OF_Text);
      if (error)
        return code.emitError("cannot write '") << file.getFilename() << "': " << error.message();
      file.os() << text;
      file.keep();
    }
    return success();
  }
};

} // namespace
} // namespace mlir::coll
