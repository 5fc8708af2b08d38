//===- auto_strategy.cc -----------------------------------------------------------===//

#include "compiler/auto_strategy.h"

#include "compiler/error.h"
#include "compiler/layer_folding.h"
#include "compiler/plan_space.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/analysis/step_cost.h"
#include "passes/passes.h"
#include "passes/pipelines.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace coll::run {
namespace {

/// So many operations are partitioned in one search, over all plans; large steps try fewer plans.
constexpr int64_t kOperationBudget = 120'000;
constexpr int64_t kLeastRefinements = 8, kMostRefinements = 400;
/// Up to so many plans, all shardings of all arguments are tried.
constexpr int64_t kMostExhaustive = 1'000;
/// Meshes of three axes are tried for so many of the best plans with two.
constexpr size_t kBeam = 3;
/// Plans that are listed beside the best.
constexpr size_t kMostListed = 8;
/// With few of the layers: strategies that are looked at further, the fastest and those that need
/// least memory.
constexpr size_t kMostFast = 12, kMostSmall = 4;
/// Plans that are costed for the whole step, after a search with few of its layers.
constexpr int kMostConfirmed = 6;

mlir::OwningOpRef<mlir::ModuleOp> copyInto(mlir::MLIRContext &context, mlir::ModuleOp module) {
  context.allowUnregisteredDialects(module.getContext()->allowsUnregisteredDialects());
  context.printOpOnDiagnostic(false); // remarks are dropped; to print operations would take longest
  std::string text;
  llvm::raw_string_ostream stream(text);
  (void)mlir::writeBytecodeToFile(module, stream);
  auto copy = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  assert(copy && "what was written can be read");
  return copy;
}

class PlanSearcher {
public:
  PlanSearcher(const StepIr &step, const SearchOptions &options, plan::Topology topology)
      : options_(options), topology_(std::move(topology)),
        context_(step.module.get()->getContext()->getDialectRegistry(),
                 mlir::MLIRContext::Threading::DISABLED),
        base_(copyInto(context_, step.module.get())) {}

  llvm::Expected<PlanSearch> run() {
    prepare();
    if (!tryExhaustively()) {
      tryStrategies();
      if (!plans_.empty())
        refine();
      if (folded_)
        confirm();
    }
    if (plans_.empty())
      return makeError("no mesh and strategy for " + counted(options_.ranks, "rank") +
                       " can be partitioned; --strategy=data says why");
    sort();
    PlanSearch search;
    search.tried = tried_;
    search.boundUs = boundUs_;
    search.memoryLimit = options_.memoryLimit;
    for (PlanCandidate &plan : plans_) {
      bool isAlike = llvm::any_of(search.plans, [&](const PlanCandidate &listed) {
        return std::tie(listed.us, listed.memoryBytes, listed.wireBytes) ==
               std::tie(plan.us, plan.memoryBytes, plan.wireBytes);
      });
      if (!isAlike && search.plans.size() < kMostListed)
        search.plans.push_back(std::move(plan));
    }
    return search;
  }

private:
  struct Cost {
    double us = 0;
    int64_t wireBytes = 0, memoryBytes = 0;
  };

  /// Inlines calls once, and measures the step as it is on one device.
  void prepare() {
    mlir::PassManager manager(base_->getContext());
    manager.enableVerifier(false);
    mlir::coll::buildInlinePipeline(manager);
    manager.addPass(mlir::coll::createDropEmptyPass());
    (void)runSilently(manager, *base_);
    plan::Mesh one;
    one.axes.push_back({"rank", 1});
    auto model = plan::CostModel::overTopology(topology_, one);
    assert(model.ok() && "a topology has a rank");
    auto step = base_->lookupSymbol<mlir::func::FuncOp>(mlir::coll::kStepFunction);
    boundUs_ = mlir::coll::getStepCost(step, nullptr, *model).computeUs / double(options_.ranks);
    groups_ = findArgumentGroups(step);
    if (options_.foldsLayers)
      folded_ = foldLayers(*base_, options_.shards);
    auto count = [this](mlir::ModuleOp module) {
      module.walk([this](mlir::Operation *) { ++operations_; });
    };
    if (!folded_)
      return count(*base_);
    count(*folded_->shorter);
    count(*folded_->longer);
  }

  mlir::LogicalResult runSilently(mlir::PassManager &manager, mlir::ModuleOp module) {
    mlir::ScopedDiagnosticHandler silence(module.getContext(),
                                          [](mlir::Diagnostic &) { return mlir::success(); });
    return manager.run(module);
  }

