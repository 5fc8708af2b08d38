//===- stage_cut.cc --------------------------------------------------------------===//

#include "passes/transform/stages/stage_cut.h"

#include "dialect/notes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/op_work.h"
#include "passes/transform/stages/stage_scopes.h"
#include "passes/transform/strategy/shard_pattern.h"
#include "passes/transform/strategy/step_sharding.h"
#include "llvm/Support/GlobPattern.h"

#include <limits>

using namespace mlir;
using namespace mlir::coll;

/// Longer forward passes are cut only where a parameter is read.
static constexpr size_t kMaxBoundaries = 3000;
/// The cost of a cut through the usual number of bytes, as a share of the cost of a chunk.
static constexpr double kCrossingWeight = 0.05;

double mlir::coll::getValueBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return 8;
  return double(tensor.getNumElements()) * ((tensor.getElementTypeBitWidth() + 7) / 8);
}

double mlir::coll::getWorkUs(Operation *op, const ::coll::plan::CostModel &model) {
  return model.costOfWork(getWork(op));
}

/// State arguments that `value` follows from, other than by way of the batch.
static void findParameters(const StepParts &parts, Value value, SetVector<Value> &found,
                           DenseSet<Value> &seen) {
  if (parts.isVarying(value) || parts.isFree(value) || !seen.insert(value).second)
    return;
  if (isa<BlockArgument>(value)) {
    found.insert(value);
    return;
  }
  for (Value read : getReadValues(value.getDefiningOp()))
    findParameters(parts, read, found, seen);
}

static SmallVector<Value> getParameters(const StepParts &parts, Operation *op) {
  SetVector<Value> found;
  DenseSet<Value> seen;
  for (Value value : getReadValues(op))
    findParameters(parts, value, found, seen);
  return found.takeVector();
}

namespace {

/// The forward pass as a line of operations; boundary i lies before operation i.
class Line {
public:
  Line(const StepParts &parts, const ::coll::plan::CostModel &model)
      : ops_(parts.getForward()), work_(ops_.size() + 1), readers_(ops_.size() + 1),
        crossing_(ops_.size() + 1) {
    for (auto [i, op] : llvm::enumerate(ops_)) {
      SmallVector<Value> parameters = getParameters(parts, op);
      place_[op] = i;
      for (Value parameter : parameters)
        lastReader_[parameter] = i;
      work_[i + 1] = getWorkUs(op, model);
      readers_[i + 1] = readers_[i] + !parameters.empty();
    }
    addBackward(parts, model);
    for (size_t i = 1; i < work_.size(); ++i)
      work_[i] += work_[i - 1];
    findCrossing();
  }

  size_t size() const { return ops_.size(); }
  size_t numReaders() const { return readers_.back(); }
  bool hasReader(size_t begin, size_t end) const { return readers_[end] > readers_[begin]; }
  bool isReader(size_t i) const { return hasReader(i, i + 1); }

  /// The cost of a chunk of the operations begin … end - 1, including that of its first boundary.
  double cost(size_t begin, size_t end, int numChunks) const {
    double share = (work_[end] - work_[begin]) * numChunks / std::max(work_.back(), 1.0);
    return share * share + kCrossingWeight * crossing_[begin] / std::max(usualCrossing(), 1.0);
  }

private:
  /// A backward operation counts at the latest forward operation whose results it reads, which is
  /// where StagePlacement places most of them.
  void addBackward(const StepParts &parts, const ::coll::plan::CostModel &model) {
    for (Operation &op : parts.getStep().getBody().front().without_terminator()) {
      if (!parts.isVarying(&op) || parts.isFree(&op) || parts.isForward(&op))
        continue;
      size_t latest = ops_.size() - 1;
      std::optional<size_t> with;
      for (Value parameter : getParameters(parts, &op))
        if (auto found = lastReader_.find(parameter); found != lastReader_.end())
          with = std::max(with.value_or(0), found->second);
      for (Value value : getReadValues(&op)) {
        auto found = place_.find(value.getDefiningOp());
        if (found == place_.end())
          continue;
        if (parts.isForward(found->first))
          with = std::max(with.value_or(0), found->second);
        else
          latest = std::min(latest, found->second);
      }
      place_[&op] = std::min(with.value_or(latest), latest);
      work_[place_[&op] + 1] += getWorkUs(&op, model);
    }
  }

  void findCrossing() {
    for (auto [i, op] : llvm::enumerate(ops_))
      for (Value result : op->getResults()) {
        size_t last = i;
        for (Operation *nested : result.getUsers()) {
          Operation *user = op->getBlock()->findAncestorOpInBlock(*nested);
          auto found = place_.find(user);
          if (found != place_.end() && ops_[found->second] == user)
            last = std::max(last, found->second);
        }
        for (size_t boundary = i + 1; boundary <= last; ++boundary)
          crossing_[boundary] += getValueBytes(result.getType());
      }
  }

  double usualCrossing() const {
    if (!usual_) {
      double sum = 0;
      for (double bytes : crossing_)
        sum += bytes;
      usual_ = sum / crossing_.size();
    }
    return *usual_;
  }

