#include "test/fuzz/ranks/command.h"

#include "test/fuzz/ranks/explore.h"
#include "test/fuzz/ranks/mutate.h"
#include "test/fuzz/ranks/pipeline.h"
#include "test/fuzz/runner.h"

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

Mutant makeMutant(uint64_t seed, int64_t index) {
  Random random(seed, uint64_t(index));
  while (true) {
    Protocol protocol = makePipeline(random);
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

} // namespace

int runRanks(const CampaignOptions &options) {
  Runner runner;
  CampaignFunctions functions;
  functions.run = [&](int64_t index) { return check(runner, makeMutant(options.seed, index)); };
  functions.minimize = [&](int64_t index, const Report &report) {
    return "// " + report.text + "\n" + makeMutant(options.seed, index).protocol.text();
  };
  return runCampaign(options, functions);
}

void printRanks(const CampaignOptions &options) {
  for (int64_t i = options.first; i < options.first + options.count; ++i) {
    Mutant mutant = makeMutant(options.seed, i);
    llvm::outs() << "// case " << i << ": " << (mutant.fault.empty() ? "right" : mutant.fault)
                 << '\n'
                 << mutant.protocol.text() << '\n';
  }
}

} // namespace coll::fuzz
