//===- compile.cc - from a file to programs that run ----------------------------===//

#include "compiler/compile.h"

#include "compiler/error.h"
#include "compiler/untrusted_text.h"
#include "dialect/signature.h"
#include "passes/passes.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

namespace coll::run {
namespace {

/// The function that a foreign module exports.
mlir::func::FuncOp findEntry(mlir::ModuleOp module) {
  if (auto main = module.lookupSymbol<mlir::func::FuncOp>("main"))
    return main;
  mlir::func::FuncOp entry;
  for (auto func : module.getOps<mlir::func::FuncOp>())
    if (func.isPublic())
      entry = entry ? nullptr : func;
  return entry;
}

/// Whether the arguments carry roles.
bool hasRoles(mlir::func::FuncOp entry) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (entry.getArgAttr(i, mlir::coll::kRoleAttr))
      return true;
  return false;
}

/// All results but the last are state where their types are those of the first arguments:
/// the shape of a training step. Otherwise nothing can be inferred.
std::optional<int64_t> inferStateArgs(mlir::func::FuncOp entry) {
  mlir::FunctionType type = entry.getFunctionType();
  int64_t count = int64_t(type.getNumResults()) - 1;
  if (count < 1 || count > type.getNumInputs())
    return std::nullopt;
  if (type.getInputs().take_front(count) != type.getResults().take_front(count))
    return std::nullopt;
  return count;
}

/// Runs one pipeline. Failures inside are reported as diagnostics with a location; the error names
/// the pass.
class PipelineRunner {
public:
  PipelineRunner(mlir::MLIRContext *context, StageWriter *stages)
      : manager(mlir::PassManager::on<mlir::ModuleOp>(context)) {
    if (stages)
      manager.addInstrumentation(stages->makeInstrumentation());
  }

  llvm::Error run(mlir::ModuleOp module, llvm::StringRef what) {
    if (mlir::failed(manager.run(module)))
      return makeError(what + " failed");
    return llvm::Error::success();
  }

