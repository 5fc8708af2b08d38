//===- pipelines.cc - table of contents of the compiler --------------------------===//

#include "passes/pipelines.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/export/convolutions/passes.h"
#include "passes/export/epilogues/passes.h"
#include "passes/passes.h"

namespace mlir::coll {

namespace {

/// Inlines calls, unless they are recursive, and drops private functions that nothing uses. The
/// inliner takes seconds for 100,000 operations, so it does not run where it would change nothing.
struct InlineCallsPass : PassWrapper<InlineCallsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineCallsPass)

  StringRef getArgument() const override { return "coll-inline-calls"; }
  void runOnOperation() override {
    if (!hasCallOrPrivateFunction(getOperation()))
      return markAllAnalysesPreserved();
    OpPassManager inliner(getOperation()->getName());
    inliner.addPass(createInlinerPass({}, [](OpPassManager &) {}));
    if (failed(runPipeline(inliner, getOperation())))
      signalPassFailure();
  }

  static bool hasCallOrPrivateFunction(Operation *module) {
    return module
        ->walk([](Operation *op) {
          auto symbol = dyn_cast<SymbolOpInterface>(op);
          const bool isPrivate = isa<CallableOpInterface>(op) && symbol && !symbol.isPublic();
          return isPrivate || isa<CallOpInterface>(op) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
        })
        .wasInterrupted();
  }
};

void addInliner(OpPassManager &pm) { pm.addPass(std::make_unique<InlineCallsPass>()); }

/// Folds and drops what is dead. A step's regions have one block each, so that there are no blocks
/// to simplify, which would walk over all operations again.
void addCleanUp(OpPassManager &pm) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(); // as the pass does by itself
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  pm.addPass(createCanonicalizerPass(config));
  pm.addPass(createCSEPass());
}

} // namespace

void buildRootPipeline(OpPassManager &pm, const RootOptions &options) {
  if (options.root.empty() && options.staleness == 0)
    return;
  FormRootUpdatePassOptions form;
  form.root = options.root;
  form.route = options.route;
  pm.addPass(createFormRootUpdatePass(form));
  if (options.staleness > 0)
    pm.addPass(createDelayGradientsPass({options.staleness}));
}

void buildImportPipeline(OpPassManager &pm, const ImportOptions &options) {
  ImportStablehloPassOptions import;
  import.stateArgs = options.stateArgs;
  import.statePrefix = options.statePrefix;
  pm.addPass(createImportStablehloPass(import));
  addCleanUp(pm);
}

void buildDataParallelPipeline(OpPassManager &pm, const DataParallelOptions &options) {
  InsertDataParallelPassOptions dataParallel;
  dataParallel.ranks = options.ranks;
  dataParallel.axis = options.axis;
  dataParallel.mesh = options.mesh;
  addInliner(pm);
  buildRootPipeline(pm, options.roots);
  pm.addPass(createInsertDataParallelPass(dataParallel)); // L1
  buildPartitionPipeline(pm, options.partition);
}

static void addStrategy(OpPassManager &pm, const StrategyOptions &options) {
  InsertStrategyPassOptions strategy;
  strategy.mesh = options.mesh;
  strategy.strategy = options.strategy;
  strategy.shards.assign(options.shards.begin(), options.shards.end());
  pm.addPass(createInsertStrategyPass(strategy)); // L1
}

/// L1 to L4, without the clean-up passes before and after.
static void addPartition(OpPassManager &pm, const PartitionOptions &options) {
  // The axis of micro-batches is not in the topology, so plans are chosen by bytes.
  InsertReshardsPassOptions reshards;
  const std::string topology = options.microBatches > 1 ? "" : options.topology;
  reshards.topology = topology;
  reshards.explain = options.explain;
  NarrowReshardsPassOptions narrow;
  narrow.sums = options.narrowSums;
  PartitionPassOptions partition;
  partition.f32Sums = options.f32Sums;
  partition.topology = topology;
  pm.addPass(createPlaceRootsPass());
  if (options.microBatches > 1)
    pm.addPass(createInsertMicroBatchesPass({options.microBatches}));
  pm.addPass(createPropagatePass());              // L2
  pm.addPass(createInsertReshardsPass(reshards)); // L3
  pm.addPass(createNarrowReshardsPass(narrow));
  if (options.microBatches > 1 || options.isStaged)
    pm.addPass(createIsolateMicroBatchesPass());
  pm.addPass(createPartitionPass(partition)); // L4
  if (options.microBatches > 1)
    pm.addPass(createLoopMicroBatchesPass());
}

