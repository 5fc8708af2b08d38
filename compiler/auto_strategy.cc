//===- auto_strategy.cc -----------------------------------------------------------===//

#include "compiler/auto_strategy.h"

#include "compiler/error.h"
#include "compiler/layer_folding.h"
#include "compiler/plan_coster.h"
#include "compiler/plan_space.h"
#include "passes/analysis/step_cost.h"
#include "passes/passes.h"
#include "passes/pipelines.h"
#include "passes/transform/strategy/strategies.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Threading.h"

#include <set>
#include <tuple>
#include <utility>

namespace coll::run {
namespace {

/// The number of operations that one search partitions, over all plans; large steps try fewer
/// plans.
constexpr int64_t kOperationBudget = 120'000;
constexpr int64_t kLeastRefinements = 8, kMostRefinements = 400;
/// If there are at most this many plans, all shardings of all arguments are tried.
constexpr int64_t kMostExhaustive = 1'000;
/// If all meshes of three axes would take more than a quarter of the budget, meshes of three axes
/// are tried only for this many of the best plans with two axes; in a step with many layers, only
/// the meshes that cut one of the two.
constexpr size_t kBeam = 3;
/// Plans that are listed besides the best.
constexpr size_t kMostListed = 8;
/// In a search with few of the layers: the number of strategies that are examined further, the
/// fastest and those that need the least memory.
constexpr size_t kMostFast = 6, kMostSmall = 2;
/// Plans that are costed for the whole step, after a search with few of its layers.
constexpr int kMostConfirmed = 6;
/// Plans that are costed at a time; each takes the memory of a step.
constexpr unsigned kMostThreads = 8;

/// Times that differ by less are predicted to be equal.
constexpr double kTie = 0.003;

/// Compares plans that take equal times: the simplest is the least.
auto rankBySimplicity(const PlanCandidate &plan) {
  return std::tuple(plan.calls, plan.wireBytes, plan.shards.size(), plan.us, plan.memoryBytes);
}

class PlanSearcher {
public:
  PlanSearcher(const StepIr &step, const SearchOptions &options, plan::Topology topology)
      : options_(options), base_(step.module.get().clone()),
        coster_(*base_->getContext(),
                {std::move(topology), options.topology, options.shards, options.narrowSums,
                 options.combineBytes},
                std::min(kMostThreads, llvm::hardware_concurrency().compute_thread_count())) {}

  llvm::Expected<PlanSearch> run() {
    prepare();
    if (!tryExhaustively()) {
      tryStrategies();
      if (!plans_.empty()) {
        refine();
        tryOtherStrategies();
      }
      if (folded_)
        confirm();
    }
    if (plans_.empty())
      return makeError("no mesh and strategy for " + counted(options_.ranks, "rank") +
                       " can be partitioned; --strategy=data says why");
    sort();
    const auto chosen = choose();
    std::rotate(plans_.begin(), chosen, chosen + 1);
    PlanSearch search;
    search.tried = coster_.numCosted(few_);
    // A rank's part of the work may be predicted to take less than its share of the time.
    search.boundUs = boundUs_;
    for (const PlanCandidate &plan : plans_)
      search.boundUs = std::min(search.boundUs, plan.us);
    search.memoryLimit = options_.memoryLimit;
    listPlans(search);
    return search;
  }

private:
  /// Inlines calls once, and measures the step as it is on one device.
  void prepare() {
    mlir::PassManager manager(base_->getContext());
    manager.enableVerifier(false);
    mlir::coll::buildInlinePipeline(manager);
    manager.addPass(mlir::coll::createDropEmptyPass());
    mlir::ScopedDiagnosticHandler silence(base_->getContext(),
                                          [](mlir::Diagnostic &) { return mlir::success(); });
    (void)manager.run(*base_);
    plan::Mesh one;
    one.axes.push_back({"rank", 1});
    auto model = plan::CostModel::overTopology(coster_.topology(), one);
    assert(model.ok() && "a topology has a rank");
    auto step = base_->lookupSymbol<mlir::func::FuncOp>(mlir::coll::kStepFunction);
    boundUs_ = mlir::coll::getStepCost(step, nullptr, *model).computeUs / double(options_.ranks);
    groups_ = findArgumentGroups(step);
    if (options_.foldsLayers)
      folded_ = foldLayers(*base_, options_.shards);
    whole_ = few_ = coster_.add(*base_);
    if (folded_) {
      few_ = coster_.add(*folded_->shorter);
      more_ = coster_.add(*folded_->longer);
    }
    auto count = [this](mlir::ModuleOp module) {
      module.walk([this](mlir::Operation *) { ++operations_; });
    };
    if (!folded_)
      return count(*base_);
    count(*folded_->shorter);
    count(*folded_->longer);
  }

