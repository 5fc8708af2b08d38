#include "test/fuzz/programs/command.h"

#include "test/fuzz/programs/differential.h"
#include "test/fuzz/programs/distribute.h"
#include "test/fuzz/programs/generator.h"
#include "test/fuzz/programs/shrink.h"

#include "llvm/Support/raw_ostream.h"

namespace coll::fuzz {
namespace {

constexpr int kShrinkBudget = 400;

Program makeProgram(uint64_t seed, int64_t index) {
  Random random(seed, uint64_t(index));
  return Generator(random).generate();
}

// Shardings are imported with the operations that JAX writes.
bool isStablehlo(const Region &region) {
  for (const Node &node : region.nodes) {
    if (node.name.rfind("stablehlo.", 0) != 0 && node.name.rfind("chlo.", 0) != 0)
      return false;
    for (const Region &nested : node.regions)
      if (!isStablehlo(nested))
        return false;
  }
  return true;
}

Program makeSharded(uint64_t seed, int64_t index) {
  Random random(seed + 2, uint64_t(index));
  Program program = makeProgram(seed, index);
  while (program.body.args.empty() || !isStablehlo(program.body)) {
    Random another(random.next(), uint64_t(index));
    program = Generator(another).generate();
  }
  distributeShardy(program, random);
  return program;
}

uint64_t inputSeed(uint64_t seed, int64_t index) {
  return Random(seed + 1, uint64_t(index)).next();
}

using Make = Program (*)(uint64_t seed, int64_t index);

int runSteps(const CampaignOptions &options, Make make, bool countsReshards) {
  Runner runner;
  ReshardCounts totals;
  auto check = [&](const Program &program, int64_t index) {
    return checkProgram(runner, program, inputSeed(options.seed, index), countsReshards);
  };
  CampaignFunctions functions;
  functions.run = [&](int64_t index) { return check(make(options.seed, index), index); };
  functions.onReport = [&](const Report &report) { totals.add(report.text); };
  functions.minimize = [&](int64_t index, const Report &report) {
    std::string wanted = signatureOf(report);
    auto stillFails = [&](const Program &candidate) {
      bool fails = false;
      runCases(
          index, index + 1, options.guard, [&](int64_t) { return check(candidate, index); },
          [&](int64_t, const Report &again) { return fails = signatureOf(again) == wanted; });
      return fails;
    };
    Program small = shrink(make(options.seed, index), stillFails, kShrinkBudget);
    return "// ranks: " + std::to_string(small.ranks) +
           ", state arguments: " + std::to_string(small.numState) + "\n" + small.text();
  };
  const int found = runCampaign(options, functions);
  if (countsReshards)
    llvm::outs() << totals.plans
                 << " changes of sharding; more than a tenth above the bound: " << totals.padded
                 << " that carry padding, " << totals.farAboveBound << " others\n";
  return found;
}

void printSteps(const CampaignOptions &options, Make make) {
  for (int64_t i = options.first; i < options.first + options.count; ++i) {
    Program program = make(options.seed, i);
    llvm::outs() << "// case " << i << ", ranks: " << program.ranks
                 << ", state arguments: " << program.numState << '\n'
                 << program.text() << '\n';
  }
}

} // namespace

int runPrograms(const CampaignOptions &options) {
  return runSteps(options, makeProgram, /*countsReshards=*/false);
}

int runShardings(const CampaignOptions &options) {
  return runSteps(options, makeSharded, /*countsReshards=*/true);
}

void printPrograms(const CampaignOptions &options) { printSteps(options, makeProgram); }

void printShardings(const CampaignOptions &options) { printSteps(options, makeSharded); }

} // namespace coll::fuzz