  mlir::PassManager manager;
};

llvm::Error importStep(StepIr &step, llvm::StringRef path, std::optional<int64_t> stateArgs,
                       StageWriter *stages) {
  mlir::func::FuncOp entry = findEntry(*step.module);
  if (!entry)
    return makeError("'" + path + "' has no function @main");
  if (!stateArgs && hasRoles(entry)) {
    stateArgs = 0; // the roles count
  } else if (!stateArgs) {
    stateArgs = inferStateArgs(entry);
    if (!stateArgs)
      return makeError("which arguments of '" + path +
                       "' are state? Give --state-args=K: the first K arguments, which "
                       "the first K results update");
    step.note = "taking the first " + std::to_string(*stateArgs) +
                " arguments as state, by their types; --state-args=K overrides";
  }
  if (*stateArgs > entry.getNumArguments() || *stateArgs > entry.getNumResults())
    return makeError("--state-args=" + llvm::Twine(*stateArgs) + ", but '" + path + "' has " +
                     counted(entry.getNumArguments(), "argument") + " and " +
                     counted(entry.getNumResults(), "result"));
  PipelineRunner runner(step.module->getContext(), stages);
  mlir::coll::ImportOptions options;
  options.stateArgs = *stateArgs;
  mlir::coll::buildImportPipeline(runner.manager, options);
  if (llvm::Error error = runner.run(*step.module, "importing '" + path.str() + "'"))
    return error;
  step.level = detectLevel(*step.module); // its arguments may carry shardings
  return llvm::Error::success();
}

bool isDistributed(const StepIr &step, const CompileOptions &options) {
  return step.level != Level::Step || options.dataParallel || !options.mesh.empty();
}

/// Whether the step is to be cut into pipeline stages.
bool hasStages(const StepIr &step, const CompileOptions &options) {
  return step.level == Level::Step && options.stages.stages > 0;
}

/// The passes from the step's level to one program for all ranks, or to those of its stages.
llvm::Error partition(StepIr &step, const CompileOptions &options, StageWriter *stages) {
  PipelineRunner runner(step.module->getContext(), stages);
  mlir::coll::PartitionOptions partition;
  partition.narrowSums = options.narrowSums;
  partition.combineBytes = options.combineBytes;
  partition.topology = options.topology;
  partition.microBatches = options.accumulate;
  mlir::coll::StrategyOptions strategy;
  strategy.mesh = options.mesh;
  strategy.strategy = options.strategy;
  strategy.shards = options.shards;
  strategy.partition = partition;
  strategy.roots = options.roots;
  if (hasStages(step, options)) {
    mlir::coll::buildStagePipeline(runner.manager, strategy, options.stages);
  } else if (step.level == Level::Step && !options.mesh.empty()) {
    mlir::coll::buildStrategyPipeline(runner.manager, strategy);
  } else if (step.level == Level::Step && options.dataParallel) {
    mlir::coll::DataParallelOptions dataParallel;
    dataParallel.ranks = options.ranks;
    dataParallel.axis = options.axis;
    dataParallel.partition = partition;
    dataParallel.roots = options.roots;
    mlir::coll::buildDataParallelPipeline(runner.manager, dataParallel);
  } else if (step.level == Level::Annotated) {
    mlir::coll::buildPartitionPipeline(runner.manager, partition);
  } else if (step.level == Level::Step) {
    mlir::coll::buildRootPipeline(runner.manager, options.roots);
  }
  return runner.run(*step.module, "distributing the step");
}

/// The passes from there to rank programs.
llvm::Error lowerToPrograms(StepIr &step, const CompileOptions &options, StageWriter *stages) {
  PipelineRunner runner(step.module->getContext(), stages);
  if (step.level == Level::Programs || hasStages(step, options)) {
    if (options.verify)
      runner.manager.addPass(mlir::coll::createVerifyRanksPass());
  } else if (isDistributed(step, options)) {
    mlir::coll::RankProgramOptions programs;
    programs.ranks = options.ranks;
    programs.verify = options.verify;
    mlir::coll::buildRankProgramPipeline(runner.manager, programs);
  }
  return runner.run(*step.module, "distributing the step");
}

llvm::Error lowerToExecutable(StepIr &step, const CompileOptions &options, StageWriter *stages) {
  PipelineRunner runner(step.module->getContext(), stages);
  mlir::coll::ExecutableOptions executable;
  executable.gpu = options.gpu;
  executable.precision = options.precision;
  executable.fuseAttention = options.fuseAttention;
  executable.convolutions = options.convolutions;
  executable.epilogues = options.epilogues;
  if (step.level == Level::Exec) {
    runner.manager.addPass(mlir::coll::createVerifyExecPass());
    runner.manager.addPass(mlir::coll::createEmitExecutablePass());
  } else if (step.level == Level::Kernels) {
    mlir::coll::buildEmitPipeline(runner.manager, executable);
  } else {
    mlir::coll::buildExecutablePipeline(runner.manager, executable);
  }
  return runner.run(*step.module, "compiling the step");
}

mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, llvm::StringRef path,
                                        llvm::StringRef text, MessageHandler errors) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, path == "-" ? "<stdin>" : path,
                                       /*RequiresNullTerminator=*/!mlir::isBytecode({text, path})),
      llvm::SMLoc());
  DiagnosticListener listener(context, sources, [&](Message message) {
    if (errors)
      errors(std::move(message));
  });
  return mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(&context));
}

/// Whether the tensor's bytes can be counted.
bool isCountable(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return true;
  int64_t bytes = sizeof(double);
  return llvm::is_contained(tensor.getShape(), 0) ||
         llvm::none_of(tensor.getShape(), [&](int64_t extent) {
           return __builtin_mul_overflow(bytes, extent, &bytes);
         });
}

mlir::LogicalResult checkSizes(mlir::ModuleOp module) {
  auto check = [](mlir::Value value) {
    if (isCountable(value.getType()))
      return mlir::success();
    return mlir::LogicalResult(mlir::emitError(value.getLoc(), "more bytes than can be counted: ")
                               << value.getType());
  };
  mlir::WalkResult walked = module.walk([&](mlir::Operation *op) {
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (mlir::Value argument : block.getArguments())
          if (mlir::failed(check(argument)))
            return mlir::WalkResult::interrupt();
    for (mlir::Value result : op->getResults())
      if (mlir::failed(check(result)))
        return mlir::WalkResult::interrupt();
    return mlir::WalkResult::advance();
  });
  return mlir::failure(walked.wasInterrupted());
}