  /// Costs plans that tryPlan() is about to be called with, several at a time. With few of the
  /// layers, those that may be better than `bar`, if there is one, are costed with more of them.
  void costAhead(const std::vector<PlanCandidate> &plans, const PlanCandidate *bar = nullptr) {
    coster_.cost(few_, plans);
    if (!folded_)
      return;
    std::vector<PlanCandidate> better;
    for (const PlanCandidate &plan : plans)
      if (const std::optional<PlanCost> &few = coster_.costOf(few_, plan))
        if (!bar || mayBeat(*few, *bar))
          better.push_back(plan);
    coster_.cost(more_, better);
  }

  /// Adds the plan, unless it is known; returns whether it can be partitioned. A plan of which two
  /// layers are not better than those of `bar`, if given, is not examined further.
  bool tryPlan(PlanCandidate plan, const PlanCandidate *bar = nullptr) {
    std::string key = plan.describe();
    auto [known, isNew] = known_.try_emplace(key, false);
    if (!isNew)
      return known->second;
    std::optional<PlanCost> cost = coster_.costOf(few_, plan);
    if (cost && folded_) {
      if (bar && !mayBeat(*cost, *bar))
        return false;
      cost = predict(plan, *cost);
    }
    if (!cost)
      return false;
    setCost(plan, *cost);
    plans_.push_back(std::move(plan));
    known->second = true;
    return true;
  }

  static void setCost(PlanCandidate &plan, const PlanCost &cost) {
    plan.us = cost.us;
    plan.calls = cost.calls;
    plan.wireBytes = cost.wireBytes;
    plan.memoryBytes = cost.memoryBytes;
  }

  /// Whether a plan that costs so much with few layers can be better than `bar`.
  bool mayBeat(const PlanCost &few, const PlanCandidate &bar) {
    const PlanCost &other = *coster_.costOf(few_, bar);
    if (!fits(bar))
      return few.memoryBytes < other.memoryBytes;
    return std::tie(few.us, few.memoryBytes) < std::tie(other.us, other.memoryBytes);
  }

  /// From two short steps; from the whole one where the longer of them costs less.
  std::optional<PlanCost> predict(const PlanCandidate &plan, const PlanCost &first) {
    std::optional<PlanCost> last = coster_.costOf(more_, plan);
    if (!last)
      return std::nullopt;
    if (last->us < first.us || last->wireBytes < first.wireBytes ||
        last->memoryBytes < first.memoryBytes)
      return coster_.costOf(whole_, plan);
    const double memory = folded_->extrapolate(static_cast<double>(first.memoryBytes),
                                               static_cast<double>(last->memoryBytes));
    return PlanCost{
        folded_->extrapolate(first.us, last->us), folded_->extrapolate(first.calls, last->calls),
        folded_->extrapolate(first.wireBytes, last->wireBytes), static_cast<int64_t>(memory)};
  }

  /// The whole step may be split in another way than its few layers, so the best plan is costed
  /// with all layers, until it stays the best.
  void confirm() {
    llvm::StringSet<> confirmed;
    for (int i = 0; i < kMostConfirmed && !plans_.empty(); ++i) {
      const auto plan = choose();
      if (!confirmed.insert(plan->describe()).second)
        return;
      const std::optional<PlanCost> &cost = coster_.costOf(whole_, *plan);
      if (!cost) {
        plans_.erase(plan);
        continue;
      }
      setCost(*plan, *cost);
    }
    llvm::erase_if(plans_, [&](const auto &plan) { return !confirmed.contains(plan.describe()); });
  }

  bool fits(const PlanCandidate &plan) const {
    return options_.memoryLimit == 0 || plan.memoryBytes <= options_.memoryLimit;
  }

  /// Plans that fit come first, by time; the others by what they need. Among equal plans the one
  /// that was tried first stays first.
  bool isBetter(const PlanCandidate &a, const PlanCandidate &b) const {
    if (fits(a) != fits(b))
      return fits(a);
    if (!fits(a))
      return a.memoryBytes < b.memoryBytes;
    return std::tie(a.us, a.memoryBytes) < std::tie(b.us, b.memoryBytes);
  }

  /// The plan that is taken. All plans are compared with the fastest: that two times are equal up
  /// to a tie is not transitive.
  std::vector<PlanCandidate>::iterator choose() {
    auto chosen = std::min_element(plans_.begin(), plans_.end(),
                                   [this](const auto &a, const auto &b) { return isBetter(a, b); });
    if (!fits(*chosen))
      return chosen;
    const double longest = chosen->us * (1 + kTie);
    for (auto plan = plans_.begin(); plan != plans_.end(); ++plan)
      if (fits(*plan) && plan->us <= longest && rankBySimplicity(*plan) < rankBySimplicity(*chosen))
        chosen = plan;
    return chosen;
  }

