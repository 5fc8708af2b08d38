//===- agreement.cc - whether the ranks of a job run the same step ---------------===//

#include "tools/coll-run/agreement.h"

#include "compiler/code_cache.h"
#include "compiler/error.h"
#include "compiler/untrusted_text.h"
#include "driver/npz.h"
#include "driver/tensors.h"

#include "llvm/ADT/StringExtras.h"

namespace coll::run {
namespace {

std::string digest(llvm::StringRef text) {
  mlir::coll::CodeKey key = mlir::coll::makeCodeKey({text});
  return "digest " + llvm::toHex(llvm::ArrayRef(key).take_front(8), /*LowerCase=*/true);
}

/// The properties in which ranks have to agree, one line each; all ranks have the same number of
/// lines.
class Traits {
public:
  void add(const llvm::Twine &trait) { text_ += (trait + "\n").str(); }

  void addFlag(llvm::StringRef name, llvm::StringRef value) {
    add(value.empty() ? "no --" + name : "--" + name + "=" + value);
  }
  void addNumber(llvm::StringRef name, std::optional<int64_t> value) {
    addFlag(name, value ? llvm::itostr(*value) : "");
  }
  void addSwitch(llvm::StringRef name, bool isOn) { add((isOn ? "--" : "no --") + name); }
  llvm::Error addFile(llvm::StringRef name, llvm::StringRef path) {
    if (path.empty()) {
      add("no --" + name);
      return llvm::Error::success();
    }
    llvm::Expected<NpzFile> file = NpzFile::open(path);
    if (!file)
      return file.takeError();
    add("--" + name + " with " + digest(file->describeContents()));
    return llvm::Error::success();
  }

  const std::string &text() const { return text_; }

private:
  std::string text_;
};

std::string describeMesh(const Options &options) {
  std::string text;
  for (const MeshAxisOption &axis : options.mesh)
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

llvm::Expected<std::string> describeRun(const Options &options, llvm::StringRef step) {
  Traits traits;
  traits.add("coll-run " COLL_VERSION);
  traits.add("a step with " + digest(step));
  traits.addNumber("state-args", options.stateArgs);
  traits.addFlag("mesh", describeMesh(options));
  traits.addFlag("strategy", options.strategy);
  traits.addFlag("device", options.gpu);
  traits.addFlag("matmul-precision", options.precision == "highest" ? "" : options.precision);
  traits.addFlag("fuse-attention", options.fuseAttention ? "on" : "");
  traits.addFlag("convolutions", options.convolutions ? "library" : "");
  traits.addFlag("fuse-epilogues", options.epilogues == "off" ? "" : options.epilogues);
  for (const std::string &shard : options.shards)
    traits.addFlag("shard", shard);
  traits.addFlag("sum-precision", options.narrowSums ? "storage" : "f32");
  traits.addFlag("combine", std::to_string(options.combineBytes.value_or(kCombineBytes)));
  std::unique_ptr<llvm::MemoryBuffer> topology;
  if (!options.topology.empty()) {
    auto read = mlir::coll::readUntrusted(options.topology);
    if (!read)
      return read.takeError();
    topology = std::move(*read);
  }
  traits.add(topology ? "--topology with " + digest(topology->getBuffer()) : "no --topology");
  traits.addNumber("stages", options.stages);
  traits.addNumber("micro-batches", options.microBatches);
  traits.addFlag("schedule", options.schedule);
  for (const std::string &pattern : options.stagePatterns)
    traits.addFlag("stage", pattern);
  for (const std::string &mesh : options.stageMeshes)
    traits.addFlag("stage-mesh", mesh);
  traits.addFlag("root", options.root);
  traits.addFlag("route", options.route);
  traits.addNumber("accumulate", options.accumulate);
  traits.addNumber("staleness", options.staleness);
  traits.addNumber("steps", options.steps);
  traits.add("--epochs=" + llvm::Twine(options.epochs));
  traits.add("--seed=" + llvm::Twine(options.seed));
  // All ranks take part in the steps of a check only where it comes before the training.
  traits.addSwitch("check", options.check && !options.dataset.empty());
  traits.addSwitch("report", !options.report.empty());
  traits.addSwitch("profile", !options.profile.empty());
  std::pair<llvm::StringRef, llvm::StringRef> files[] = {
      {"data", options.data}, {"init", options.init}, {"dataset", options.dataset}};
  for (auto [name, path] : files)
    if (llvm::Error error = traits.addFile(name, path))
      return error;
  return traits.text();
}

/// Empty if all agree.
std::string findDifference(llvm::ArrayRef<std::string> texts) {
  for (size_t rank = 1; rank < texts.size(); ++rank) {
    llvm::SmallVector<llvm::StringRef> first, other;
    llvm::StringRef(texts[0]).split(first, '\n');
    llvm::StringRef(texts[rank]).split(other, '\n');
    for (size_t i = 0; i < std::min(first.size(), other.size()); ++i)
      if (first[i] != other[i])
        return ("the ranks do not run the same: rank 0 has " + first[i] + ", rank " +
                llvm::Twine(rank) + " has " + other[i])
            .str();
  }
  return "";
}

} // namespace

llvm::Error checkAgreement(rt::Executor &executor, const Options &options, llvm::StringRef step) {
  llvm::Expected<std::string> mine = describeRun(options, step);
  if (!mine)
    return mine.takeError();
  auto texts = toExpected(executor.gather(*mine));
  if (!texts)
    return texts.takeError();
  auto verdict = toExpected(executor.broadcast(findDifference(*texts)));
  if (!verdict)
    return verdict.takeError();
  return verdict->empty() ? llvm::Error::success() : makeError(*verdict);
}

} // namespace coll::run