void dropDistribution(mlir::func::FuncOp func) {
  mlir::coll::removeSignatureAttrs(func, mlir::coll::kShardingAttr);
  func.walk([](mlir::Operation *op) {
    op->removeAttr(mlir::coll::kShardingsAttr);
    if (auto reshard = llvm::dyn_cast<mlir::coll::ReshardOp>(op)) {
      reshard.getResult().replaceAllUsesWith(reshard.getInput());
      reshard.erase();
    }
  });
}

} // namespace

StepIr StepIr::clone() const {
  StepIr copy;
  copy.module = module.get().clone();
  copy.level = level;
  return copy;
}

llvm::Expected<StepIr> loadStep(mlir::MLIRContext &context, llvm::StringRef path,
                                llvm::StringRef text, std::optional<int64_t> stateArgs,
                                StageWriter *stages, MessageHandler syntaxErrors) {
  StepIr step;
  step.module = parse(context, path, text, std::move(syntaxErrors));
  if (!step.module) {
    llvm::StringRef hint = mlir::coll::hintAtPrettyForm(text);
    return makeError("'" + path + "' is not MLIR that can be read" + (hint.empty() ? "" : "; ") +
                     hint);
  }
  if (step.module->getBody()->empty())
    return makeError("'" + path + "' is empty");
  step.level = detectLevel(*step.module);
  if (stages)
    stages->begin("input", *step.module);
  if (mlir::failed(checkSizes(*step.module)))
    return makeError("'" + path + "' has a tensor that is too large for any machine");
  if (step.level == Level::Foreign)
    if (llvm::Error error = importStep(step, path, stateArgs, stages))
      return error;
  if (step.level <= Level::Spmd &&
      !step.module->lookupSymbol<mlir::func::FuncOp>(mlir::coll::kStepFunction))
    return makeError("'" + path + "' has no function @step");
  return step;
}

llvm::Expected<StepIr> toSingleDevice(const StepIr &step) {
  if (step.level < Level::Step || step.level > Level::Annotated)
    return makeError("--check needs the step before it was partitioned, but the input is " +
                     describe(step.level) + "; compare with --reference instead");
  StepIr single = step.clone();
  single.level = Level::Step;
  mlir::ModuleOp module = *single.module;
  for (auto func : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
    if (func.getName() == mlir::coll::kInitFunction)
      func.erase();
    else
      dropDistribution(func);
  }
  for (auto mesh : llvm::make_early_inc_range(module.getOps<mlir::coll::MeshOp>()))
    mesh.erase();
  if (detectLevel(module) != Level::Step)
    return makeError("--check needs a step without collectives of its own");
  return single;
}

llvm::Expected<mlir::coll::ObjectCode> compileStep(StepIr step, const CompileOptions &options,
                                                   StageWriter *stages, Explanation *explanation) {
  if (step.level >= Level::Exec && !options.gpu.empty())
    return makeError("the step is " + describe(step.level) +
                     ": for which device it is stands in it; give no --device");
  if (step.level < Level::Programs) {
    if (llvm::Error error = partition(step, options, stages))
      return error;
    if (explanation) {
      auto explained = explainStep(*step.module, options.ranks, options.topology);
      if (!explained)
        return explained.takeError();
      *explanation = std::move(*explained);
    }
  }
  if (step.level < Level::Kernels)
    if (llvm::Error error = lowerToPrograms(step, options, stages))
      return error;
  if (step.level < Level::Executable)
    if (llvm::Error error = lowerToExecutable(step, options, stages))
      return error;
  if (stages)
    if (llvm::Error error = stages->takeError())
      return error;
  mlir::coll::JitOptions jit;
  jit.optLevel = options.optLevel;
  jit.isShared = options.isShared;
  return mlir::coll::compileObjects(*step.module, jit);
}

} // namespace coll::run