  /// Costs the plan, unless it is known; whether it can be partitioned. Nothing more is done for a
  /// plan of which two layers are no better than those of `bar`, if there is one.
  bool tryPlan(PlanCandidate plan, const PlanCandidate *bar = nullptr) {
    std::string key = plan.describe();
    auto [known, isNew] = known_.try_emplace(key, false);
    if (!isNew)
      return known->second;
    std::optional<Cost> cost;
    if (!folded_) {
      ++tried_;
      cost = costOf(plan, *base_);
    } else if (const std::optional<Cost> &few = costOfFew(plan)) {
      if (bar && !mayBeat(*few, *bar))
        return false;
      cost = predict(plan, *few);
    }
    if (!cost)
      return false;
    plan.us = cost->us;
    plan.wireBytes = cost->wireBytes;
    plan.memoryBytes = cost->memoryBytes;
    plans_.push_back(std::move(plan));
    known->second = true;
    return true;
  }

  /// The cost of the plan for the step with the fewest layers.
  const std::optional<Cost> &costOfFew(const PlanCandidate &plan) {
    auto [found, isNew] = few_.try_emplace(plan.describe());
    if (isNew) {
      ++tried_;
      found->second = costOf(plan, *folded_->shorter);
    }
    return found->second;
  }

  /// Whether a plan that costs so much with few layers can be better than `bar`.
  bool mayBeat(const Cost &few, const PlanCandidate &bar) {
    const Cost &other = *costOfFew(bar);
    if (!fits(bar))
      return few.memoryBytes < other.memoryBytes;
    return std::tie(few.us, few.memoryBytes) < std::tie(other.us, other.memoryBytes);
  }

  /// From two short steps; from the whole one where the longer of them costs less.
  std::optional<Cost> predict(const PlanCandidate &plan, const Cost &first) {
    std::optional<Cost> last = costOf(plan, *folded_->longer);
    if (!last)
      return std::nullopt;
    if (last->us < first.us || last->wireBytes < first.wireBytes ||
        last->memoryBytes < first.memoryBytes)
      return costOf(plan, *base_);
    auto bytes = [&](int64_t ofFirst, int64_t ofLast) {
      return static_cast<int64_t>(
          folded_->extrapolate(static_cast<double>(ofFirst), static_cast<double>(ofLast)));
    };
    return Cost{folded_->extrapolate(first.us, last->us), bytes(first.wireBytes, last->wireBytes),
                bytes(first.memoryBytes, last->memoryBytes)};
  }

  /// A whole step may be split otherwise than its few layers: the best plan is costed for all of
  /// them, until it stays the best.
  void confirm() {
    llvm::StringSet<> confirmed;
    for (int i = 0; i < kMostConfirmed && !plans_.empty(); ++i) {
      auto plan = std::min_element(plans_.begin(), plans_.end(),
                                   [this](const auto &a, const auto &b) { return isBetter(a, b); });
      if (!confirmed.insert(plan->describe()).second)
        return;
      std::optional<Cost> cost = costOf(*plan, *base_);
      if (!cost) {
        plans_.erase(plan);
        continue;
      }
      plan->us = cost->us;
      plan->wireBytes = cost->wireBytes;
      plan->memoryBytes = cost->memoryBytes;
    }
    llvm::erase_if(plans_, [&](const auto &plan) { return !confirmed.contains(plan.describe()); });
  }

