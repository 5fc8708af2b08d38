//===- pipelines.h - the pipelines of passes --------------------------*- C++ -*-===//

#ifndef COLL_PASSES_PIPELINES_H
#define COLL_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace mlir::coll {

/// Front-end text to L0.
struct ImportOptions {
  int64_t stateArgs = -1;
  std::string statePrefix;
};
void buildImportPipeline(OpPassManager &pm, const ImportOptions &options);

/// Options of the partition pipeline, for the collectives that it inserts.
struct PartitionOptions {
  bool f32Sums = true;      // floats narrower than f32 are summed over ranks in f32
  bool narrowSums = false;  // contributions that are stored in a narrower type travel in it
  int64_t combineBytes = 0; // largest bucket of reductions that are one call; 0: each is one
  int64_t microBatches = 1; // that each rank's batch is cut into
  bool isStaged = false;    // the batch is split over time, and the step is cut into stages behind
  std::string topology;     // file of hosts and links (plan/topology.h); empty: bytes decide
  bool explain = true;      // reshards and collectives say why they are there
};

/// Where parameters are updated: on every rank, or each at its root (see coll-form-root-update).
struct RootOptions {
  std::string root; // hash, balanced or shard; empty: on every rank
  std::string route = "direct";
  int64_t staleness = 0; // steps that gradients are applied late (see coll-delay-gradients)
};

/// L0 to L0: updates where `options` want them, and when.
void buildRootPipeline(OpPassManager &pm, const RootOptions &options);

/// L0 to L4: annotate, then the partition pipeline.
struct DataParallelOptions {
  int64_t ranks = 1;
  std::string axis = "dp";
  std::string mesh = "mesh";
  RootOptions roots;
  PartitionOptions partition;
};
void buildDataParallelPipeline(OpPassManager &pm, const DataParallelOptions &options);

/// L0 to L4: annotate by strategies and patterns (see coll-insert-strategy), then the partition
/// pipeline.
struct StrategyOptions {
  std::string mesh;
  std::string strategy;
  std::vector<std::string> shards;
  RootOptions roots;
  PartitionOptions partition;
};
void buildStrategyPipeline(OpPassManager &pm, const StrategyOptions &options);

/// L0 to L6: annotate by strategies, cut the batch into micro-batches, partition, and cut the step
/// into pipeline stages (see coll-split-stages). The programs still have to be verified.
struct StageOptions {
  int64_t stages = 0; // 0: no pipeline
  int64_t microBatches = 1;
  std::string schedule = "1f1b";
  std::vector<std::string> patterns;
  std::vector<std::string> meshes; // of single stages, as "1: dp=4"
};
void buildStagePipeline(OpPassManager &pm, const StrategyOptions &options,
                        const StageOptions &stages);

/// L1 to L4: propagate, reshard, partition.
void buildPartitionPipeline(OpPassManager &pm, const PartitionOptions &options = {});

/// Inlines calls, unless they are recursive, and drops private functions that nothing uses.
void buildInlinePipeline(OpPassManager &pm);

/// As buildStrategyPipeline, for a step that is inlined already and whose result is only costed,
/// not compiled.
void buildCostingPipeline(OpPassManager &pm, const StrategyOptions &options);

/// L4 to L6: rank programs, verified.
struct RankProgramOptions {
  int64_t ranks = 0;
  bool verify = true;
};
void buildRankProgramPipeline(OpPassManager &pm, const RankProgramOptions &options);

/// L6 to L7: kernels, buffers, calls. Takes L0 as well, for one rank.
struct ExecutableOptions {
  std::string gpu;                   // as sm_90; empty: for CPUs
  std::string precision = "highest"; // of products on GPUs: highest, tf32, bf16
  bool fuseAttention = false;        // on GPUs
  bool convolutions = false;         // on GPUs: by the runtime, not packed into products
  std::string epilogues = "off";     // of products: off, bias (and relu), gelu (too), all
};
void buildExecutablePipeline(OpPassManager &pm, const ExecutableOptions &options = {});

/// The last part of it: kernel form to the exec level, verified, to L7.
void buildEmitPipeline(OpPassManager &pm, const ExecutableOptions &options = {});

/// Makes the pipelines known to coll-opt: coll-import, coll-data-parallel,
/// coll-rank-programs, coll-executable.
void registerCollPipelines();

} // namespace mlir::coll

#endif // COLL_PASSES_PIPELINES_H
