//===- plan_coster.cc --------------------------------------------------------------===//

#include "compiler/plan_coster.h"

#include "compiler/large_stack.h"
#include "passes/analysis/reshard_plans.h"
#include "passes/analysis/step_cost.h"
#include "passes/passes.h"
#include "passes/pipelines.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <map>

namespace coll::run {

/// Costs one plan after the other, in a context of its own.
class PlanCoster::Worker {
public:
  Worker(const PlanCoster &coster)
      : coster_(coster),
        context_(coster.like_.getDialectRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    context_.allowUnregisteredDialects(coster.like_.allowsUnregisteredDialects());
    // Remarks are dropped; to print the operations in them would take longest.
    context_.printOpOnDiagnostic(false);
  }

  std::optional<PlanCost> cost(StepNumber step, const PlanCandidate &plan) {
    mlir::ScopedDiagnosticHandler silence(&context_,
                                          [](mlir::Diagnostic &) { return mlir::success(); });
    mlir::ModuleOp read = this->read(step);
    if (!read)
      return std::nullopt;
    mlir::OwningOpRef<mlir::ModuleOp> module = read.clone();
    mlir::PassManager manager(&context_);
    manager.enableVerifier(false);
    mlir::coll::buildCostingPipeline(manager, optionsFor(plan));
    if (mlir::failed(manager.run(*module)))
      return std::nullopt;
    auto function = module->lookupSymbol<mlir::func::FuncOp>(mlir::coll::kStepFunction);
    mlir::coll::MeshOp mesh = *module->getOps<mlir::coll::MeshOp>().begin();
    auto model =
        plan::CostModel::overTopology(coster_.options_.topology, mlir::coll::toPlanMesh(mesh));
    if (!model.ok())
      return std::nullopt;
    const mlir::coll::StepCost cost = mlir::coll::getStepCost(function, mesh, *model);
    return PlanCost{cost.totalUs(), cost.calls, cost.wireBytes, cost.memoryBytes};
  }

private:
  /// The copy of a step; null if its bytecode cannot be read back.
  mlir::ModuleOp read(StepNumber step) {
    mlir::OwningOpRef<mlir::ModuleOp> &module = modules_[step];
    if (!module)
      module = mlir::parseSourceString<mlir::ModuleOp>(coster_.texts_[step], &context_);
    return module.get();
  }

  mlir::coll::StrategyOptions optionsFor(const PlanCandidate &plan) const {
    const Options &options = coster_.options_;
    mlir::coll::StrategyOptions strategy;
    strategy.mesh = plan.mesh;
    strategy.strategy = plan.strategy;
    strategy.shards = plan.shards; // the user's come last, so that they decide
    strategy.shards.insert(strategy.shards.end(), options.shards.begin(), options.shards.end());
    strategy.partition.topology = options.topologyFile;
    strategy.partition.narrowSums = options.narrowSums;
    strategy.partition.combineBytes = options.combineBytes;
    return strategy;
  }

  const PlanCoster &coster_;
  mlir::MLIRContext context_;
  std::map<StepNumber, mlir::OwningOpRef<mlir::ModuleOp>> modules_;
};

PlanCoster::PlanCoster(mlir::MLIRContext &like, Options options, unsigned threads)
    : like_(like), options_(std::move(options)), workers_(std::max(threads, 1u)) {}

PlanCoster::~PlanCoster() = default;

PlanCoster::StepNumber PlanCoster::add(mlir::ModuleOp module) {
  llvm::raw_string_ostream stream(texts_.emplace_back());
  (void)mlir::writeBytecodeToFile(module, stream);
  known_.emplace_back();
  return known_.size() - 1;
}

void PlanCoster::cost(StepNumber step, llvm::ArrayRef<PlanCandidate> plans) {
  std::vector<std::pair<const PlanCandidate *, std::optional<PlanCost> *>> open;
  for (const PlanCandidate &plan : plans)
    if (auto [known, isNew] = known_[step].try_emplace(plan.describe()); isNew)
      open.push_back({&plan, &known->second});
  std::atomic<size_t> next = 0;
  const size_t threads = std::max<size_t>(std::min(workers_.size(), open.size()), 1);
  mlir::coll::shareOnLargeStacks(static_cast<unsigned>(threads), [&](unsigned number) {
    std::unique_ptr<Worker> &worker = workers_[number];
    for (size_t i = next++; i < open.size(); i = next++) {
      if (!worker)
        worker = std::make_unique<Worker>(*this);
      *open[i].second = worker->cost(step, *open[i].first);
    }
  });
}

const std::optional<PlanCost> &PlanCoster::costOf(StepNumber step, const PlanCandidate &plan) {
  cost(step, plan);
  return known_[step].find(plan.describe())->second;
}

} // namespace coll::run
