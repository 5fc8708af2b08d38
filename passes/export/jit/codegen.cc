#include "passes/export/jit/codegen.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

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

namespace {

/// Keeps LLVM from spending most of a second on loops that run for a microsecond. A nest of 2 × 4 ×
/// 4 × 2 copies, unrolled and vectorised at every depth, becomes thousands of shuffles in one
/// block.
class LoopHints {
public:
  LoopHints(llvm::LoopInfo &loops, llvm::ScalarEvolution &evolution)
      : loops_(loops), evolution_(evolution) {}

  void apply() {
    for (llvm::Loop *loop : loops_) {
      std::optional<uint64_t> work = countWork(*loop);
      if (work && *work <= kLittleWork)
        leaveAsItIs(*loop);
      else
        limitUnrolling(*loop);
    }
  }

private:
  // In instructions before they are simplified, which leaves about a fifth.
  static constexpr uint64_t kLittleWork = 30'000;
  static constexpr uint64_t kMaxUnrolled = 700;

  uint64_t ownSize(llvm::Loop &loop) {
    uint64_t size = 0;
    for (llvm::BasicBlock *block : loop.blocks())
      if (loops_.getLoopFor(block) == &loop)
        size += block->size();
    return size;
  }

  /// The instructions that all iterations execute; nullopt where that is not known.
  std::optional<uint64_t> countWork(llvm::Loop &loop) {
    uint64_t size = ownSize(loop);
    for (llvm::Loop *inner : loop) {
      std::optional<uint64_t> work = countWork(*inner);
      if (!work)
        return std::nullopt;
      size += *work;
    }
    unsigned trips = evolution_.getSmallConstantTripCount(&loop);
    if (trips == 0 || size > kLittleWork)
      return std::nullopt;
    return size * trips;
  }

  void leaveAsItIs(llvm::Loop &loop) {
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable");
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.vectorize.enable", 0);
    for (llvm::Loop *inner : loop)
      leaveAsItIs(*inner);
  }

  /// Returns the size of the loop where all that may be unrolled is.
  uint64_t limitUnrolling(llvm::Loop &loop) {
    uint64_t size = ownSize(loop);
    for (llvm::Loop *inner : loop)
      size += limitUnrolling(*inner);
    unsigned trips = evolution_.getSmallConstantTripCount(&loop);
    if (trips && size * trips <= kMaxUnrolled)
      return size * trips;
    if (!loop.isInnermost()) // LLVM itself decides on innermost loops
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable");
    return size;
  }

  llvm::LoopInfo &loops_;
  llvm::ScalarEvolution &evolution_;
};

} // namespace

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
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      LoopHints(functions.getResult<llvm::LoopAnalysis>(function),
                functions.getResult<llvm::ScalarEvolutionAnalysis>(function))
          .apply();
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

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  llvm::MCContext *context = nullptr;
  if ((*machine)->addPassesToEmitMC(passes, context, stream))
    return llvm::createStringError("this machine's code generator emits no objects");
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(object), module.getModuleIdentifier(), /*RequiresNullTerminator=*/false);
}
