//===- emit_executable.cc - the exec level to LLVM --------------------------------===//
//
// Per rank class: kernels become LLVM functions on bare pointers, functions of the exec level
// call them and the runtime, and the descriptor is written for the runtime.
//
//===----------------------------------------------------------------------------===//

#include "passes/passes.h"

#include "dialect/sharding.h"
#include "mlir/Pass/PassManager.h"
#include "passes/export/emit_driver.h"
#include "passes/export/emit_executable_kernels.h"
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
    registerCollDialects(registry);
  }
  void runOnOperation() override;

private:
  LogicalResult emitKernels(ModuleOp module);
  LogicalResult emitClass(ModuleOp module, int64_t worldSize);
};

} // namespace

/// Makes the forms of kernels that calls need, and erases those that none needs.
static void selectKernels(ModuleOp module) {
  llvm::StringSet<> used;
  module.walk([&](exec::CallOp call) {
    auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (auto reused = call.getReused(); kernel && !reused.empty())
      getInPlaceKernel(kernel, reused);
    used.insert(getKernelName(call));
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

static void addDescriptor(ModuleOp module, const std::string &text) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  std::string terminated = text + '\0';
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::External, "coll_descriptor",
                         builder.getStringAttr(terminated));
}

static ArrayRef<int64_t> getRanks(ModuleOp module) {
  return module->getAttrOfType<DenseI64ArrayAttr>(exec::kRanksAttr).asArrayRef();
}

LogicalResult EmitExecutablePass::emitClass(ModuleOp module, int64_t worldSize) {
  selectKernels(module);
  // Kernels are lowered alone: the functions wait outside.
  SmallVector<exec::FunctionOp> functions(module.getOps<exec::FunctionOp>());
  for (exec::FunctionOp function : functions)
    function->moveBefore(getOperation().getBody(), getOperation().getBody()->end());
  if (failed(emitKernels(module)))
    return failure();

  MeshOp mesh;
  for (auto op : getOperation().getOps<MeshOp>())
    mesh = op;
  DescriptorBuilder descriptor(mesh, getRanks(module), worldSize);
  DriverEmitter emitter(module, descriptor);
  exec::FunctionOp step;
  int64_t arenaBytes = 0;
  for (exec::FunctionOp function : functions) {
    bool isStep = function.getSymName() == kStepFunction;
    if (isStep)
      step = function;
    arenaBytes = std::max<int64_t>(arenaBytes, function.getArenaBytes());
    if (failed(emitter.emit(function, isStep ? "coll_step" : "coll_init")))
      return failure();
  }
  OpPassManager lower(ModuleOp::getOperationName());
  buildLowerToLLVMPipeline(lower);
  if (failed(runPipeline(lower, module)))
    return failure();
  addDescriptor(module, descriptor.write(step, arenaBytes));
  for (exec::FunctionOp function : functions)
    function.erase();
  module->removeAttr(exec::kRanksAttr);
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
