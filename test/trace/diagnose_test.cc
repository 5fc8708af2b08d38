// Faults that were put into simulated runs must be found: the rank, the kind, and the first
// collective.

#include "test/profiler/mutate.h"
#include "test/trace/simulation.h"
#include "test/trace/temporary.h"
#include "tools/coll-trace/merge.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace coll::trace {
namespace {

using test::Injected;
using test::Simulation;

std::optional<Verdict> verdictOn(const Simulation &simulation) {
  rt::Result<Run> run = loadRun(test::simulate(simulation, test::folder()));
  EXPECT_TRUE(run.ok()) << run.status().message();
  return run.ok() ? diagnose(*run) : std::nullopt;
}

Simulation draw(std::mt19937_64 &random) {
  static constexpr int kRanks[] = {4, 8, 16, 33, 64};
  Simulation simulation;
  simulation.ranks = kRanks[random() % 5];
  simulation.collectives = 20 + random() % 30;
  simulation.runsAhead = random() % 2;
  simulation.seed = random();
  return simulation;
}

Injected drawFault(std::mt19937_64 &random, const Simulation &simulation) {
  static constexpr Fault kFaults[] = {Fault::Compute, Fault::Host,    Fault::Gpu,
                                      Fault::Network, Fault::Stopped, Fault::Mismatch};
  Injected fault;
  fault.fault = kFaults[random() % 6];
  fault.rank = static_cast<int>(random() % static_cast<uint64_t>(simulation.ranks));
  fault.seq = 3 + random() % (simulation.collectives - 8);
  fault.size = 0.4 + static_cast<double>(random() % 400) / 100;
  const double shares[] = {0, 0.3, 1}; // once, now and then, always
  fault.share = shares[random() % 3];
  if (fault.fault == Fault::Gpu)
    fault.isInCollective = random() % 2;
  // A host that is ahead of its GPU by more than its delay is not late.
  if (fault.fault == Fault::Host && simulation.runsAhead)
    fault.size += 1.5;
  return fault;
}

TEST(DiagnoseTest, NamesRankAndKindOfInjectedFaults) {
  std::mt19937_64 random(1);
  int right = 0, rightSeq = 0;
  std::string wrong;
  for (int i = 0; i < test::faults; ++i) {
    Simulation simulation = draw(random);
    simulation.fault = drawFault(random, simulation);
    const Injected &fault = *simulation.fault;
    std::optional<Verdict> verdict = verdictOn(simulation);
    const bool isRight = verdict && verdict->fault == fault.fault && verdict->rank == fault.rank;
    right += isRight;
    rightSeq += isRight && verdict->seq == fault.seq;
    if (!isRight)
      wrong += "seed " + std::to_string(simulation.seed) + ", " + std::to_string(simulation.ranks) +
               " ranks, ahead " + std::to_string(simulation.runsAhead) + ": rank " +
               std::to_string(fault.rank) + " " + faultName(fault.fault) + " size " +
               std::to_string(fault.size) + " in collective " +
               std::to_string(fault.isInCollective) + " at " + std::to_string(fault.seq) +
               "\n  found: " + (verdict ? describe(*verdict) : "nothing\n");
  }
  std::printf("%d of %d right, the first collective in %d\n", right, test::faults, rightSeq);
  EXPECT_GE(right * 100, test::faults * 95) << wrong;
  EXPECT_GE(rightSeq * 100, test::faults * 95);
}

TEST(DiagnoseTest, NamesNoRankOfUndisturbedRuns) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100; ++i) {
    Simulation simulation = draw(random);
    simulation.noise = 0.01 * static_cast<double>(1 + random() % 5);
    std::optional<Verdict> verdict = verdictOn(simulation);
    EXPECT_FALSE(verdict) << "seed " << simulation.seed << ": " << describe(*verdict);
  }
}

