#include "test/fuzz/programs/command.h"

#include "test/fuzz/programs/differential.h"
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

uint64_t inputSeed(uint64_t seed, int64_t index) {
  return Random(seed + 1, uint64_t(index)).next();
}

} // namespace

int runPrograms(const CampaignOptions &options) {
  Runner runner;
  auto check = [&](const Program &program, int64_t index) {
    return checkProgram(runner, program, inputSeed(options.seed, index));
  };
  CampaignFunctions functions;
  functions.run = [&](int64_t index) { return check(makeProgram(options.seed, index), index); };
  functions.minimize = [&](int64_t index, const Report &report) {
    std::string wanted = signatureOf(report);
    auto stillFails = [&](const Program &candidate) {
      bool fails = false;
      runCases(
          index, index + 1, options.guard, [&](int64_t) { return check(candidate, index); },
          [&](int64_t, const Report &again) { return fails = signatureOf(again) == wanted; });
      return fails;
    };
    Program small = shrink(makeProgram(options.seed, index), stillFails, kShrinkBudget);
    return "// ranks: " + std::to_string(small.ranks) +
           ", state arguments: " + std::to_string(small.numState) + "\n" + small.text();
  };
  return runCampaign(options, functions);
}

void printPrograms(const CampaignOptions &options) {
  for (int64_t i = options.first; i < options.first + options.count; ++i) {
    Program program = makeProgram(options.seed, i);
    llvm::outs() << "// case " << i << ", ranks: " << program.ranks
                 << ", state arguments: " << program.numState << '\n'
                 << program.text() << '\n';
  }
}

} // namespace coll::fuzz
