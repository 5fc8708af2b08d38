// Meshes as users write them.

#include "compiler/target.h"

#include "compiler/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace coll::run {

// Its code runs on all later GPUs as well.
static constexpr llvm::StringLiteral kOldestGpu = "sm_80";

llvm::Expected<std::vector<MeshAxisOption>> parseMesh(llvm::StringRef text) {
  std::vector<MeshAxisOption> axes;
  llvm::StringSet<> names;
  int64_t total = 1;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    auto [name, size] = part.trim().split('=');
    MeshAxisOption axis;
    axis.name = name.trim().str();
    if (axis.name.empty() || size.trim().getAsInteger(10, axis.size))
      return makeError("expected AXIS=SIZE, …, as in dp=4");
    if (!names.insert(axis.name).second)
      return makeError("axis '" + axis.name + "' occurs twice");
    if (axis.size < 1 || axis.size > kMaxRanks || (total *= axis.size) > kMaxRanks)
      return makeError("a mesh has from 1 to " + llvm::Twine(kMaxRanks) + " ranks");
    axes.push_back(std::move(axis));
  }
  return axes;
}

llvm::Expected<std::string> parseDevice(llvm::StringRef text) {
  if (text == "cpu")
    return std::string();
  if (text == "gpu")
    return kOldestGpu.str();
  llvm::StringRef chip = text;
  if (chip.consume_front("gpu:") && chip.starts_with("sm_") && chip.size() > 3)
    return chip.str();
  return makeError("expected cpu, gpu, or a kind of GPU as gpu:sm_90");
}

llvm::Expected<std::string> parsePrecision(llvm::StringRef text) {
  if (text == "highest" || text == "tf32" || text == "bf16")
    return text.str();
  return makeError("expected highest, tf32 or bf16");
}

llvm::Expected<std::string> parseEpilogues(llvm::StringRef text, bool onGpu) {
  if (text == "auto")
    return onGpu ? "gelu" : "off";
  if (text == "off" || text == "bias" || text == "gelu" || text == "all")
    return text.str();
  return makeError("expected auto, off, bias, gelu or all");
}

llvm::Expected<int64_t> parseBytes(llvm::StringRef text, double least) {
  constexpr std::pair<llvm::StringLiteral, double> kUnits[] = {{"TiB", 1099511627776.0},
                                                               {"GiB", 1073741824.0},
                                                               {"MiB", 1048576.0},
                                                               {"KiB", 1024.0},
                                                               {"TB", 1e12},
                                                               {"GB", 1e9},
                                                               {"MB", 1e6},
                                                               {"KB", 1e3},
                                                               {"B", 1}};
  text = text.trim();
  double unit = 1, number = 0;
  for (auto [name, bytes] : kUnits)
    if (text.consume_back_insensitive(name)) {
      unit = bytes;
      break;
    }
  if (text.trim().getAsDouble(number) || !(number * unit >= least && number * unit <= 1e18))
    return makeError("expected an amount as 16GiB, 500MB or a number of bytes");
  return static_cast<int64_t>(number * unit);
}

int64_t countRanks(llvm::ArrayRef<MeshAxisOption> mesh) {
  int64_t ranks = 1;
  for (const MeshAxisOption &axis : mesh)
    ranks *= axis.size;
  return ranks;
}

static llvm::Error checkStages(const Target &target) {
  if (target.combineBytes)
    return makeError("--combine and --stages exclude each other: a pipeline makes a call of each "
                     "reduction");
  if (target.strategy == "none" || target.strategy == "auto")
    return makeError("--stages and --strategy=" + target.strategy + " exclude each other");
  if (target.accumulate > 1)
    return makeError("--stages cuts the batch into --micro-batches, whose gradients add up: leave "
                     "out --accumulate, and give --micro-batches=" +
                     llvm::Twine(target.accumulate));
  if (!target.root.empty() && !target.stageMeshes.empty())
    return makeError("--root and --stage-mesh exclude each other: a stage's roots are among its "
                     "replicas along the axes of --mesh; leave one of them out");
  return llvm::Error::success();
}

llvm::Error checkUpdates(const Target &target) {
  if (target.route != "direct" && target.root.empty())
    return makeError("--route needs --root");
  if (target.stages > 0)
    return checkStages(target);
  const bool hasUpdates = !target.root.empty() || target.accumulate > 1 || target.staleness > 0;
  if (hasUpdates && target.strategy == "none")
    return makeError("--strategy=none excludes --root, --accumulate and --staleness");
  if (hasUpdates && target.strategy == "auto")
    return makeError("--strategy=auto chooses among strategies without roots and micro-batches: "
                     "leave out --root, --accumulate and --staleness, or name a strategy");
  if (target.accumulate > 1 && !target.topology.empty())
    return makeError("--accumulate and --topology exclude each other: a topology has no "
                     "micro-batches");
  return llvm::Error::success();
}

} // namespace coll::run
