//===- options.h - the command line of coll-run ----------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_OPTIONS_H
#define COLL_TOOLS_COLL_RUN_OPTIONS_H

#include "compiler/target.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coll::run {

struct Options {
  std::string input;
  std::string commandLine; // as a shell would take it

  std::optional<int64_t> ranks; // the mesh's size where only --mesh was given
  std::vector<MeshAxisOption> mesh;
  std::string strategy; // "data-parallel", "none", strategies, or empty: by the number of ranks
  std::vector<std::string> shards; // patterns over argument names, each with a sharding
  std::string topology;            // a file whose links decide and are predicted for
  bool narrowSums = false;         // contributions to sums travel in the type that is stored
  int64_t stages = 0;              // of a pipeline; 0: none
  int64_t microBatches = 1;
  std::string schedule;
  std::vector<std::string> stagePatterns;
  std::vector<std::string> stageMeshes; // of single stages, as "1: dp=4"
  std::string root;                     // of each parameter: "hash", "balanced", "shard", or empty
  std::string route = "direct";         // to the roots and back, or "ring"
  int64_t accumulate = 1;               // micro-batches that each rank's batch is cut into
  int64_t staleness = 0;                // steps that gradients are applied late
  std::optional<int64_t> stateArgs;
  std::string backend;
  bool processes = false; // one per rank, on this machine
  int64_t timeoutUs = 0;  // 0: COLL_TIMEOUT_US decides
  std::string affinity;   // empty: COLL_AFFINITY decides
  bool graphs = true;
  bool verify = true;
  std::string gpu; // as "sm_90"; empty: the step runs on CPUs
  std::string precision = "highest";
  bool fuseAttention = false; // on GPUs
  std::string cacheDir;       // of the compile cache; empty: none
  uint64_t cacheBytes = 0;

  std::string data;
  std::string init;
  std::optional<int64_t> steps;
  std::string dataset;
  std::string eval;
  std::optional<int64_t> batchSize;
  int64_t epochs = 1;
  uint64_t seed = 0;

  bool check = false;
  std::string checkGpu; // what --check runs on, as `gpu`
  std::string reference;
  std::optional<double> rtol;
  std::optional<double> atol;
  bool rms = false;
  bool strict = false; // noise excuses nothing
  std::string against; // the step that --check runs on one device, where it is not `input`
  std::string loss;    // a result's name or number; empty: by its name, or the first scalar

  bool planOnly = false;
  bool explain = false;
  std::string explainFile;
  std::optional<int64_t> memoryLimit; // bytes of a rank

  std::string save;
  std::string report;
  std::string profile;
  std::string dumpStages;
  bool print = false;
  bool quiet = false;
  bool verbose = false;
};

/// Reads the command line and checks everything that can be checked without
/// opening a file. `--help` and `--version` print and exit.
llvm::Expected<Options> parseOptions(int argc, char **argv);

/// Takes the options out of LLVM's registry, in a process that is another tool. Instead of
/// parseOptions().
void removeOptions();

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_OPTIONS_H
