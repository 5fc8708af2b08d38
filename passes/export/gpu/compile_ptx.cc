#include "passes/export/gpu/emit_ptx.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

static void initializeTarget() {
  static const bool done = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

unsigned mlir::coll::getPtxVersion(StringRef chip) {
  unsigned capability;
  if (!chip.consume_front("sm_") || (chip.consume_back("a"), chip).getAsInteger(10, capability) ||
      capability < 80)
    return 0;
  return capability < 89 ? 71 : capability < 100 ? 80 : 87;
}

static Expected<std::unique_ptr<TargetMachine>> createMachine(StringRef chip) {
  initializeTarget();
  std::string error;
  Triple triple(kTriple);
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::string features = "+ptx" + std::to_string(mlir::coll::getPtxVersion(chip));
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, chip, features, options, std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("LLVM has no code generator for GPUs");
  return machine;
}

/// Links the functions of libdevice that the module calls, as its own.
static Error linkLibdevice(Module &module, StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read " + path);
  Expected<std::unique_ptr<Module>> library =
      getLazyBitcodeModule((*buffer)->getMemBufferRef(), module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  StringSet<> own;
  for (Function &function : module)
    if (!function.isDeclaration())
      own.insert(function.getName());
  if (Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded))
    return createStringError("cannot link " + path);
  internalizeModule(module,
                    [&](const GlobalValue &value) { return own.contains(value.getName()); });
  return Error::success();
}

static void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

/// A declaration that is left would be an unresolved symbol when the code is loaded.
static Error checkResolved(const Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return createStringError("no definition of function " + function.getName());
  return Error::success();
}

Expected<std::string> mlir::coll::compileToPtx(Module &module, StringRef libdevice,
                                               StringRef chip) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(chip);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple(Triple(kTriple));
  module.setDataLayout((*machine)->createDataLayout());
  bool calls = any_of(module, [](const Function &function) {
    return function.isDeclaration() && !function.isIntrinsic();
  });
  if (calls && !libdevice.empty())
    if (Error error = linkLibdevice(module, libdevice))
      return error;
  optimize(module, **machine);
  if (Error error = checkResolved(module))
    return error;
  // Texts can then be joined (joinPtx).
  for (GlobalValue &value : module.global_values())
    if (value.hasLocalLinkage())
      value.setName(value.getName() + "_" + module.getModuleIdentifier());
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile))
    return createStringError("LLVM's code generator for GPUs emits no text");
  passes.run(module);
  return text.str().str();
}
