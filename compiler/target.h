//===- target.h - what a step is compiled for ---------------------------*- C++ -*-===//

#ifndef COLL_COMPILER_TARGET_H
#define COLL_COMPILER_TARGET_H

#include "passes/export/roundings.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coll::run {

struct MeshAxisOption {
  std::string name;
  int64_t size = 1;
};

/// The most ranks in one process.
inline constexpr int64_t kMaxRanks = 1024;
/// The most steps that gradients may be applied late.
inline constexpr int64_t kMaxStaleness = 64;

/// The largest bucket of reductions that are one call, unless the user says otherwise: a call of
/// this size takes many times its latency.
inline constexpr int64_t kCombineBytes = 4 << 20;

/// Reads "dp=4" or "dp=2,tp=2". An error says what is wrong with it, without the text itself.
llvm::Expected<std::vector<MeshAxisOption>> parseMesh(llvm::StringRef text);

int64_t countRanks(llvm::ArrayRef<MeshAxisOption> mesh);

/// Reads "cpu", "gpu" or "gpu:sm_90"; the result is the GPU, as "sm_90", or empty. Errors as above.
llvm::Expected<std::string> parseDevice(llvm::StringRef text);

/// Reads "highest", "tf32" or "bf16". Errors as above.
llvm::Expected<std::string> parsePrecision(llvm::StringRef text);

/// Reads "off", "bias", "gelu", "all" or "auto", which is gelu on GPUs and off on CPUs, where
/// kernels compute as much at once. Errors as above.
llvm::Expected<std::string> parseEpilogues(llvm::StringRef text, bool onGpu);

/// Reads "16GiB", "2.5 GB" or a number of bytes, from `least` on. Errors as above.
llvm::Expected<int64_t> parseBytes(llvm::StringRef text, double least);

/// What a step is compiled for: the ranks and options that the user asked for, or one device.
struct Target {
  bool isSingleDevice = false;
  std::optional<int64_t> ranks;
  std::vector<MeshAxisOption> mesh;
  std::string strategy; // "none", "data-parallel", "auto", or what coll-insert-strategy takes
  std::vector<std::string> shards; // patterns over argument names, each with a sharding
  std::string topology;            // a file (plan/topology.h) whose links decide; empty: bytes do
  bool narrowSums = false; // contributions to sums travel in the type that they are stored in
  std::optional<int64_t> combineBytes; // as PartitionOptions has it; none given: kCombineBytes
  int64_t memoryLimit = 0;             // bytes of a rank, for the strategy "auto"; 0: none
  int64_t stages = 0;                  // of a pipeline; 0: none
  int64_t microBatches = 1;
  std::string schedule = "1f1b"; // a name, or the path of a table
  std::vector<std::string> stagePatterns;
  std::vector<std::string> stageMeshes; // of single stages, as "1: dp=4"
  std::string root;                     // how roots of parameters are chosen; empty: none have one
  std::string route = "direct";         // between ranks and roots
  int64_t accumulate = 1;               // micro-batches that each rank's batch is cut into
  int64_t staleness = 0;                // steps that gradients are applied late
  bool verify = true;
  bool isShared = false;             // the code is for a shared object (shared_object.h)
  std::string gpu;                   // as "sm_90"; empty: CPUs
  std::string precision = "highest"; // what products on GPUs may round f32 factors to
  bool fuseAttention = false;        // on GPUs; the runtime then needs its GPU kernels
  bool convolutions = false;     // on GPUs by cuDNN; the runtime then needs its GPU kernels, too
  std::string epilogues = "off"; // that products compute: off, bias, gelu or all
  // Rounding errors of the single-device step, disturbed to measure how much they matter.
  mlir::coll::Roundings roundings = mlir::coll::Roundings::Exact;
  uint32_t roundingSeed = 0;
};

/// An error if roots, micro-batches, late gradients and stages contradict each other, or would
/// silently do nothing.
llvm::Error checkUpdates(const Target &target);

} // namespace coll::run

#endif // COLL_COMPILER_TARGET_H