/// Stages send from rank to rank in between, each in an order of its own.
static void addCombination(OpPassManager &pm, const PartitionOptions &options) {
  if (options.combineBytes > 0 && !options.isStaged)
    pm.addPass(createCombineCollectivesPass({options.combineBytes}));
}

void buildInlinePipeline(OpPassManager &pm) { addInliner(pm); }

void buildStrategyPipeline(OpPassManager &pm, const StrategyOptions &options) {
  addInliner(pm);
  buildRootPipeline(pm, options.roots);
  addStrategy(pm, options);
  buildPartitionPipeline(pm, options.partition);
}

void buildCostingPipeline(OpPassManager &pm, const StrategyOptions &options) {
  addStrategy(pm, options);
  PartitionOptions partition = options.partition;
  partition.explain = false;
  addPartition(pm, partition);
  addCombination(pm, partition);
}

/// Marks the stages where something has to know them before the step is partitioned; else
/// coll-split-stages finds them.
static void addStageMarks(OpPassManager &pm, const StageOptions &stages) {
  MarkStagesPassOptions marks;
  marks.stages = stages.stages;
  marks.microBatches = stages.microBatches;
  marks.schedule = stages.schedule;
  marks.stagePatterns.assign(stages.patterns.begin(), stages.patterns.end());
  pm.addPass(createMarkStagesPass(marks));
}

static void addStageMeshes(OpPassManager &pm, const StageOptions &stages) {
  if (stages.meshes.empty())
    return;
  InsertStageMeshesPassOptions meshes;
  meshes.stages = stages.stages;
  meshes.microBatches = stages.microBatches;
  meshes.schedule = stages.schedule;
  meshes.stagePatterns.assign(stages.patterns.begin(), stages.patterns.end());
  meshes.meshes.assign(stages.meshes.begin(), stages.meshes.end());
  pm.addPass(createInsertStageMeshesPass(meshes));
}

void buildStagePipeline(OpPassManager &pm, const StrategyOptions &options,
                        const StageOptions &stages) {
  addInliner(pm);
  buildRootPipeline(pm, options.roots);
  addStrategy(pm, options); // L1
  InsertMicroBatchesPassOptions microBatches;
  microBatches.count = stages.microBatches;
  pm.addPass(createInsertMicroBatchesPass(microBatches));
  if (!options.roots.root.empty())
    addStageMarks(pm, stages);
  addStageMeshes(pm, stages);
  PartitionOptions partition = options.partition;
  partition.topology.clear(); // micro-batches are no ranks: bytes decide
  partition.isStaged = true;
  buildPartitionPipeline(pm, partition); // L4
  SplitStagesPassOptions split;
  split.stages = stages.stages;
  split.microBatches = stages.microBatches;
  split.schedule = stages.schedule;
  split.explain = true;
  if (stages.meshes.empty() && options.roots.root.empty()) // else they are marked
    split.stagePatterns.assign(stages.patterns.begin(), stages.patterns.end());
  pm.addPass(createSplitStagesPass(split)); // L6
  addCleanUp(pm);
}

void buildPartitionPipeline(OpPassManager &pm, const PartitionOptions &options) {
  addInliner(pm);
  pm.addPass(createDropEmptyPass());
  addPartition(pm, options);
  addCleanUp(pm);
  addCombination(pm, options);
}

void buildRankProgramPipeline(OpPassManager &pm, const RankProgramOptions &options) {
  SplitRanksPassOptions split;
  split.ranks = options.ranks;
  pm.addPass(createSplitRanksPass(split)); // L6
  if (!options.verify)
    return;
  VerifyRanksPassOptions verify;
  verify.ranks = options.ranks;
  pm.addPass(createVerifyRanksPass(verify));
}

