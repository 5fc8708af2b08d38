//===- options_check.cc - options that do not go together ------------------------===//

#include "compiler/error.h"
#include "driver/place.h"
#include "tools/coll-run/options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace coll::run {

static bool isSamePath(llvm::StringRef a, llvm::StringRef b) {
  llvm::SmallString<256> paths[] = {a, b};
  for (llvm::SmallString<256> &path : paths) {
    llvm::sys::fs::make_absolute(path);
    llvm::sys::path::remove_dots(path);
  }
  return paths[0] == paths[1] || llvm::sys::fs::equivalent(a, b);
}

/// Only --save may go where --init came from.
llvm::Error checkOutputs(const Options &options) {
  struct Path {
    llvm::StringRef flag, path;
  };
  Path outputs[] = {{"--save", options.save},
                    {"--report", options.report},
                    {"--profile", options.profile},
                    {"--explain", options.explainFile}};
  Path others[] = {{"the step", options.input},        {"--data", options.data},
                   {"--dataset", options.dataset},     {"--eval", options.eval},
                   {"--reference", options.reference}, {"--report", options.report},
                   {"--profile", options.profile},     {"--topology", options.topology},
                   {"--explain", options.explainFile}};
  for (const Path &output : outputs) {
    if (output.path == "-")
      return makeError(output.flag + "=-: a file is needed, not the standard output");
    for (const Path &other : others)
      if (!output.path.empty() && output.flag != other.flag && isSamePath(output.path, other.path))
        return makeError(output.flag + "=" + output.path + " would overwrite " + other.flag);
  }
  return llvm::Error::success();
}

llvm::Error checkCombinations(const Options &options) {
  if (options.input.empty())
    return makeError("no input file; try 'coll-run STEP.mlir --ranks=4', or --help");
  if (options.backend == "net" && !llvm::is_contained(rt::backendNames(), options.backend))
    return makeError("--backend=net: left out of this build; './dev build' makes the whole");
  if (!llvm::is_contained(rt::backendNames(), options.backend) &&
      !llvm::StringRef(options.backend).starts_with("plugin:"))
    return makeError("--backend=" + options.backend + ": expected one of " +
                     llvm::join(rt::backendNames(), ", ") + ", plugin:PATH");
  if (options.backend == "net" && options.ranks.value_or(1) > kMaxNetRanks)
    return makeError("--ranks=" + llvm::Twine(*options.ranks) + ": backend net connects at most " +
                     llvm::Twine(kMaxNetRanks) + " ranks");
  if (options.processes && options.backend != "net")
    return makeError("--processes needs --backend=net");
  if (options.processes && !options.ranks)
    return makeError("--processes needs --ranks or --mesh: they start before the step is read");
  if (options.processes && options.input == "-")
    return makeError("--processes needs a file: its processes cannot share the standard input");
  const int64_t meshSize = countRanks(options.mesh);
  if (!options.mesh.empty() && options.ranks != meshSize)
    return makeError("--ranks=" + llvm::Twine(*options.ranks) + ", but --mesh has " +
                     counted(meshSize, "rank"));
  if (options.strategy == "none" && options.ranks.value_or(1) > 1)
    return makeError("--strategy=none takes one rank, not " + llvm::Twine(*options.ranks));
  bool isPlain = options.strategy == "none" || options.strategy == "data-parallel";
  if (isPlain && !options.shards.empty())
    return makeError("--strategy=" + options.strategy + " and --shard exclude each other");
  if (!llvm::is_contained({"", "hash", "balanced", "shard"}, options.root))
    return makeError("--root=" + options.root + ": expected hash, balanced or shard");
  if (!llvm::is_contained({"direct", "ring"}, options.route))
    return makeError("--route=" + options.route + ": expected direct or ring");
  if (llvm::Error error = checkUpdates(options))
    return error;
  if (options.strategy == "data-parallel" && options.mesh.size() > 1)
    return makeError("--strategy=data-parallel takes a mesh with one axis");
  if (options.strategy == "auto" && !options.ranks)
    return makeError("--strategy=auto needs --ranks or --mesh");
  if (options.timePlans > 0 && options.strategy != "auto")
    return makeError("--time-plans needs --strategy=auto");
  if (options.timePlans > 0 && (options.planOnly || options.backend != "threads"))
    return makeError("--time-plans runs plans on threads, so it takes no --plan-only and no other "
                     "--backend");
  if (options.planOnly && options.processes)
    return makeError("--plan-only runs nothing, so it takes no --processes");
  bool isChecked = options.check || !options.reference.empty();
  if ((options.rtol || options.atol || options.rms || options.strict) && !isChecked)
    return makeError("--rtol, --atol, --rms and --strict need --check or --reference");
  if (!options.against.empty() && !isChecked)
    return makeError("--against needs --check or --reference");
  if (options.dataset.empty()) {
    if (!options.eval.empty() || options.batchSize)
      return makeError("--eval, --batch-size and --epochs need --dataset");
    return llvm::Error::success();
  }
  if (options.steps)
    return makeError("--steps and --dataset exclude each other; use --epochs");
  if (!options.reference.empty())
    return makeError("--reference and --dataset exclude each other");
  return llvm::Error::success();
}

} // namespace coll::run