  void sort() {
    llvm::stable_sort(plans_, [this](const auto &a, const auto &b) { return isBetter(a, b); });
  }

  /// The plan that is taken; the best plan of each mesh and strategies, with and without shardings
  /// of single arguments; then the next best plans. Among plans of equal cost only the first is
  /// listed.
  void listPlans(PlanSearch &search) {
    std::vector<const PlanCandidate *> listed, others;
    std::set<std::tuple<double, int64_t, double>> costs;
    llvm::StringSet<> kinds;
    for (const PlanCandidate &plan : plans_) {
      if (!costs.insert({plan.us, plan.memoryBytes, plan.wireBytes}).second)
        continue;
      const std::string kind = plan.mesh + " " + plan.strategy + (plan.shards.empty() ? "" : " +");
      (kinds.insert(kind).second ? listed : others).push_back(&plan);
    }
    listed.resize(std::min(listed.size(), kMostListed));
    llvm::append_range(listed, others);
    listed.resize(std::min(listed.size(), kMostListed));
    std::stable_sort(listed.begin() + 1, listed.end(),
                     [this](auto *a, auto *b) { return isBetter(*a, *b); });
    for (const PlanCandidate *plan : listed)
      search.plans.push_back(*plan);
  }

  const PlanCandidate &best() const {
    return *std::min_element(plans_.begin(), plans_.end(),
                             [this](const auto &a, const auto &b) { return isBetter(a, b); });
  }

  /// Every sharding of every argument over every mesh, if these are few.
  bool tryExhaustively() {
    std::vector<std::vector<MeshAxisOption>> meshes = listMeshes(options_.ranks, options_.mesh);
    int64_t count = 0;
    for (const auto &mesh : meshes) {
      int64_t product = 1;
      for (const ArgumentGroup &group : groups_.single)
        product = plan::saturatingProduct(product, int64_t(listShardings(group, mesh).size()));
      count = std::min(count + std::min(product, kMostExhaustive + 1), kMostExhaustive + 1);
    }
    if (count > kMostExhaustive)
      return false;
    std::vector<PlanCandidate> plans;
    for (const auto &mesh : meshes)
      listAllShardings(mesh, 0, {}, plans);
    tryAll(std::move(plans));
    return true;
  }

  void listAllShardings(const std::vector<MeshAxisOption> &mesh, size_t index,
                        std::vector<std::string> shards, std::vector<PlanCandidate> &plans) {
    if (index == groups_.single.size()) {
      PlanCandidate &plan = plans.emplace_back();
      plan.mesh = describeMesh(mesh);
      plan.shards = std::move(shards);
      return;
    }
    const ArgumentGroup &group = groups_.single[index];
    for (const std::string &sharding : listShardings(group, mesh)) {
      std::vector<std::string> extended = shards;
      extended.push_back(group.pattern + ": " + sharding);
      listAllShardings(mesh, index + 1, std::move(extended), plans);
    }
  }

  void tryAll(std::vector<PlanCandidate> plans, const PlanCandidate *bar = nullptr) {
    costAhead(plans, bar);
    for (PlanCandidate &plan : plans)
      tryPlan(std::move(plan), bar);
  }

  void tryStrategies() {
    auto stepOf = [](mlir::ModuleOp module) {
      return module.lookupSymbol<mlir::func::FuncOp>(mlir::coll::kStepFunction);
    };
    RareStrategies rare;
    rare.spatial = hasHeight(stepOf(*base_));
    rare.expert = mlir::coll::hasExperts(stepOf(folded_ ? *folded_->shorter : *base_));
    auto list = [&](size_t axes) {
      return listStrategies(options_.ranks, axes, options_.mesh, rare);
    };
    std::vector<PlanCandidate> plans = list(1);
    llvm::append_range(plans, list(2));
    // Said of an argument, since options that name no strategy mean data parallelism.
    for (PlanCandidate &plan : plans)
      if (plan.strategy.empty() && !groups_.folded.empty()) {
        const ArgumentGroup &group = groups_.folded.front();
        plan.shards.push_back(group.pattern + ": [" +
                              llvm::join(std::vector<std::string>(group.shape.size(), "-"), ", ") +
                              "]");
      }
    std::vector<PlanCandidate> three = list(3);
    if (int64_t(three.size()) * operations_ <= kOperationBudget / 4)
      llvm::append_range(plans, std::exchange(three, {}));
    tryBest(std::move(plans));
    if (three.empty())
      return;
    sort();
    std::vector<PlanCandidate> beam(plans_.begin(),
                                    plans_.begin() + std::min(kBeam, plans_.size()));
    llvm::erase_if(three, [&](const PlanCandidate &plan) {
      return llvm::none_of(beam, [&](const PlanCandidate &other) {
        return extends(plan.strategy, other.strategy) &&
               (!folded_ || cutsOneAxis(plan.mesh, other.mesh));
      });
    });
    tryBest(std::move(three));
  }

