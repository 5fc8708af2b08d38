#include "test/fuzz/ranks/command.h"

#include "test/fuzz/ranks/compiled.h"
#include "test/fuzz/ranks/explore.h"
#include "test/fuzz/ranks/mutate.h"
#include "test/fuzz/ranks/pipeline.h"
#include "test/fuzz/runner.h"

#include "compiler/error.h"
#include "passes/passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

namespace coll::fuzz {
namespace {

constexpr size_t kMaxStates = 30000;

struct Mutant {
  Protocol protocol;
  std::string fault; // what some order of its steps does
};

/// Takes what `make` gives until its states are few enough.
template <typename Make>
Mutant makeMutant(uint64_t seed, int64_t index, Make make) {
  Random random(seed, uint64_t(index));
  while (true) {
    Protocol protocol = make(random);
    // One in eight stays right.
    for (int64_t i = random.below(8) == 0 ? 0 : random.between(1, 3); i > 0; --i)
      mutate(protocol, random);
    if (auto fault = explore(protocol, kMaxStates))
      return {std::move(protocol), std::move(*fault)};
  }
}

Report check(Runner &runner, const Mutant &mutant) {
  enterPhase(Phase::Parse);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(mutant.protocol.text(),
                                                        mlir::ParserConfig(&runner.context()));
  if (!module)
    return {Verdict::Finding, "no valid text: " + runner.explain(llvm::Error::success())};
  enterPhase(Phase::Compile);
  mlir::PassManager manager(&runner.context(), mlir::ModuleOp::getOperationName());
  manager.addPass(mlir::coll::createVerifyRanksPass());
  bool isProved = mlir::succeeded(manager.run(*module));
  std::string reason = runner.explain(llvm::Error::success());
  if (isProved && !mutant.fault.empty())
    return {Verdict::Finding, "proved, but " + mutant.fault};
  if (!isProved && mutant.fault.empty())
    return {Verdict::Finding, "refused, but right: " + reason};
  return {isProved ? Verdict::Ok : Verdict::Refused, reason};
}

template <typename Make>
int runMutants(Runner &runner, const CampaignOptions &options, Make make) {
  CampaignFunctions functions;
  functions.run = [&](int64_t index) {
    return check(runner, makeMutant(options.seed, index, make));
  };
  functions.minimize = [&](int64_t index, const Report &report) {
    return "// " + report.text + "\n" + makeMutant(options.seed, index, make).protocol.text();
  };
  return runCampaign(options, functions);
}

/// The pipeline of a file, which has to be one that can be tried out.
llvm::Expected<Protocol> readPipeline(Runner &runner, const std::string &file) {
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, mlir::ParserConfig(&runner.context()));
  if (!module)
    return run::makeError("cannot be parsed");
  llvm::Expected<Protocol> protocol = readProtocol(*module);
  if (!protocol)
    return protocol;
  std::optional<std::string> fault = explore(*protocol, kMaxStates);
  if (!fault)
    return run::makeError("has too many states to try out");
  if (!fault->empty())
    return run::makeError("is wrong: " + *fault);
  return protocol;
}

} // namespace

int runRanks(const CampaignOptions &options) {
  Runner runner;
  return runMutants(runner, options, makePipeline);
}

int runPipelines(const CampaignOptions &options, const std::vector<std::string> &files) {
  Runner runner;
  std::vector<Protocol> pipelines;
  for (const std::string &file : files) {
    llvm::Expected<Protocol> pipeline = readPipeline(runner, file);
    if (pipeline)
      pipelines.push_back(std::move(*pipeline));
    else
      llvm::errs() << file << ": left out: " << llvm::toString(pipeline.takeError()) << "\n";
  }
  if (pipelines.empty()) {
    llvm::errs() << "coll-fuzz: error: pipelines needs files of rank programs, as coll-run "
                    "--stages=2 --dump-stages=DIR writes DIR/*-split-stages.mlir\n";
    return 1;
  }
  return runMutants(runner, options, [&](Random &random) { return random.pick(pipelines); });
}

void printRanks(const CampaignOptions &options) {
  for (int64_t i = options.first; i < options.first + options.count; ++i) {
    Mutant mutant = makeMutant(options.seed, i, makePipeline);
    llvm::outs() << "// case " << i << ": " << (mutant.fault.empty() ? "right" : mutant.fault)
                 << '\n'
                 << mutant.protocol.text() << '\n';
  }
}

} // namespace coll::fuzz
