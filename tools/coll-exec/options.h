// options.h - the command line of coll-exec.

#ifndef COLL_TOOLS_COLL_EXEC_OPTIONS_H
#define COLL_TOOLS_COLL_EXEC_OPTIONS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace coll::exec {

struct Options {
  std::string step;
  std::string compare; // empty: nothing
  std::string profile; // the file of the timeline; empty: none
  std::string backend; // empty: auto for several ranks, threads for one
  int64_t steps = 10;
  uint64_t seed = 0;
  std::optional<double> rtol;
  bool graphs = true;
};

inline constexpr const char *kUsage =
    "usage: coll-exec STEP.so [options]\n\n"
    "Runs a step that coll-compile wrote, all ranks in this process, with made-up state and\n"
    "batches, which are those of coll-run. Needs neither a compiler nor MLIR. Under a launcher,\n"
    "and with COLL_RANK and its like, --backend=net makes each process a rank.\n\n"
    "  --steps=N        steps to run (10)\n"
    "  --backend=NAME   threads, net, nccl, direct or auto (several ranks: auto)\n"
    "  --no-graph       no CUDA graphs on GPUs\n"
    "  --profile=FILE   writes the timeline of all ranks, for https://ui.perfetto.dev and "
    "coll-trace\n"
    "  --compare=OTHER  runs this compiled form of the same step, too, and compares losses and\n"
    "                   state: another device, other ranks\n"
    "  --rtol=X         largest difference in proportion to the tensor's largest value, instead "
    "of\n"
    "                   1e-4, 1e-3 for f16, 1e-2 for bf16\n"
    "  --seed=N         of the made-up inputs (0)\n"
    "  --version, --help\n";

// The error says what is wrong with which argument.
rt::Result<Options> parseOptions(int argc, char **argv);

} // namespace coll::exec

#endif // COLL_TOOLS_COLL_EXEC_OPTIONS_H