  /// Tries all plans or, with few of the layers, those that look best.
  void tryBest(std::vector<PlanCandidate> plans) {
    if (folded_) {
      coster_.cost(few_, plans);
      auto few = [this](const PlanCandidate &plan) { return coster_.costOf(few_, plan); };
      llvm::erase_if(plans, [&](const PlanCandidate &plan) { return !few(plan); });
      llvm::stable_sort(plans, [&](const PlanCandidate &a, const PlanCandidate &b) {
        return few(a)->us < few(b)->us;
      });
      if (plans.size() > kMostFast + kMostSmall) {
        auto rest = plans.begin() + kMostFast;
        std::stable_sort(rest, plans.end(), [&](const auto &a, const auto &b) {
          return few(a)->memoryBytes < few(b)->memoryBytes;
        });
        plans.resize(kMostFast + kMostSmall);
      }
    }
    tryAll(std::move(plans));
  }

  /// From the best plan and from data parallelism: with few arguments split it may be the best
  /// plan, however slow it is with none.
  void refine() {
    const int64_t most = std::clamp(kOperationBudget / std::max<int64_t>(operations_, 1),
                                    kLeastRefinements, kMostRefinements);
    std::vector<PlanCandidate> starts = {best()};
    auto data = llvm::find_if(plans_, [](const PlanCandidate &plan) {
      return plan.strategy == "data" && plan.shards.empty();
    });
    if (data != plans_.end() && starts.front().strategy != "data")
      starts.push_back(*data);
    for (const PlanCandidate &start : starts)
      refine(start, most / int64_t(starts.size()));
  }

  /// Splits one group after the other in the way that is fastest, and starts again after a gain,
  /// for as many plans as are left.
  void refine(PlanCandidate start, int64_t left) {
    for (bool gained = true; gained && left > 0;) {
      gained = false;
      for (const ArgumentGroup &group : groups_.folded) {
        const PlanCandidate before = start;
        std::vector<MeshAxisOption> mesh = llvm::cantFail(parseMesh(before.mesh));
        std::vector<PlanCandidate> plans;
        for (const std::string &sharding : listShardings(group, mesh)) {
          if (left-- <= 0)
            break;
          PlanCandidate &plan = plans.emplace_back(before);
          llvm::erase_if(plan.shards, [&](const std::string &shard) {
            return covers(group.pattern, llvm::StringRef(shard).rsplit(": ").first);
          });
          plan.shards.push_back(group.pattern + ": " + sharding);
        }
        const size_t known = plans_.size();
        tryAll(std::move(plans), folded_ ? &before : nullptr);
        for (size_t i = known; i < plans_.size(); ++i)
          if (isBetter(plans_[i], start))
            start = plans_[i];
        if (left <= 0)
          return;
        gained |= isBetter(start, before);
      }
    }
  }

  /// Tries the best plan's patterns with the strategies that are next best without any: another
  /// strategy with fewer calls may be as fast.
  void tryOtherStrategies() {
    const PlanCandidate before = best();
    if (before.shards.empty())
      return;
    sort();
    std::vector<PlanCandidate> plans;
    for (const PlanCandidate &other : plans_)
      if (other.shards.empty() && other.strategy != before.strategy && plans.size() < kBeam)
        if (auto mixed = withShardsOf(other, before))
          plans.push_back(std::move(*mixed));
    tryAll(std::move(plans));
  }

  const SearchOptions &options_;
  mlir::OwningOpRef<mlir::ModuleOp> base_;
  PlanCoster coster_;
  std::optional<FoldedStep> folded_; // where layers repeat
  /// All layers, the fewest and some more; the first two are one where none repeat.
  PlanCoster::StepNumber whole_ = 0, few_ = 0, more_ = 0;
  ArgumentGroups groups_;
  int64_t operations_ = 0;
  double boundUs_ = 0;
  llvm::StringMap<bool> known_;
  std::vector<PlanCandidate> plans_;
};

} // namespace

llvm::Expected<PlanSearch> searchPlan(const StepIr &step, const SearchOptions &options) {
  plan::Topology topology = plan::assumedTopology(options.ranks);
  if (!options.topology.empty()) {
    auto read = plan::readTopology(options.topology);
    if (!read.ok())
      return makeError(read.error());
    topology = std::move(*read);
    if (topology.numRanks() < options.ranks)
      return makeError(options.topology + ": " + counted(options.ranks, "rank") +
                       " are asked for, the topology has " + llvm::Twine(topology.numRanks()));
  }
  return PlanSearcher(step, options, std::move(topology)).run();
}

} // namespace coll::run
