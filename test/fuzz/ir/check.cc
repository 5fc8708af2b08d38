#include "test/fuzz/ir/check.h"

#include "driver/check.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <cmath>

namespace coll::fuzz {
namespace {

constexpr int64_t kMaxElements = 1 << 18;
constexpr int kMaxRanks = 16;
// Mutated programs amplify rounding; a wrong result is rarely close to the right one.
constexpr double kTolerance = 1e-2;
constexpr double kLargest = 1e12;

// Whether a run ends soon: loops with data in their conditions might not end at all.
bool isSmall(mlir::ModuleOp module) {
  int64_t elements = 0;
  bool isBounded = true;
  module.walk([&](mlir::Operation *op) {
    isBounded &= !llvm::isa<mlir::scf::WhileOp, mlir::scf::ForOp>(op);
    for (mlir::Type type : op->getResultTypes())
      if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
        elements += tensor.hasStaticShape() && tensor.getNumElements() < kMaxElements
                        ? tensor.getNumElements()
                        : kMaxElements;
  });
  return isBounded && elements < kMaxElements;
}

// Whether nothing reads elements that were never written: what such a step gives is not defined.
bool isDefined(mlir::ModuleOp module) {
  auto onlyWrites = [](mlir::OpOperand &use) {
    auto op = llvm::dyn_cast<mlir::linalg::LinalgOp>(use.getOwner());
    return op && op.isDpsInit(&use) && !op.payloadUsesValueFromOperand(&use);
  };
  return !module
              .walk([&](mlir::tensor::EmptyOp op) {
                return llvm::all_of(op->getUses(), onlyWrites) ? mlir::WalkResult::advance()
                                                               : mlir::WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool isTame(const run::Tensors &tensors) {
  for (const rt::HostTensor &tensor : tensors)
    for (int64_t i = 0, e = run::numElements(tensor); i < e; ++i)
      if (double x = run::element(tensor, i); !std::isfinite(x) || std::fabs(x) > kLargest)
        return false;
  return true;
}

class StepCheck {
public:
  StepCheck(Runner &runner, Random random) : runner_(runner), random_(random) {}

  Report check(const std::string &text) {
    auto step = runner_.load(text, std::nullopt);
    if (!step)
      return refused(step.takeError());
    bool mayRun = isSmall(*step->module);
    bool isStep = step->level <= run::Level::Annotated;
    auto single = isStep && isDefined(*step->module) ? runSingle(*step, mayRun) : std::nullopt;
    run::CompileOptions options;
    options.optLevel = 0;
    if (step->level == run::Level::Step) {
      options.ranks = random_.between(1, 4);
      options.dataParallel = true;
    }
    auto launched = runner_.launch(std::move(*step), options);
    if (!launched)
      return refused(launched.takeError());
    if (!mayRun || launched->executor->numRanks() > kMaxRanks)
      return {};
    auto ranks = execute(*launched, Phase::RunRanks);
    if (!ranks)
      return refused(ranks.takeError());
    return single ? compare(*ranks, *single) : Report();
  }

private:
  Report refused(llvm::Error error) {
    return {Verdict::Refused, runner_.explain(std::move(error))};
  }

  std::optional<run::RunResult> runSingle(const run::StepIr &step, bool mayRun) {
    auto copy = run::toSingleDevice(step);
    run::CompileOptions options;
    options.optLevel = 0;
    auto launched = copy ? runner_.launch(std::move(*copy), options) : copy.takeError();
    if (!launched || !mayRun) {
      llvm::consumeError(launched.takeError());
      return std::nullopt;
    }
    auto result = execute(*launched, Phase::RunSingle);
    if (result)
      return std::move(*result);
    llvm::consumeError(result.takeError());
    return std::nullopt;
  }

  llvm::Expected<run::RunResult> execute(run::LaunchedStep &step, Phase phase) {
    std::vector<rt::TensorInfo> state, batch;
    for (const rt::TensorInfo &info : step.executor->descriptor().args)
      (info.isState() ? state : batch).push_back(info);
    enterPhase(phase);
    auto batches = run::makeRandomBatches(batch, 1);
    run::RunResult result;
    llvm::Error error =
        run::runSteps(*step.executor, run::makeRandomState(state, 2), *batches, 1, result);
    enterPhase(Phase::Compile);
    if (error)
      return error;
    return result;
  }

  Report compare(const run::RunResult &got, const run::RunResult &want) {
    run::Tensors all = got.state, others = want.state;
    all.insert(all.end(), got.results.begin(), got.results.end());
    others.insert(others.end(), want.results.begin(), want.results.end());
    if (all.size() != others.size())
      return {Verdict::Finding, "mismatch: different numbers of results"};
    if (!isTame(others))
      return {};
    for (size_t i = 0; i < all.size(); ++i) {
      run::Comparison result = run::compareTensors("result " + std::to_string(i), all[i], others[i],
                                                   {kTolerance, kTolerance, false});
      if (!result.isOk)
        return {Verdict::Finding, "mismatch: " + result.name + " differs by " +
                                      std::to_string(result.delta) + " " + result.note};
    }
    return {};
  }

  Runner &runner_;
  Random random_;
};

} // namespace

Report checkStep(Runner &runner, const std::string &text, Random random) {
  return StepCheck(runner, random).check(text);
}

Report checkPasses(Runner &runner, const std::string &text, Random random) {
  static const std::vector<std::string> kPasses = {"coll-import-stablehlo",
                                                   "coll-drop-empty",
                                                   "coll-insert-data-parallel{ranks=3}",
                                                   "coll-propagate",
                                                   "coll-insert-reshards",
                                                   "coll-partition",
                                                   "coll-split-ranks",
                                                   "coll-verify-ranks",
                                                   "coll-lower-indexed",
                                                   "coll-lower-contractions",
                                                   "coll-fuse-kernels",
                                                   "coll-outline-kernels",
                                                   "coll-to-exec",
                                                   "coll-emit-executable",
                                                   "canonicalize",
                                                   "cse"};
  enterPhase(Phase::Parse);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&runner.context()));
  if (!module)
    return {Verdict::Refused, runner.explain(llvm::Error::success())};
  enterPhase(Phase::Compile);
  std::string pipeline;
  // A run of passes in their order, now and then with others between.
  auto next = size_t(random.below(int64_t(kPasses.size())));
  for (int64_t i = random.between(1, 6); i > 0; --i, next = (next + 1) % kPasses.size()) {
    if (random.chance(0.25))
      next = size_t(random.below(int64_t(kPasses.size())));
    pipeline += (pipeline.empty() ? "" : ",") + kPasses[next];
  }
  mlir::PassManager manager(&runner.context(), mlir::ModuleOp::getOperationName());
  if (mlir::failed(mlir::parsePassPipeline(pipeline, manager, llvm::nulls())))
    return {Verdict::Finding, "no such passes: " + pipeline};
  if (mlir::failed(manager.run(*module)))
    return {Verdict::Refused, runner.explain(llvm::Error::success())};
  return {};
}

} // namespace coll::fuzz
