#include "test/fuzz/programs/command.h"

#include "test/fuzz/programs/differential.h"
#include "test/fuzz/programs/distribute.h"
#include "test/fuzz/programs/generator.h"
#include "test/fuzz/programs/shrink.h"

#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"

#include <functional>

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
using RunOn = std::function<Report(Runner &runner, int64_t index)>;

// Cases of one process that run at the same time, each with a compiler's context of its own. The
// reports come in order.
class Together {
public:
  Together(int64_t count, RunOn run) : runners_(size_t(count)), run_(std::move(run)) {}

  Report reportOf(int64_t index) {
    if (index < first_ || index >= first_ + int64_t(reports_.size()))
      runFrom(index);
    return reports_[size_t(index - first_)];
  }

private:
  void runFrom(int64_t first) {
    first_ = first;
    reports_.assign(runners_.size(), {});
    std::vector<llvm::thread> threads;
    for (size_t i = 0; i < runners_.size(); ++i)
      threads.emplace_back(std::optional<unsigned>(kStackBytes),
                           [this, i] { reports_[i] = run_(runners_[i], first_ + int64_t(i)); });
    for (llvm::thread &thread : threads)
      thread.join();
  }

  // What compiling needs, as the tools have it.
  static constexpr unsigned kStackBytes = 256u << 20;
  std::vector<Runner> runners_;
  RunOn run_;
  int64_t first_ = 0;
  std::vector<Report> reports_;
};

int runSteps(const CampaignOptions &options, const StepOptions &steps, Make make,
             bool countsReshards) {
  Runner runner;
  ReshardCounts totals;
  const DifferentialOptions differential = {countsReshards, steps.gpu};
  auto checkOn = [&](Runner &own, const Program &program, int64_t index) {
    return checkProgram(own, program, inputSeed(options.seed, index), differential);
  };
  auto check = [&](const Program &program, int64_t index) {
    return checkOn(runner, program, index);
  };
  Together together(steps.together, [&](Runner &own, int64_t index) {
    return checkOn(own, make(options.seed, index), index);
  });
  CampaignFunctions functions;
  functions.run = [&](int64_t index) {
    return steps.together > 1 ? together.reportOf(index) : check(make(options.seed, index), index);
  };
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
                 << " changes of sharding; above the least bytes: " << totals.withFewerCalls
                 << " with fewer calls, " << totals.others << " others, "
                 << totals.whereCallsAreFree << " where calls cost nothing\n";
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

int runPrograms(const CampaignOptions &options, const StepOptions &steps) {
  return runSteps(options, steps, makeProgram, /*countsReshards=*/false);
}

int runShardings(const CampaignOptions &options, const StepOptions &steps) {
  return runSteps(options, steps, makeSharded, /*countsReshards=*/true);
}

void printPrograms(const CampaignOptions &options) { printSteps(options, makeProgram); }

void printShardings(const CampaignOptions &options) { printSteps(options, makeSharded); }

} // namespace coll::fuzz
