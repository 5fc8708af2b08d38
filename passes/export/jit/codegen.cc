#include "passes/export/jit/codegen.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir::coll;

void mlir::coll::initializeCodegen() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)done;
}

static llvm::OptimizationLevel toPassLevel(unsigned level) {
  switch (level) {
  case 1:
    return llvm::OptimizationLevel::O1;
  case 2:
    return llvm::OptimizationLevel::O2;
  default:
    return llvm::OptimizationLevel::O3;
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level >= 2;
  tuning.LoopInterleaving = tuning.LoopUnrolling = level >= 2;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(toPassLevel(level)).run(module, modules);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mlir::coll::compileToObject(llvm::Module &module, llvm::orc::JITTargetMachineBuilder target,
                            unsigned optLevel) {
  target.setRelocationModel(llvm::Reloc::PIC_);
  target.setCodeGenOptLevel(optLevel == 0 ? llvm::CodeGenOptLevel::None
                                          : llvm::CodeGenOptLevel::Default);
  auto machine = target.createTargetMachine();
  if (!machine)
    return machine.takeError();
  module.setDataLayout((*machine)->createDataLayout());
  module.setTargetTriple((*machine)->getTargetTriple());
  for (llvm::Function &function : module)
    function.setDoesNotThrow();
  if (optLevel)
    optimize(module, **machine, optLevel);

  // Large constants are not to be moved while the object grows.
  uint64_t constantBytes = 0;
  for (const llvm::GlobalVariable &global : module.globals())
    if (global.hasInitializer())
      constantBytes += module.getDataLayout().getTypeAllocSize(global.getValueType());
  llvm::SmallVector<char, 0> object;
  object.reserve(constantBytes + constantBytes / 16);
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  llvm::MCContext *context = nullptr;
  if ((*machine)->addPassesToEmitMC(passes, context, stream))
    return llvm::createStringError("this machine's code generator emits no objects");
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(object), module.getModuleIdentifier(), /*RequiresNullTerminator=*/false);
}