  /// Partitions a copy of `source` as the plan says; nullopt where that is not possible.
  std::optional<Cost> costOf(const PlanCandidate &plan, mlir::ModuleOp source) {
    mlir::OwningOpRef<mlir::ModuleOp> module = source.clone();
    mlir::PassManager manager(module->getContext());
    manager.enableVerifier(false);
    mlir::coll::StrategyOptions strategy;
    strategy.mesh = plan.mesh;
    strategy.strategy = plan.strategy;
    strategy.shards = plan.shards; // the user's come last, so that they decide
    strategy.shards.insert(strategy.shards.end(), options_.shards.begin(), options_.shards.end());
    strategy.partition.topology = options_.topology;
    strategy.partition.narrowSums = options_.narrowSums;
    mlir::coll::buildCostingPipeline(manager, strategy);
    if (mlir::failed(runSilently(manager, *module)))
      return std::nullopt;
    auto step = module->lookupSymbol<mlir::func::FuncOp>(mlir::coll::kStepFunction);
    mlir::coll::MeshOp mesh = *module->getOps<mlir::coll::MeshOp>().begin();
    auto model = plan::CostModel::overTopology(topology_, mlir::coll::toPlanMesh(mesh));
    if (!model.ok())
      return std::nullopt;
    const mlir::coll::StepCost cost = mlir::coll::getStepCost(step, mesh, *model);
    return Cost{cost.totalUs(), cost.wireBytes, cost.memoryBytes};
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

  void sort() {
    llvm::stable_sort(plans_, [this](const auto &a, const auto &b) { return isBetter(a, b); });
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
    for (const auto &mesh : meshes)
      tryAllShardings(mesh, 0, {});
    return true;
  }

  void tryAllShardings(const std::vector<MeshAxisOption> &mesh, size_t index,
                       std::vector<std::string> shards) {
    if (index == groups_.single.size()) {
      PlanCandidate plan;
      plan.mesh = describeMesh(mesh);
      plan.shards = std::move(shards);
      tryPlan(std::move(plan));
      return;
    }
    const ArgumentGroup &group = groups_.single[index];
    for (const std::string &sharding : listShardings(group, mesh)) {
      std::vector<std::string> extended = shards;
      extended.push_back(group.pattern + ": " + sharding);
      tryAllShardings(mesh, index + 1, std::move(extended));
    }
  }

  void tryStrategies() {
    std::vector<PlanCandidate> plans;
    for (size_t axes : {1u, 2u})
      llvm::append_range(plans, listStrategies(options_.ranks, axes, options_.mesh));
    tryBest(std::move(plans));
    std::vector<PlanCandidate> three = listStrategies(options_.ranks, 3, options_.mesh);
    if (three.empty())
      return;
    sort();
    std::vector<std::string> beam;
    for (const PlanCandidate &plan : llvm::ArrayRef(plans_).take_front(kBeam))
      beam.push_back(plan.strategy);
    llvm::erase_if(three, [&](const PlanCandidate &plan) {
      return llvm::none_of(beam, [&](const auto &other) { return extends(plan.strategy, other); });
    });
    tryBest(std::move(three));
  }

  /// Tries all plans or, with few of the layers, those that look best.
  void tryBest(std::vector<PlanCandidate> plans) {
    if (folded_) {
      llvm::erase_if(plans, [this](const PlanCandidate &plan) { return !costOfFew(plan); });
      llvm::stable_sort(plans, [this](const PlanCandidate &a, const PlanCandidate &b) {
        return costOfFew(a)->us < costOfFew(b)->us;
      });
      if (plans.size() > kMostFast + kMostSmall) {
        auto rest = plans.begin() + kMostFast;
        std::stable_sort(rest, plans.end(), [this](const auto &a, const auto &b) {
          return costOfFew(a)->memoryBytes < costOfFew(b)->memoryBytes;
        });
        plans.resize(kMostFast + kMostSmall);
      }
    }
    for (PlanCandidate &plan : plans)
      tryPlan(std::move(plan));
  }

  /// Splits one group after the other in the way that is fastest, and starts again after a gain.
  void refine() {
    int64_t left = std::clamp(kOperationBudget / std::max<int64_t>(operations_, 1),
                              kLeastRefinements, kMostRefinements);
    for (bool gained = true; gained && left > 0;) {
      gained = false;
      for (const ArgumentGroup &group : groups_.folded) {
        const PlanCandidate before = best();
        std::vector<MeshAxisOption> mesh = llvm::cantFail(parseMesh(before.mesh));
        for (const std::string &sharding : listShardings(group, mesh)) {
          if (left-- <= 0)
            return;
          PlanCandidate plan = before;
          llvm::erase_if(plan.shards, [&](const std::string &shard) {
            return llvm::StringRef(shard).starts_with(group.pattern + ": ");
          });
          plan.shards.push_back(group.pattern + ": " + sharding);
          tryPlan(std::move(plan), folded_ ? &before : nullptr);
        }
        gained |= isBetter(best(), before);
      }
    }
  }

  const SearchOptions &options_;
  plan::Topology topology_;
  mlir::MLIRContext context_; // its own, of one thread: types and attributes are made without locks
  mlir::OwningOpRef<mlir::ModuleOp> base_;
  std::optional<FoldedStep> folded_; // where layers repeat
  ArgumentGroups groups_;
  int64_t operations_ = 0, tried_ = 0;
  double boundUs_ = 0;
  llvm::StringMap<bool> known_;
  llvm::StringMap<std::optional<Cost>> few_; // by plan
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
