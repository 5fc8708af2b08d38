//===- shard_pattern.cc ----------------------------------------------------------===//

#include "passes/transform/strategy/shard_pattern.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

namespace mlir::coll {

namespace {

constexpr size_t kMaxNamed = 3;

std::string listAxes(MeshOp mesh) {
  std::string text;
  for (Attribute axis : mesh.getAxisNames())
    text += (text.empty() ? "'" : ", '") + cast<StringAttr>(axis).getValue().str() + "'";
  return text;
}

class ShardPattern {
public:
  ShardPattern(StringRef text, StepSharding &sharding) : text_(text), sharding_(sharding) {}

  LogicalResult run() {
    if (failed(parse()))
      return failure();
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(path_);
    if (!glob)
      return error() << "is not a valid pattern: " << llvm::toString(glob.takeError());
    bool matchesAny = false;
    for (unsigned index = 0; index < sharding_.size(); ++index) {
      if (!sharding_.isTensor(index) || !matchesPath(*glob, sharding_.getPath(index)))
        continue;
      matchesAny = true;
      if (failed(apply(index)))
        return failure();
    }
    if (!matchesAny)
      return error() << "matches no argument; the nearest are " << nearest();
    return success();
  }

private:
  InFlightDiagnostic error() {
    return sharding_.getStep().emitError() << "shard '" << text_ << "' ";
  }

  /// `path: [a, b+c, -]`.
  LogicalResult parse() {
    auto [path, dims] = text_.rsplit(':');
    path_ = path.trim().str();
    dims = dims.trim();
    if (path_.empty() || !dims.consume_front("[") || !dims.consume_back("]"))
      return error() << "is not of the form 'pattern: [axis, -, axis+axis]'";
    SmallVector<StringRef> words;
    if (!dims.trim().empty())
      dims.split(words, ',');
    for (StringRef word : words)
      if (failed(parseDim(word.trim())))
        return failure();
    return success();
  }

  LogicalResult parseDim(StringRef word) {
    SmallVector<StringAttr> &axes = dims_.emplace_back();
    if (word == "-")
      return success();
    SmallVector<StringRef> names;
    word.split(names, '+');
    MeshOp mesh = sharding_.getMesh();
    for (StringRef name : names) {
      auto axis = StringAttr::get(mesh.getContext(), name.trim());
      if (!mesh.getAxisSize(axis.getValue()))
        return error() << "names axis '" << axis.getValue() << "', but the mesh has "
                       << listAxes(mesh);
      if (llvm::any_of(dims_,
                       [&](ArrayRef<StringAttr> dim) { return llvm::is_contained(dim, axis); }))
        return error() << "names axis '" << axis.getValue() << "' twice";
      axes.push_back(axis);
    }
    return success();
  }

  LogicalResult apply(unsigned index) {
    func::FuncOp step = sharding_.getStep();
    Location loc = step.getArgument(index).getLoc();
    RankedTensorType type = sharding_.getType(index);
    if (static_cast<int64_t>(dims_.size()) != type.getRank())
      return emitError(loc) << "shard '" << text_ << "' has " << dims_.size()
                            << " dimensions, but '" << sharding_.getPath(index) << "' is " << type;
    if (step.getArgAttr(index, kShardingAttr))
      return emitError(loc) << "shard '" << text_ << "' matches '" << sharding_.getPath(index)
                            << "', which carries a sharding already";
    sharding_.fix(index, dims_);
    return success();
  }

  std::string nearest() {
    SmallVector<std::pair<unsigned, std::string>> paths;
    for (unsigned index = 0; index < sharding_.size(); ++index) {
      std::string path = sharding_.getPath(index);
      paths.push_back({StringRef(path).edit_distance(path_), path});
    }
    llvm::stable_sort(paths, [](auto &a, auto &b) { return a.first < b.first; });
    std::string text;
    for (auto &[distance, path] : ArrayRef(paths).take_front(kMaxNamed))
      text += (text.empty() ? "'" : ", '") + path + "'";
    return text.empty() ? "none: the step has no arguments" : text;
  }

  StringRef text_;
  StepSharding &sharding_;
  std::string path_;
  SmallVector<SmallVector<StringAttr>> dims_;
};

} // namespace

bool matchesShardPattern(StringRef pattern, StringRef path) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (!glob) {
    llvm::consumeError(glob.takeError());
    return false;
  }
  return matchesPath(*glob, path);
}

bool matchesPath(const llvm::GlobPattern &glob, StringRef path) {
  for (;;) {
    if (glob.match(path))
      return true;
    size_t slash = path.find('/');
    if (slash == StringRef::npos)
      return false;
    path = path.drop_front(slash + 1);
  }
}

LogicalResult applyShardPattern(StringRef text, StepSharding &sharding) {
  return ShardPattern(text, sharding).run();
}

} // namespace mlir::coll