  ArrayRef<Operation *> ops_;
  // Forward operations, and for those of the backward pass the one that they run with.
  DenseMap<Operation *, size_t> place_;
  DenseMap<Value, size_t> lastReader_; // of parameters
  std::vector<double> work_;           // of all operations before, with their backward passes
  std::vector<size_t> readers_;
  std::vector<double> crossing_;
  mutable std::optional<double> usual_;
};

} // namespace

/// The boundaries of the cheapest cut, by dynamic programming over chunks and boundaries; empty
/// where there is none.
static std::vector<size_t> chooseCut(const Line &line, int numChunks) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<size_t> places = {0};
  for (size_t i = 1; i < line.size(); ++i)
    if (line.size() <= kMaxBoundaries || line.isReader(i))
      places.push_back(i);
  places.push_back(line.size());
  std::vector<double> best(places.size(), kInfinity);
  best[0] = 0;
  std::vector<std::vector<size_t>> from(numChunks, std::vector<size_t>(places.size()));
  for (int chunk = 0; chunk < numChunks; ++chunk) {
    std::vector<double> next(places.size(), kInfinity);
    for (size_t end = 1; end < places.size(); ++end)
      for (size_t begin = 0; begin < end; ++begin) {
        if (best[begin] == kInfinity || !line.hasReader(places[begin], places[end]))
          continue;
        double cost = best[begin] + line.cost(places[begin], places[end], numChunks);
        if (cost < next[end]) {
          next[end] = cost;
          from[chunk][end] = begin;
        }
      }
    best = std::move(next);
  }
  std::vector<size_t> cut;
  if (best.back() == kInfinity)
    return cut;
  size_t at = places.size() - 1;
  for (int chunk = numChunks - 1; chunk >= 0; --chunk) {
    at = from[chunk][at];
    cut.insert(cut.begin(), places[at]);
  }
  return cut;
}

/// Says of the first loop over parameters that it is one operation, whatever it repeats.
static void noteLoop(InFlightDiagnostic &error, const StepParts &parts) {
  for (Operation *op : parts.getForward()) {
    if (!isa<scf::ForOp, scf::WhileOp>(op))
      continue;
    for (Value parameter : getParameters(parts, op)) {
      const unsigned index = cast<BlockArgument>(parameter).getArgNumber();
      error.attachNote(op->getLoc())
          << "this loop over the layers that are stacked in '"
          << getArgumentPath(parts.getStep(), index)
          << "' is one of them, and stays on one stage; call the layers one after the other, each "
             "with parameters of its own, instead of a scan";
      return;
    }
  }
}

static LogicalResult refuseToCut(const StepParts &parts, const ::coll::plan::Schedule &schedule,
                                 size_t numReaders) {
  const int chunks = schedule.numChunks, stages = schedule.numRanks();
  InFlightDiagnostic error = parts.getForward().back()->emitError("cannot be cut into ") << chunks;
  if (chunks == stages)
    error << " stages";
  else
    error << " chunks, " << chunks / stages << " for each of " << stages << " stages";
  error << ": only " << numReaders << (numReaders == 1 ? " operation" : " operations")
        << " of its forward pass " << (numReaders == 1 ? "reads" : "read")
        << " parameters; use fewer stages";
  if (chunks != stages)
    error << ", or a schedule with fewer chunks a stage, as 1f1b";
  noteLoop(error, parts);
  return error;
}

FailureOr<ChunkOf> mlir::coll::cutByCost(const StepParts &parts,
                                         const ::coll::plan::Schedule &schedule,
                                         const ::coll::plan::CostModel &model) {
  const int numChunks = schedule.numChunks;
  Line line(parts, model);
  std::vector<size_t> cut = chooseCut(line, numChunks);
  if (cut.empty())
    return refuseToCut(parts, schedule, line.numReaders());
  ChunkOf chunkOf;
  int chunk = -1;
  for (auto [i, op] : llvm::enumerate(parts.getForward())) {
    if (chunk + 1 < numChunks && cut[chunk + 1] == i)
      ++chunk;
    chunkOf[op] = chunk;
  }
  return chunkOf;
}

namespace {

/// Chunks of parameters, as patterns name them.
class Annotations {
public:
  Annotations(const StepParts &parts, int numChunks) : parts_(parts), numChunks_(numChunks) {}