TEST(DiagnoseTest, SaysWhatTheOthersWaitedForAndWhere) {
  Simulation simulation;
  simulation.fault = Injected{Fault::Compute, 5, 12, 2.0, 1, false};
  std::optional<Verdict> verdict = verdictOn(simulation);
  ASSERT_TRUE(verdict);
  const std::string text = describe(*verdict);
  EXPECT_EQ(verdict->rank, 5);
  EXPECT_EQ(verdict->seq, 12u);
  EXPECT_NE(text.find("train.py:42"), std::string::npos) << text;
  EXPECT_NE(text.find("it computed for"), std::string::npos) << text;
  // Seven ranks wait for twice the compute time.
  EXPECT_NEAR(static_cast<double>(verdict->waitedNs), 7 * 2 * 2e6, 7 * 1e6);
  EXPECT_EQ(verdict->times, 28u);
}

TEST(DiagnoseTest, WithoutProxyEventsRanksAreStillFound) {
  Simulation simulation;
  simulation.hasProxies = false;
  simulation.fault = Injected{Fault::Host, 2, 7, 3.0, 0, false};
  std::optional<Verdict> verdict = verdictOn(simulation);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->fault, Fault::Host);
  EXPECT_EQ(verdict->rank, 2);
}

// A rank then has two collectives of one number; they must be distinguished, and so must their
// proxy ops.
TEST(DiagnoseTest, FunctionsThatAreCountedApartAreNoMismatch) {
  Simulation simulation;
  simulation.countsByFunction = true;
  EXPECT_FALSE(verdictOn(simulation)) << describe(*verdictOn(simulation));
  rt::Result<trace::Run> run = loadRun(test::simulate(simulation, test::folder()));
  ASSERT_TRUE(run.ok());
  const std::vector<Part> &parts = run->communicators.at(7).parts;
  ASSERT_EQ(parts.size(), 8u * 40);
  for (size_t i = 0; i < parts.size(); ++i) {
    ASSERT_EQ(parts[i].seq, i / 8);
    ASSERT_EQ(parts[i].rank, static_cast<int32_t>(i % 8));
    ASSERT_EQ(run->functions[parts[i].what], i / 8 % 3 == 2 ? "Broadcast" : "AllReduce");
    ASSERT_TRUE(parts[i].hasProxies);
  }
  for (Fault fault : {Fault::Mismatch, Fault::Network, Fault::Stopped}) {
    simulation.fault = Injected{fault, 5, 12, 2.0, 1, false};
    std::optional<Verdict> verdict = verdictOn(simulation);
    ASSERT_TRUE(verdict) << faultName(fault);
    EXPECT_EQ(verdict->fault, fault);
    EXPECT_EQ(verdict->rank, 5);
    EXPECT_EQ(verdict->seq, 12u);
  }
}

TEST(DiagnoseTest, TracesOfOneRankOrNoneNameNobody) {
  Simulation simulation;
  rt::Result<trace::Run> run = loadRun({test::simulate(simulation, test::folder())[0]});
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(diagnose(*run));
  EXPECT_FALSE(diagnose(trace::Run()));
}

// Whatever a file contains, the result is an error or a run, with or without a verdict.
TEST(DiagnoseTest, SurvivesMutants) {
  Simulation simulation;
  simulation.ranks = 2;
  simulation.collectives = 3;
  const std::string simulated = test::simulate(simulation, test::folder())[1];
  std::ifstream file(test::mutantsOf.empty() ? simulated : test::mutantsOf, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(whole.empty());
  std::mt19937_64 random(test::seed);
  const std::string path = test::folder() + "/mutant.pftrace";
  MergeOptions options;
  options.output = test::folder() + "/mutant.out";
  options.align = Align::Collectives;
  options.fromNs = 0;
  for (int i = 0; i < test::mutants / 10; ++i) {
    std::ofstream(path, std::ios::binary) << profiler::test::mutate(whole, random);
    rt::Result<trace::Run> run = loadRun({path});
    if (run.ok())
      (void)diagnose(*run);
    (void)merge({path}, options);
  }
}

} // namespace
} // namespace coll::trace
