//===- emit_executable.cc - the exec level to LLVM --------------------------------===//
//
// Per rank class: kernels become LLVM functions on bare pointers, or PTX, functions of the exec
// level call them and the runtime, and the descriptor is written for the runtime.
//
//===----------------------------------------------------------------------------===//

#include "passes/passes.h"

#include "dialect/sharding.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/export/emit_cpu_driver.h"
#include "passes/export/emit_executable_kernels.h"
#include "passes/export/emit_gpu_driver.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::coll {
#define GEN_PASS_DEF_EMITEXECUTABLEPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;

namespace {

class EmitExecutablePass : public coll::impl::EmitExecutablePassBase<EmitExecutablePass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registerGpuCodeDialects(registry);
  }
  void runOnOperation() override;

private:
  LogicalResult emitKernels(ModuleOp module);
  LogicalResult emitClass(ModuleOp module, int64_t worldSize);
};

} // namespace

/// Makes the forms of kernels that calls need, in place where they reuse memory, and erases those
/// that none needs. GPU code takes one address twice.
static void selectKernels(ModuleOp module, bool inPlace) {
  llvm::StringSet<> used;
  module.walk([&](exec::CallOp call) {
    auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee());
    auto reused = call.getReused();
    if (inPlace && kernel && !reused.empty())
      getInPlaceKernel(kernel, reused);
    used.insert(inPlace ? getKernelName(call) : call.getCallee().str());
  });
  for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!used.contains(kernel.getName()))
      kernel.erase();
}

LogicalResult EmitExecutablePass::emitKernels(ModuleOp module) {
  for (auto kernel : module.getOps<func::FuncOp>()) {
    kernel.setPublic();
    guardDivisions(kernel);
    if (failed(expandKernelArithmetic(kernel)))
      return failure();
  }
  OpPassManager lower(ModuleOp::getOperationName());
  buildLowerToLLVMPipeline(lower);
  if (failed(runPipeline(lower, module)))
    return failure();
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal())
      annotateKernel(kernel);
  return success();
}

/// A constant that the runtime finds by its name; texts end with a NUL.
static void addSymbol(ModuleOp module, StringRef name, StringRef content) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), content.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::External, name, builder.getStringAttr(content),
                         /*alignment=*/64);
}

static void addText(ModuleOp module, StringRef name, const std::string &text) {
  addSymbol(module, name, StringRef(text.c_str(), text.size() + 1));
}

static ArrayRef<int64_t> getRanks(ModuleOp module) {
  return module->getAttrOfType<DenseI64ArrayAttr>(exec::kRanksAttr).asArrayRef();
}

/// The functions of a class; returns the size of the arena that they need.
static FailureOr<int64_t> emitFunctions(DriverEmitter &emitter,
                                        ArrayRef<exec::FunctionOp> functions) {
  int64_t arenaBytes = 0;
  for (exec::FunctionOp function : functions) {
    bool isStep = function.getSymName() == kStepFunction;
    arenaBytes = std::max<int64_t>(arenaBytes, function.getArenaBytes());
    if (failed(emitter.emit(function, isStep ? "coll_step" : "coll_init")))
      return failure();
  }
  return arenaBytes;
}

static FailureOr<int64_t> emitForCpu(ModuleOp module, ArrayRef<exec::FunctionOp> functions,
                                     DescriptorBuilder &descriptor) {
  CpuDriverEmitter emitter(module, descriptor);
  return emitFunctions(emitter, functions);
}

namespace {
struct GpuCode {
  llvm::StringMap<GpuKernel> kernels;
  std::vector<std::string> ptx;
};
} // namespace

/// Kernels become PTX, and disappear.
static FailureOr<GpuCode> emitGpuKernels(ModuleOp module, StringRef chip) {
  auto modules = module.getOps<gpu::GPUModuleOp>();
  if (modules.empty())
    return module.emitError("has no gpu.module, but is for ") << chip;
  GpuCode code;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    FailureOr<std::vector<GpuLaunch>> launches = readLaunches(kernel);
    if (failed(launches))
      return failure();
    GpuKernel &entry = code.kernels[kernel.getName()];
    entry.launches = std::move(*launches);
    entry.members = exec::getMembers(kernel);
  }
  GpuOptions options;
  options.chip = chip.str();
  options.libdevice = getDefaultLibdevice();
  gpu::GPUModuleOp functions = *modules.begin();
  FailureOr<std::vector<std::string>> ptx = emitPtx(functions, code.kernels, options);
  if (failed(ptx))
    return failure();
  code.ptx = std::move(*ptx);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<gpu::GPUModuleOp, func::FuncOp, memref::GlobalOp>(op))
      op.erase();
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  return code;
}