void buildExecutablePipeline(OpPassManager &pm, const ExecutableOptions &options) {
  addInliner(pm);
  pm.addPass(createDropEmptyPass());
  pm.addPass(createUnrollFuturesPass());
  if (!options.gpu.empty()) {
    pm.addPass(createCountLoopsPass());
    if (options.fuseAttention)
      pm.addPass(createFuseAttentionPass());
  }
  LowerIndexedPassOptions indexed;
  indexed.gpu = !options.gpu.empty();
  pm.addPass(createLowerIndexedPass(indexed));
  if (options.convolutions)
    pm.addPass(createLowerConvolutionsPass());
  LowerContractionsPassOptions contractions;
  contractions.narrow = !options.gpu.empty();
  pm.addPass(createLowerContractionsPass(contractions));
  if (options.epilogues != "off") {
    FuseEpiloguesPassOptions epilogues;
    epilogues.gelu = options.epilogues != "bias";
    epilogues.gradient = options.epilogues == "all";
    epilogues.library = !options.gpu.empty();
    pm.addPass(createFuseEpiloguesPass(epilogues));
  }
  FuseKernelsPassOptions kernels;
  kernels.recompute = !options.gpu.empty();
  pm.addPass(createFuseKernelsPass(kernels));
  pm.addPass(createOutlineKernelsPass());
  if (!options.gpu.empty()) {
    pm.addPass(createFuseRowsPass());
    pm.addPass(createFuseRootUpdatesPass());
    pm.addPass(createFuseUpdatesPass());
  }
  buildEmitPipeline(pm, options);
}

void buildEmitPipeline(OpPassManager &pm, const ExecutableOptions &options) {
  ToExecPassOptions exec;
  exec.gpu = options.gpu;
  exec.precision = options.precision;
  pm.addPass(createToExecPass(exec)); // L7a
  pm.addPass(createVerifyExecPass());
  pm.addPass(createEmitExecutablePass()); // L7
}

namespace {

struct DataParallelCliOptions : PassPipelineOptions<DataParallelCliOptions> {
  Option<int64_t> ranks{*this, "ranks", llvm::cl::desc("number of ranks"), llvm::cl::init(1)};
  Option<bool> f32Sums{*this, "f32-sums",
                       llvm::cl::desc("sums of narrower floats over ranks are formed in f32"),
                       llvm::cl::init(true)};
  Option<std::string> topology{*this, "topology",
                               llvm::cl::desc("file of hosts and links whose times decide")};
  Option<int64_t> combineBytes{*this, "combine-bytes", llvm::cl::init(0),
                               llvm::cl::desc("largest bucket of reductions that are one call")};
};

struct ExecutableCliOptions : PassPipelineOptions<ExecutableCliOptions> {
  Option<std::string> gpu{*this, "gpu", llvm::cl::desc("the GPU to compile for, as sm_90")};
  Option<std::string> precision{*this, "precision", llvm::cl::init("highest"),
                                llvm::cl::desc("of products on GPUs: highest, tf32 or bf16")};
  Option<bool> fuseAttention{*this, "fuse-attention",
                             llvm::cl::desc("attention on GPUs without its matrix of scores"),
                             llvm::cl::init(false)};
  Option<bool> convolutions{*this, "convolutions",
                            llvm::cl::desc("convolutions on GPUs by the runtime, with cuDNN"),
                            llvm::cl::init(false)};
  Option<std::string> epilogues{
      *this, "epilogues", llvm::cl::init("off"),
      llvm::cl::desc("of products: off, bias (and relu), gelu (too) or all")};
};

struct ImportCliOptions : PassPipelineOptions<ImportCliOptions> {
  Option<int64_t> stateArgs{*this, "state-args",
                            llvm::cl::desc("number of leading arguments that are state"),
                            llvm::cl::init(-1)};
};

} // namespace

void registerCollPipelines() {
  PassPipelineRegistration<ImportCliOptions>("coll-import", "Front-end text to L0, cleaned up",
                                             [](OpPassManager &pm, const ImportCliOptions &cli) {
                                               ImportOptions options;
                                               options.stateArgs = cli.stateArgs;
                                               buildImportPipeline(pm, options);
                                             });
  PassPipelineRegistration<DataParallelCliOptions>(
      "coll-data-parallel", "L0 to L4 by data parallelism",
      [](OpPassManager &pm, const DataParallelCliOptions &cli) {
        DataParallelOptions options;
        options.ranks = cli.ranks;
        options.partition.f32Sums = cli.f32Sums;
        options.partition.topology = cli.topology;
        options.partition.combineBytes = cli.combineBytes;
        buildDataParallelPipeline(pm, options);
      });
  PassPipelineRegistration<>("coll-rank-programs", "L4 to L6: rank programs, verified",
                             [](OpPassManager &pm) { buildRankProgramPipeline(pm, {}); });
  PassPipelineRegistration<ExecutableCliOptions>(
      "coll-executable", "L6 to L7: kernels, buffers, calls",
      [](OpPassManager &pm, const ExecutableCliOptions &cli) {
        buildExecutablePipeline(
            pm, {cli.gpu, cli.precision, cli.fuseAttention, cli.convolutions, cli.epilogues});
      });
}

} // namespace mlir::coll