  LogicalResult add(StringRef text) {
    func::FuncOp step = parts_.getStep();
    auto [path, number] = text.rsplit(':');
    int chunk = 0;
    if (number.trim().getAsInteger(10, chunk) || path.trim().empty())
      return step.emitError() << "stage '" << text << "' is not of the form 'pattern: number'";
    if (chunk < 0 || chunk >= numChunks_)
      return step.emitError() << "stage '" << text << "' is not one of the " << numChunks_
                              << " that there are, 0 to " << numChunks_ - 1;
    const bool isScope = path.trim().starts_with(kScopePrefix);
    StringRef pattern = isScope ? path.trim().drop_front(kScopePrefix.size()) : path.trim();
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern, 1024);
    if (!glob)
      return step.emitError() << "stage '" << text
                              << "' is not a valid pattern: " << llvm::toString(glob.takeError());
    if (isScope)
      return addScope(text, *glob, chunk);
    bool matchesAny = false;
    for (unsigned index : parts_.getStateArguments()) {
      if (!matchesPath(*glob, getArgumentPath(step, index)))
        continue;
      matchesAny = true;
      chunks_[step.getArgument(index)] = chunk;
    }
    if (!matchesAny)
      return step.emitError() << "stage '" << text << "' matches no state argument; they are named "
                              << "as '" << getArgumentPath(step, parts_.getStateArguments()[0])
                              << "'";
    return success();
  }

  std::optional<int> find(Value parameter) const {
    auto found = chunks_.find(parameter);
    return found == chunks_.end() ? std::nullopt : std::optional<int>(found->second);
  }
  std::optional<int> find(Operation *op) const {
    auto found = scopes_.find(op);
    return found == scopes_.end() ? std::nullopt : std::optional<int>(found->second);
  }

private:
  LogicalResult addScope(StringRef text, const llvm::GlobPattern &glob, int chunk) {
    bool matchesAny = false;
    std::string known;
    for (Operation *op : parts_.getForward()) {
      std::vector<std::string> scopes = getScopes(op->getLoc());
      if (known.empty() && !scopes.empty())
        known = scopes.front();
      if (!llvm::any_of(scopes,
                        [&](const std::string &scope) { return matchesScope(glob, scope); }))
        continue;
      matchesAny = true;
      scopes_[op] = chunk;
    }
    if (matchesAny)
      return success();
    return parts_.getStep().emitError()
           << "stage '" << text << "' matches no named scope of the forward pass"
           << (known.empty() ? "" : "; one is '" + known + "'");
  }

  const StepParts &parts_;
  int numChunks_;
  DenseMap<Value, int> chunks_;
  DenseMap<Operation *, int> scopes_;
};

} // namespace

FailureOr<ChunkOf> mlir::coll::cutByPatterns(const StepParts &parts, ArrayRef<std::string> patterns,
                                             int numChunks) {
  Annotations annotations(parts, numChunks);
  for (const std::string &pattern : patterns)
    if (failed(annotations.add(pattern)))
      return failure();
  func::FuncOp step = parts.getStep();
  ChunkOf chunkOf;
  DenseSet<Value> placed;
  std::vector<bool> isUsed(numChunks);
  for (Operation *op : parts.getForward()) {
    int chunk = 0;
    for (Value value : getReadValues(op))
      if (Operation *producer = value.getDefiningOp())
        if (auto found = chunkOf.find(producer); found != chunkOf.end())
          chunk = std::max(chunk, found->second);
    for (Value parameter : getParameters(parts, op)) {
      std::optional<int> wanted = annotations.find(parameter);
      bool isFirst = placed.insert(parameter).second;
      if (!wanted || !isFirst)
        continue;
      if (*wanted < chunk) {
        unsigned index = cast<BlockArgument>(parameter).getArgNumber();
        return op->emitError("cannot be on stage ")
               << *wanted << ", where --stage puts '" << getArgumentPath(step, index)
               << "': it needs results of stage " << chunk
               << ", so that the stages would wait for one another; put the parameter on stage "
               << chunk << " or later";
      }
      chunk = std::max(chunk, *wanted);
    }
    if (std::optional<int> wanted = annotations.find(op)) {
      if (*wanted < chunk)
        return op->emitError("cannot be on stage ")
               << *wanted << ", where --stage puts its scope: it needs results of stage " << chunk
               << ", so that the stages would wait for one another; put the scope on stage "
               << chunk << " or later";
      chunk = *wanted;
    }
    chunkOf[op] = chunk;
    isUsed[chunk] = true;
  }
  for (int chunk = 0; chunk < numChunks; ++chunk)
    if (!isUsed[chunk])
      return step.emitError("has nothing on stage ")
             << chunk << "; name a parameter or a scope of it, as in --stage='layer_1*: " << chunk
             << "'";
  return chunkOf;
}

FailureOr<ChunkOf> mlir::coll::cutForward(const StepParts &parts, SmallVector<std::string> patterns,
                                          const ::coll::plan::Schedule &schedule,
                                          const ::coll::plan::CostModel &model) {
  if (patterns.empty())
    for (int stage : getMarkedStages(parts.getForward()))
      patterns.push_back(
          (kScopePrefix + kStageAttr + ":" + Twine(stage) + ": " + Twine(stage)).str());
  return patterns.empty() ? cutByCost(parts, schedule, model)
                          : cutByPatterns(parts, patterns, schedule.numChunks);
}

::coll::plan::CostModel mlir::coll::makeStageModel() {
  const ::coll::plan::Mesh one{{{"rank", 1}}};
  return *::coll::plan::CostModel::overTopology(::coll::plan::assumedTopology(1), one);
}
