// Schedules of pipelines: they must be complete, free of deadlock, and as good as the papers say.

#include "plan/schedule/hand_on.h"
#include "plan/schedule/pipeline.h"
#include "plan/schedule/schedule.h"
#include "plan/schedule/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coll::plan::test {
namespace {

using ::testing::HasSubstr;

constexpr const char *kNames[] = {"gpipe", "1f1b",  "interleaved", "interleaved:3",
                                  "zb-h1", "zb-h2", "zbv",         "dualpipev"};

Schedule make(const std::string &name, int ranks, int microBatches) {
  Result<Schedule> schedule = makeSchedule(name, ranks, microBatches);
  EXPECT_TRUE(schedule.ok()) << schedule.error();
  return *schedule;
}

std::string describe(const Schedule &schedule) {
  return schedule.name + " on " + std::to_string(schedule.numRanks()) + " ranks, " +
         std::to_string(schedule.numMicroBatches) + " micro-batches";
}

// Calls test(schedule) for every shape that the schedule supports.
template <typename Test>
void forEachShape(Test test) {
  for (const char *name : kNames)
    for (int ranks = 1; ranks <= 6; ++ranks)
      for (int microBatches = 1; microBatches <= 17; ++microBatches) {
        if (std::string(name) == "dualpipev" && microBatches < 2 * ranks)
          continue;
        const Schedule schedule = make(name, ranks, microBatches);
        SCOPED_TRACE(describe(schedule));
        test(schedule);
      }
}

bool hasEnoughMicroBatches(const Schedule &schedule) {
  return schedule.numMicroBatches >= 2 * schedule.numRanks();
}

TEST(ScheduleTest, AllShapesAreCompleteAndFreeOfDeadlock) {
  forEachShape([](const Schedule &schedule) { EXPECT_EQ(findFault(schedule).text, ""); });
}

TEST(ScheduleTest, FewTransfersInFlightAreEnough) {
  forEachShape([](Schedule schedule) {
    const double whole = simulate(schedule, {{}})->makespan;
    const double early = simulateCompiled(schedule, {{}})->makespan;
    schedule.maxInFlight = neededInFlight(schedule);
    EXPECT_LE(simulate(schedule, {{}})->makespan, whole);
    EXPECT_LE(simulateCompiled(schedule, {{}})->makespan, early);
    EXPECT_EQ(findFault(schedule).text, "");
    if (schedule.name != "gpipe") {
      EXPECT_LE(schedule.maxInFlight, 2 * schedule.numRanks());
    }
  });
}

TEST(ScheduleTest, BubblesAreThoseOfThePapers) {
  int numCompared = 0;
  forEachShape([&](const Schedule &schedule) {
    const WorkTimes times;
    const std::optional<double> published = publishedBubble(schedule, times);
    if (!published || !hasEnoughMicroBatches(schedule))
      return;
    ++numCompared;
    EXPECT_DOUBLE_EQ(simulate(schedule, {times})->largestBubble(), *published);
  });
  EXPECT_GT(numCompared, 200);
}

TEST(ScheduleTest, BubblesOfUnequalTimesAreThoseOfThePapers) {
  const WorkTimes times{2, 2.5, 1.5};
  for (const char *name : {"gpipe", "1f1b", "interleaved", "zb-h1"})
    for (int ranks = 1; ranks <= 6; ++ranks) {
      const Schedule schedule = make(name, ranks, 4 * ranks);
      EXPECT_NEAR(simulate(schedule, {times})->largestBubble(), *publishedBubble(schedule, times),
                  1e-9)
          << describe(schedule);
    }
}

TEST(ScheduleTest, PeakActivationsAreThoseOfThePapers) {
  int numCompared = 0;
  forEachShape([&](const Schedule &schedule) {
    const std::optional<int> published = publishedPeak(schedule);
    if (!published || !hasEnoughMicroBatches(schedule))
      return;
    ++numCompared;
    const Timeline timeline = *simulate(schedule, {{}});
    EXPECT_EQ(*std::max_element(timeline.peakActivations.begin(), timeline.peakActivations.end()),
              *published);
  });
  EXPECT_GT(numCompared, 200);
}

TEST(ScheduleTest, PictureShowsRanksOverTime) {
  const Schedule schedule = make("1f1b", 2, 3);
  const Timeline timeline = *simulate(schedule, {{}});
  EXPECT_EQ(drawTimeline(schedule, timeline, 1, 80),
            "stage 0  F0 F1       B0--- F2 B1---    B2---\n"
            "stage 1     F0 B0--- F1 B1--- F2 B2---\n");
  EXPECT_EQ(drawTimeline(schedule, timeline, 1, 20), "");
}

TEST(ScheduleTest, UnknownNamesAndShapesAreRefused) {
  EXPECT_THAT(makeSchedule("2f2b", 2, 4).error(),
              HasSubstr("schedule '2f2b' is unknown; use gpipe, 1f1b"));
  EXPECT_THAT(makeSchedule("gpipe:2", 2, 4).error(), HasSubstr("only interleaved takes"));
  EXPECT_THAT(makeSchedule("interleaved:0", 2, 4).error(), HasSubstr("from 1 to 64"));
  EXPECT_THAT(makeSchedule("1f1b", 0, 4).error(), HasSubstr("from 1 to 1024 stages, not 0"));
  EXPECT_THAT(makeSchedule("1f1b", 2, 0).error(), HasSubstr("micro-batches, not 0"));
  EXPECT_THAT(makeSchedule("dualpipev", 4, 7).error(), HasSubstr("at least 8 micro-batches"));
}

std::string faultOf(const std::string &table) { return parseSchedule(table, "t", 2, 2).error(); }

TEST(ScheduleTableTest, IsReadAsWritten) {
  const Result<Schedule> schedule = parseSchedule("# two stages\n"
                                                  "activations 2\n"
                                                  "in-flight 1\n"
                                                  "rank 0: F0.0 F0.1 I0.0 W0.0 B0.1\n"
                                                  "rank 1: F1.0 B1.0 F1.1 B1.1 # the last\n",
                                                  "t", 2, 2);
  ASSERT_TRUE(schedule.ok()) << schedule.error();
  EXPECT_EQ(schedule->numChunks, 2);
  EXPECT_EQ(toString(schedule->ranks[0][2]), "I0.0");
  EXPECT_EQ(schedule->maxActivations, 2);
  EXPECT_EQ(schedule->maxInFlight, 1);
}

TEST(ScheduleTableTest, FaultsNameTheEntry) {
  const std::string second = "rank 1: F1.0 B1.0 F1.1 B1.1\n";
  EXPECT_EQ(faultOf("stage 0"), "t:1: 'stage': expected rank, activations or in-flight");
  EXPECT_EQ(
      faultOf("rank 0: F0.0 X"),
      "t:1: 'X' is not an entry; expected F, B, I or W, a chunk, a dot and a micro-batch, as F0.3");
  EXPECT_EQ(faultOf("rank 0:\n"
                    "rank 0:"),
            "t:2: rank 0 is there already, in line 1; join the lines");
  EXPECT_EQ(faultOf("activations 0"), "t:1: activations needs one number, from 1");
  EXPECT_EQ(faultOf("rank 0: F0.0"),
            "t: has no line for rank 1 of 2; add 'rank 1:' and its entries, as F0.0 B0.0");
  EXPECT_EQ(faultOf("rank 0: F0.0 F0.0 F0.1 B0.0 B0.1\n" + second),
            "t:1: F0.0, entry 2 of rank 0, is there already: entry 1 of rank 0; leave one out");
  EXPECT_EQ(faultOf("rank 0: F0.0 F0.1 B0.0\n" + second),
            "t:1: rank 0 lacks entry B0.1; add it, or I and W");
  EXPECT_EQ(faultOf("rank 0: F0.0 F0.1 B0.0 I0.1\n" + second),
            "t:1: rank 0 lacks entry W0.1; add it behind the I");
  EXPECT_EQ(faultOf("rank 0: F0.0 F0.1 B0.0 B0.1 F1.0\n" + second),
            "t:2: F1.0, entry 1 of rank 1, is work of chunk 1, which rank 0 has; move it there");
  EXPECT_EQ(faultOf("rank 0: F0.0 F0.1 B0.0 B0.1 F0.2\n" + second),
            "t:1: F0.2, entry 5 of rank 0, names a micro-batch that is not there; there are 2");
  EXPECT_EQ(
      faultOf("activations 1\nrank 0: F0.0 F0.1 B0.0 B0.1\n" + second),
      "t:2: F0.1, entry 2 of rank 0, exceeds the limit of 1 activations; move a B or W before "
      "it, or raise the limit");
}

TEST(ScheduleTableTest, DeadlocksNameTheCycle) {
  EXPECT_EQ(faultOf("rank 0: F0.0 B0.0 F0.1 B0.1\n"
                    "rank 1: F1.0 F1.1 B1.0 B1.1\n"),
            "t:2: entries wait for one another: B0.0 of rank 0 waits for B1.0 of rank 1; F1.1 of "
            "rank 1 waits for F0.1 of rank 0; put B1.0 before F1.1 of rank 1");
  EXPECT_THAT(faultOf("in-flight 1\n"
                      "rank 0: F0.0 F0.1 B0.0 B0.1\n"
                      "rank 1: F1.1 F1.0 B1.0 B1.1\n"),
              HasSubstr("with at most 1 transfers in flight between two chunks; put F1.0 before "
                        "F1.1 of rank 1, or raise in-flight"));
}

TEST(ScheduleTest, HandingGradientsOnEarlyIsNeverSlower) {
  forEachShape([](const Schedule &schedule) {
    const Timeline late = *simulate(schedule, {{}}), early = *simulateCompiled(schedule, {{}});
    EXPECT_LE(early.makespan, late.makespan);
    if (schedule.name.rfind("zb-h", 0) == 0) { // whose backward passes are cut already
      EXPECT_EQ(early.makespan, late.makespan);
    }
  });
  // Each stage waits only for the input gradients of the next one.
  const Timeline timeline = *simulateCompiled(make("1f1b", 4, 12), {{}});
  EXPECT_DOUBLE_EQ(timeline.makespan, 3 * 12 + 3 * 2);
}

TEST(PipelineTest, TablesAreReadBack) {
  forEachShape([](const Schedule &schedule) {
    const Result<Schedule> read = parseSchedule(toTable(schedule), schedule.name,
                                                schedule.numRanks(), schedule.numMicroBatches);
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_EQ(read->ranks, schedule.ranks);
    EXPECT_EQ(read->rankOfChunk, schedule.rankOfChunk);
  });
}

TEST(PipelineTest, KeptActivationsAreThoseOfTheFormula) {
  for (const char *name : kNames) {
    Pipeline pipeline;
    pipeline.schedule = make(name, 4, 16);
    pipeline.chunks.assign(size_t(pipeline.schedule.numChunks), {{1, 1, 1}, 100});
    KeptActivations peak;
    for (int rank = 0; rank < 4; ++rank)
      peak.count = std::max(peak.count, peakKept(pipeline, rank).count);
    EXPECT_EQ(peak.count, *publishedPeak(pipeline.schedule)) << name;
    EXPECT_EQ(peakKept(pipeline, 0).bytes, 100 * peakKept(pipeline, 0).count);
    EXPECT_EQ(keptAfterEntries(pipeline, 3).back().count, 0);
    EXPECT_DOUBLE_EQ(pipeline.workUs(0), 3.0 * pipeline.schedule.numChunks / 4);
  }
}

} // namespace
} // namespace coll::plan::test