static FailureOr<int64_t> emitForGpu(ModuleOp module, ArrayRef<exec::FunctionOp> functions,
                                     DescriptorBuilder &descriptor) {
  FailureOr<GpuCode> code =
      emitGpuKernels(module, module->getAttrOfType<StringAttr>(exec::kGpuAttr).getValue());
  if (failed(code))
    return failure();
  GpuDriverEmitter emitter(module, descriptor, code->kernels);
  FailureOr<int64_t> arenaBytes = emitFunctions(emitter, functions);
  if (failed(arenaBytes))
    return failure();
  addText(module, "coll_gpu_image", joinPtx(code->ptx));
  addText(module, "coll_gpu_kernels", emitter.writeKernelTable());
  if (!emitter.getConstants().empty())
    addSymbol(module, "coll_constants", emitter.getConstants());
  return arenaBytes;
}

LogicalResult EmitExecutablePass::emitClass(ModuleOp module, int64_t worldSize) {
  bool isOnGpu = module->hasAttr(exec::kGpuAttr);
  selectKernels(module, /*inPlace=*/!isOnGpu);
  // Kernels are lowered alone: the functions wait outside.
  SmallVector<exec::FunctionOp> functions(module.getOps<exec::FunctionOp>());
  for (exec::FunctionOp function : functions)
    function->moveBefore(getOperation().getBody(), getOperation().getBody()->end());
  if (!isOnGpu && failed(emitKernels(module)))
    return failure();

  MeshOp mesh;
  for (auto op : getOperation().getOps<MeshOp>())
    mesh = op;
  DescriptorBuilder descriptor(mesh, getRanks(module), worldSize);
  FailureOr<int64_t> arenaBytes = isOnGpu ? emitForGpu(module, functions, descriptor)
                                          : emitForCpu(module, functions, descriptor);
  if (failed(arenaBytes))
    return failure();
  OpPassManager lower(ModuleOp::getOperationName());
  buildLowerToLLVMPipeline(lower);
  if (failed(runPipeline(lower, module)))
    return failure();
  auto isStep = [](exec::FunctionOp function) { return function.getSymName() == kStepFunction; };
  addText(module, "coll_descriptor",
          descriptor.write(*llvm::find_if(functions, isStep), *arenaBytes, isOnGpu));
  for (exec::FunctionOp function : functions)
    function.erase();
  module->removeAttr(exec::kRanksAttr);
  module->removeAttr(exec::kGpuAttr);
  return success();
}

/// A class is a module with its ranks, a function @step and perhaps a function @init.
static LogicalResult checkClass(ModuleOp module) {
  bool hasStep = false;
  for (auto function : module.getOps<exec::FunctionOp>()) {
    hasStep |= function.getSymName() == kStepFunction;
    if (function.getSymName() != kStepFunction && function.getSymName() != kInitFunction)
      return function.emitOpError("must be @step or @init");
  }
  if (!hasStep)
    return module.emitError("has no exec.function @") << kStepFunction;
  return success();
}

void EmitExecutablePass::runOnOperation() {
  SmallVector<ModuleOp> classes;
  int64_t worldSize = 0;
  for (auto module : getOperation().getOps<ModuleOp>()) {
    if (!module->hasAttr(exec::kRanksAttr))
      continue;
    if (failed(checkClass(module)))
      return signalPassFailure();
    classes.push_back(module);
    worldSize = std::max(worldSize, getRanks(module).back() + 1);
  }
  if (classes.empty()) {
    getOperation().emitError("has no rank class at the exec level: run coll-to-exec before");
    return signalPassFailure();
  }
  for (ModuleOp module : classes)
    if (failed(emitClass(module, worldSize)))
      return signalPassFailure();
}
