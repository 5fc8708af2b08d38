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

/// The options of the command line. The Target is what the step is compiled for: `ranks` is the
/// mesh's size if only --mesh was given, and the strategy is empty if the number of ranks decides.
struct Options : Target {
  std::string input;
  std::string commandLine; // as a shell would take it

  std::optional<int64_t> stateArgs;
  std::string backend;
  bool processes = false; // one per rank, on this machine
  int64_t timeoutUs = 0;  // 0: COLL_TIMEOUT_US decides
  std::string affinity;   // empty: COLL_AFFINITY decides
  bool graphs = true;
  std::string cacheDir; // of the compile cache; empty: none
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
  int64_t timePlans = 0; // plans of --strategy=auto that are run; 0: none

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

/// An error if flags contradict each other or would silently do nothing.
llvm::Error checkCombinations(const Options &options);

/// An error if a file that is written would replace one that is read or written besides.
llvm::Error checkOutputs(const Options &options);

/// Takes the options out of LLVM's registry, in a process that is another tool. Instead of
/// parseOptions().
void removeOptions();

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_OPTIONS_H
