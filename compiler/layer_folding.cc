//===- layer_folding.cc -----------------------------------------------------------===//

#include "compiler/layer_folding.h"

#include "dialect/dialect.h"
#include "passes/transform/strategy/shard_pattern.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace coll::run {
namespace {

/// Fewer layers are not worth it.
constexpr size_t kLeastLayers = 6;
/// Operations that must be equal before a repetition is looked for.
constexpr size_t kWindow = 8;
/// Earlier places with the same operations that are compared.
constexpr size_t kMostPlaces = 8;

uint64_t combine(uint64_t a, uint64_t b) { return llvm::hash_combine(a, b); }

/// The operation with its regions, without its operands and locations.
uint64_t hashAlone(mlir::Operation *op) {
  uint64_t hash = 0;
  op->walk([&](mlir::Operation *nested) {
    hash = combine(hash, mlir::OperationEquivalence::computeHash(
                             nested, mlir::OperationEquivalence::ignoreHashValue,
                             mlir::OperationEquivalence::ignoreHashValue,
                             mlir::OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

class StepHashes {
public:
  StepHashes(mlir::func::FuncOp step, const std::vector<std::string> &shards)
      : step_(step), shards_(shards) {}

  /// One per operation of the body, but for the terminator: what it does, and what kind of
  /// operations and arguments it reads.
  std::vector<uint64_t> run() {
    std::vector<uint64_t> hashes;
    for (mlir::Operation &op : step_.getBody().front().without_terminator()) {
      uint64_t hash = hashAlone(&op);
      for (mlir::Value operand : op.getOperands())
        hash = combine(hash, describe(operand));
      hashes.push_back(hash);
    }
    return hashes;
  }

private:
  uint64_t describe(mlir::Value value) {
    const uint64_t type = mlir::hash_value(value.getType());
    mlir::Operation *op = value.getDefiningOp();
    if (!op)
      return combine(type, describeArgument(llvm::cast<mlir::BlockArgument>(value)));
    if (mlir::matchPattern(op, mlir::m_Constant()))
      return hashAlone(op);
    return combine(type, mlir::hash_value(op->getName()));
  }

  uint64_t describeArgument(mlir::BlockArgument argument) {
    if (argument.getOwner()->getParentOp() != step_)
      return 1;
    const unsigned index = argument.getArgNumber();
    uint64_t hash = 2;
    for (mlir::NamedAttribute attr : mlir::function_interface_impl::getArgAttrs(step_, index))
      if (attr.getName() != mlir::coll::kNameAttr)
        hash = combine(hash, mlir::hash_value(attr));
    const std::string path = mlir::coll::getArgumentPath(step_, index);
    for (const std::string &shard : shards_) {
      const llvm::StringRef pattern = llvm::StringRef(shard).rsplit(':').first;
      hash = combine(hash, mlir::coll::matchesShardPattern(pattern.trim(), path));
    }
    return hash;
  }

  mlir::func::FuncOp step_;
  const std::vector<std::string> &shards_;
};

/// Leaves out `left` segments of each run, those of the same layers. The first segments stay.
class LayerCutter {
public:
  LayerCutter(mlir::func::FuncOp step, std::vector<RepeatedRun> runs, size_t left)
      : step_(step), runs_(std::move(runs)), left_(left) {
    for (mlir::Operation &op : step.getBody().front().without_terminator())
      ops_.push_back(&op);
    llvm::sort(runs_, [](const auto &a, const auto &b) { return a.first < b.first; });
  }

  void run() {
    llvm::BitVector wasUsed(step_.getNumArguments());
    for (mlir::BlockArgument argument : step_.getArguments())
      wasUsed[argument.getArgNumber()] = !argument.use_empty();
    for (const RepeatedRun &run : runs_)
      choose(run);
    for (const RepeatedRun &run : runs_)
      redirect(run);
    for (mlir::Operation *op : llvm::reverse(ops_))
      if (removed_.contains(op))
        op->erase();
    eraseArguments(wasUsed);
  }

private:
  llvm::ArrayRef<mlir::Operation *> segmentOf(const RepeatedRun &run, size_t segment) const {
    return llvm::ArrayRef(ops_).slice(run.first + segment * run.period, run.period);
  }

  /// Takes the segments that read most values that are left out already; for the first run, those
  /// in its middle.
  void choose(const RepeatedRun &run) {
    struct Segment {
      size_t number;
      double share;
      size_t distance; // from the middle, twice
    };
    std::vector<Segment> segments;
    for (size_t number = 1; number < run.count; ++number) {
      const size_t twice = 2 * number, last = run.count - 1;
      segments.push_back({number, shareLeftOut(segmentOf(run, number)),
                          std::max(twice, last) - std::min(twice, last)});
    }
    llvm::stable_sort(segments, [](const Segment &a, const Segment &b) {
      return a.share != b.share ? a.share > b.share : a.distance < b.distance;
    });
    for (size_t i = 0; i < left_; ++i) {
      llvm::ArrayRef<mlir::Operation *> segment = segmentOf(run, segments[i].number);
      removed_.insert(segment.begin(), segment.end());
    }
    for (size_t i = run.first; i < run.end(); ++i)
      note(ops_[i]);
  }

  /// Counts the arguments that a kept or a left out operation reads.
  void note(mlir::Operation *op) {
    const bool isLeftOut = removed_.contains(op);
    decided_[op] = isLeftOut;
    for (mlir::Value operand : op->getOperands())
      if (llvm::isa<mlir::BlockArgument>(operand))
        ++(isLeftOut ? readers_[operand].first : readers_[operand].second);
  }

  /// The share of layers that are left out in the values that distinguish one layer from another.
  double shareLeftOut(llvm::ArrayRef<mlir::Operation *> segment) const {
    double all = 0, leftOut = 0;
    for (mlir::Operation *op : segment)
      for (mlir::Value operand : op->getOperands()) {
        std::optional<bool> isOut = isLeftOut(operand);
        all += isOut.has_value();
        leftOut += isOut.value_or(false);
      }
    return all == 0 ? 0 : leftOut / all;
  }

  /// Whether it belongs to a layer that is left out; nullopt if that is open, or it is of all.
  std::optional<bool> isLeftOut(mlir::Value value) const {
    if (mlir::Operation *op = value.getDefiningOp()) {
      auto found = decided_.find(op);
      return found == decided_.end() ? std::nullopt : std::optional(found->second);
    }
    auto [leftOut, kept] = readers_.lookup(value);
    if ((leftOut > 0) == (kept > 0))
      return std::nullopt;
    return leftOut > 0;
  }

  /// An operation that stays reads the same value of the last segment before it that stays.
  void redirect(const RepeatedRun &run) {
    size_t kept = 0;
    for (size_t segment = 1; segment < run.count; ++segment) {
      if (!removed_.contains(segmentOf(run, segment).front())) {
        kept = segment;
        continue;
      }
      for (auto [from, to] : llvm::zip_equal(segmentOf(run, segment), segmentOf(run, kept)))
        for (auto [value, other] : llvm::zip_equal(from->getResults(), to->getResults()))
          value.replaceUsesWithIf(other, [&](mlir::OpOperand &use) {
            return !removed_.contains(
                step_.getBody().front().findAncestorOpInBlock(*use.getOwner()));
          });
    }
  }

  /// Removes arguments that only left-out operations read, and the results that update them.
  void eraseArguments(const llvm::BitVector &wasUsed) {
    llvm::BitVector arguments(step_.getNumArguments()), results(step_.getNumResults());
    unsigned state = 0;
    for (mlir::BlockArgument argument : step_.getArguments()) {
      const unsigned index = argument.getArgNumber();
      auto role = step_.getArgAttrOfType<mlir::StringAttr>(index, mlir::coll::kRoleAttr);
      const bool isState = role && role.getValue() == mlir::coll::kRoleState;
      if (wasUsed[index] && argument.use_empty()) {
        arguments.set(index);
        if (isState && state < results.size())
          results.set(state);
      }
      state += isState;
    }
    mlir::Operation *terminator = step_.getBody().front().getTerminator();
    terminator->eraseOperands(results);
    (void)step_.eraseResults(results);
    (void)step_.eraseArguments(arguments);
  }

  mlir::func::FuncOp step_;
  std::vector<RepeatedRun> runs_; // in the order of the step
  size_t left_;
  std::vector<mlir::Operation *> ops_;
  llvm::DenseSet<mlir::Operation *> removed_;
  llvm::DenseMap<mlir::Operation *, bool> decided_; // those of runs; true: left out
  /// By argument: the operations of runs that read it, left out and kept ones.
  llvm::DenseMap<mlir::Value, std::pair<int64_t, int64_t>> readers_;
};

mlir::func::FuncOp stepOf(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>(mlir::coll::kStepFunction);
}

/// The runs with the same number of layers, or one more, that cover the most operations together:
/// forward, backward and update.
std::vector<RepeatedRun> chooseLayers(const std::vector<RepeatedRun> &runs) {
  std::vector<RepeatedRun> best;
  size_t most = 0;
  for (const RepeatedRun &run : runs) {
    std::vector<RepeatedRun> alike;
    size_t covered = 0;
    for (const RepeatedRun &other : runs)
      if (other.count == run.count || other.count == run.count + 1) {
        alike.push_back(other);
        covered += other.period * other.count;
      }
    if (covered > most) {
      most = covered;
      best = std::move(alike);
    }
  }
  return best;
}

} // namespace

std::vector<RepeatedRun> findRepeatedRuns(const std::vector<uint64_t> &hashes, size_t least) {
  std::vector<RepeatedRun> found;
  std::unordered_map<uint64_t, std::vector<size_t>> places; // by the operations of a window
  std::unordered_map<size_t, size_t> ends;                  // of the run with a period
  for (size_t i = 0; i + kWindow <= hashes.size(); ++i) {
    uint64_t window = 0;
    for (size_t k = i; k < i + kWindow; ++k)
      window = combine(window, hashes[k]);
    std::vector<size_t> &before = places[window];
    for (size_t place : before) {
      const size_t period = i - place;
      if (ends[period] > i)
        continue;
      size_t end = i;
      while (end < hashes.size() && hashes[end] == hashes[end - period])
        ++end;
      ends[period] = end;
      RepeatedRun run{place, period, (end - place) / period};
      if (run.count >= least)
        found.push_back(run);
    }
    if (before.size() == kMostPlaces)
      before.erase(before.begin());
    before.push_back(i);
  }
  std::stable_sort(found.begin(), found.end(), [](const RepeatedRun &a, const RepeatedRun &b) {
    const size_t ofA = a.period * a.count, ofB = b.period * b.count;
    return ofA != ofB ? ofA > ofB : a.period < b.period;
  });
  std::vector<RepeatedRun> chosen;
  for (const RepeatedRun &run : found)
    if (llvm::none_of(chosen, [&](const RepeatedRun &other) {
          return run.first < other.end() && other.first < run.end();
        }))
      chosen.push_back(run);
  return chosen;
}

std::optional<FoldedStep> foldLayers(mlir::ModuleOp module,
                                     const std::vector<std::string> &shards) {
  mlir::func::FuncOp step = stepOf(module);
  std::vector<RepeatedRun> runs =
      chooseLayers(findRepeatedRuns(StepHashes(step, shards).run(), kLeastLayers));
  if (runs.empty())
    return std::nullopt;
  size_t layers = runs.front().count;
  for (const RepeatedRun &run : runs)
    layers = std::min(layers, run.count);
  FoldedStep folded;
  folded.shorter = module.clone();
  folded.longer = module.clone();
  folded.repeats = static_cast<double>(layers - 2) / 2;
  LayerCutter(stepOf(*folded.shorter), runs, layers - 2).run();
  LayerCutter(stepOf(*folded.longer), runs, layers - 4).run();
  return folded;
}

} // namespace coll::run
