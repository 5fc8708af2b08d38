//===- report_test.cc - the numbers of a report ---------------------------------===//

#include "driver/report/analysis.h"
#include "driver/report/data.h"
#include "driver/report/format.h"
#include "driver/report/page.h"
#include "driver/report/record_json.h"
#include "driver/report/series.h"
#include "driver/report/shape.h"
#include "driver/report/waits.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace coll;
using namespace coll::run;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ReportFormatTest, KeepsThreeDigits) {
  EXPECT_EQ(formatBytes(512), "512 B");
  EXPECT_EQ(formatBytes(999999), "1 MB");
  EXPECT_EQ(formatTime(12345), "12.3 µs");
  EXPECT_EQ(formatTime(0), "0");
  EXPECT_EQ(formatNumber(0.01963), "0.0196");
  EXPECT_EQ(formatNumber(-2.5), "-2.5");
  EXPECT_EQ(formatCount(-1234567), "-1,234,567");
  EXPECT_EQ(formatPercent(0.004), "0.4 %");
  EXPECT_EQ(formatRanges({{0, 3}, {5, 5}, {7, 8}}), "0–3, 5, 7, 8");
}

TEST(ReportSeriesTest, PointsHaveTheirRange) {
  std::vector<double> values = {1, 5, 3, 4, 7};
  std::vector<SeriesPoint> points = downsample(values, 2);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].last, 3);
  EXPECT_EQ(points[0].min, 1);
  EXPECT_EQ(points[0].max, 5);
  EXPECT_DOUBLE_EQ(points[0].mean, 3);
  EXPECT_EQ(points[1].first, 4);
  EXPECT_DOUBLE_EQ(points[1].mean, 5.5);
}

TEST(ReportSeriesTest, WhatIsNotFiniteIsLeftOut) {
  std::vector<SeriesPoint> points = downsample({kNan, HUGE_VAL, 2, kNan}, 2);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].numFinite, 0);
  EXPECT_EQ(points[1].numFinite, 1);
  EXPECT_EQ(points[1].mean, 2);
  double most = std::numeric_limits<double>::max();
  EXPECT_EQ(downsample({most, most}, 1)[0].mean, most);
}

/// A step of one operation on `recorder`'s rank.
void step(Recorder &recorder, int rank, bool fails = false) {
  constexpr uint64_t kFunction = 5, kCall = 7, kWait = 8;
  rt::TraceEvent event;
  event.rank = rank;
  event.op = 1;
  event.bytes = 8;
  auto tell = [&](rt::TraceLevel level, rt::TracePhase phase, uint64_t id, uint64_t parent,
                  const char *name = "") {
    event.level = level;
    event.phase = phase;
    event.id = id;
    event.parent = parent;
    event.name = name;
    event.failed = fails && level == rt::TraceLevel::Function;
    event.timeNs = rt::traceClockNs();
    recorder.onEvent(event);
  };
  using rt::TraceLevel;
  using rt::TracePhase;
  tell(TraceLevel::Function, TracePhase::Begin, kFunction, 0, "step");
  tell(TraceLevel::Call, TracePhase::Begin, kCall, kFunction, "all_reduce");
  tell(TraceLevel::Call, TracePhase::Begin, 9, kCall,
       "all_gather"); // part of another: not recorded
  tell(TraceLevel::Call, TracePhase::Issued, kCall, 0);
  tell(TraceLevel::Wait, TracePhase::Begin, kWait, kCall, "wait");
  tell(TraceLevel::Wait, TracePhase::End, kWait, 0);
  tell(TraceLevel::Call, TracePhase::End, kCall, 0);
  tell(TraceLevel::Function, TracePhase::End, kFunction, 0);
}

TEST(ReportRecorderTest, SumsCompleteSteps) {
  Recorder recorder(2);
  for (int i = 0; i < 3; ++i)
    step(recorder, 1);
  step(recorder, 1, /*fails=*/true);
  const RankRecord &record = recorder.record(1);
  EXPECT_EQ(record.numSteps, 3);
  EXPECT_TRUE(record.hasFailed);
  ASSERT_EQ(record.ops.size(), 2u);
  EXPECT_EQ(record.ops[1].calls, 3);
  EXPECT_EQ(record.ops[1].bytes, 24);
  EXPECT_EQ(record.warmOps[1].calls, 2);
  EXPECT_LE(record.ops[1].blockedNs, record.ops[1].totalNs);
  EXPECT_EQ(record.calls.size(), 1u);
  EXPECT_EQ(recorder.record(0).numSteps, 0);
}

TEST(ReportRecorderTest, BucketsStayFew) {
  Recorder recorder(1);
  for (int i = 0; i < 5000; ++i)
    step(recorder, 0);
  const RankRecord &record = recorder.record(0);
  EXPECT_LE(record.buckets.size(), 1024u);
  EXPECT_EQ(record.stepsPerBucket, 8);
  int64_t steps = 0;
  for (const StepBucket &bucket : record.buckets)
    steps += bucket.steps;
  EXPECT_EQ(steps, 5000);
}

TEST(ReportRecorderTest, RecordsTravelAsText) {
  Recorder recorder(1);
  step(recorder, 0);
  RankRecord record = recorder.record(0);
  record.host = "h\xff"; // no UTF-8
  llvm::Expected<RankRecord> read = readRecord(writeRecord(record));
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->calls.size(), 1u);
  EXPECT_EQ(read->ops[1].totalNs, record.ops[1].totalNs);
  for (const char *text : {"", "[]", "{\"rank\":0}", "{\"rank\":\"x\"}"}) {
    llvm::Expected<RankRecord> bad = readRecord(text);
    EXPECT_FALSE(static_cast<bool>(bad)) << text;
    llvm::consumeError(bad.takeError());
  }
}

/// Two classes: rank 0 sends to rank 1, then `reductions` all_reduces of both.
ReportContents makeContents(int reductions) {
  ReportContents contents;
  contents.step = "folder/step.mlir";
  contents.numRanks = 2;
  for (int rank : {0, 1}) {
    rt::Descriptor &descriptor = contents.classes.emplace_back();
    descriptor.axes = {{"x", 2}};
    descriptor.ranks = {{rank, rank}};
    descriptor.groups = {{{0, 1}}};
    rt::OpInfo op;
    op.kind = rank == 0 ? "send" : "recv";
    op.bytes = 4;
    op.group = 0;
    descriptor.ops.push_back(op);
    for (int i = 0; i < reductions; ++i) {
      op.kind = "all_reduce";
      op.bytes = 100;
      descriptor.ops.push_back(op);
    }
    RankRecord &record = contents.ranks.emplace_back();
    record.rank = rank;
    record.numSteps = 2;
    record.lastNs = 1000;
    record.buckets = {{1, 900, 100, 1000}, {1, 600 + 100 * rank, 400 - 100 * rank, 1000}};
    record.calls.push_back({0, 1 - rank, 0, 10, 20, 10});
    for (int i = 0; i < reductions; ++i) {
      record.ops.resize(static_cast<size_t>(reductions) + 1);
      record.ops[static_cast<size_t>(i) + 1] = {2, 200, 100, 100};
      record.calls.push_back({i + 1, -1, 0, 30 + 10 * i, 40 + 10 * i, 10});
    }
    record.warmOps = record.ops;
    for (OpTimes &times : record.warmOps)
      times = {times.calls / 2, times.bytes / 2, times.totalNs * (rank + 1) / 4,
               times.blockedNs / 4};
  }
  return contents;
}

TEST(ReportAnalysisTest, OperationsOfClassesAreOneRow) {
  ReportContents contents = makeContents(2);
  Analysis analysis = analyse(contents);
  ASSERT_EQ(analysis.rows.size(), 4u); // send, two all_reduces, recv
  const OperationRow &row = analysis.rows[analysis.rowOf[0][1]];
  EXPECT_EQ(analysis.rowOf[0][1], analysis.rowOf[1][1]);
  EXPECT_NE(analysis.rowOf[0][1], analysis.rowOf[0][2]);
  EXPECT_EQ(row.numRanks, 2);
  EXPECT_EQ(row.callsPerStep, 1);
  EXPECT_EQ(row.bytesPerStep, 100);
  ASSERT_TRUE(row.time.has_value());
  EXPECT_EQ(row.time->min, 25); // without the first step
  EXPECT_EQ(row.time->median, 37.5);
  EXPECT_EQ(row.time->max, 50);
  EXPECT_EQ(row.time->maxRank, 1);
  EXPECT_DOUBLE_EQ(row.blockedShare, 50.0 / 2000);
  EXPECT_EQ(analysis.slowest, 1u); // computes longest in the second step
  EXPECT_EQ(analysis.ranks[1].computeNs, 700);
}

TEST(ReportWaitsTest, TheLastToComeIsWaitedFor) {
  ReportContents contents = makeContents(1);
  contents.ranks[0].calls[1] = {1, -1, 0, 30, 130, 60}; // 40 of 100 are hidden
  contents.ranks[1].calls[1] = {1, -1, 0, 110, 130, 20};
  const Analysis analysis = analyse(contents);
  const StepWaits waits = findWaits(analysis);
  ASSERT_EQ(waits.operations.size(), 3u); // all_reduce, send, recv
  const OperationWaits &first = waits.operations[0];
  EXPECT_EQ(first.row, analysis.rowOf[0][1]);
  EXPECT_EQ(first.times.hiddenNs, 40);
  EXPECT_EQ(first.times.waitNs, 60); // of the 80 that rank 0 was in it for longer than rank 1
  EXPECT_EQ(first.times.moveNs, 20);
  EXPECT_EQ(first.waitNsFor, (std::map<int, double>{{1, 60}}));
  EXPECT_EQ(waits.times.exposedNs(), 100);                               // transfers included
  EXPECT_EQ(waits.waitNsFor, (std::map<int, double>{{0, 10}, {1, 70}})); // each for the other
}

TEST(ReportShapeTest, RunsFoldAndTransfersLink) {
  ReportContents contents = makeContents(300);
  Analysis analysis = analyse(contents);
  Shape shape = makeShape(contents, analysis);
  EXPECT_TRUE(shape.isMeasured);
  ASSERT_EQ(shape.lanes.size(), 2u);
  ASSERT_EQ(shape.runs.size(), 2u);
  EXPECT_EQ(shape.runs[1].repeats, 300u);
  ASSERT_EQ(shape.links.size(), 1u);
  EXPECT_EQ(shape.links[0].fromLane, 0u);
  EXPECT_EQ(shape.links[0].toLane, 1u);
  EXPECT_EQ(shape.lanes[0].events[0].column, shape.lanes[1].events[0].column);
}

TEST(ReportShapeTest, ComesFromTheProgramWhereNothingRan) {
  ReportContents contents = makeContents(3);
  contents.ranks.clear();
  Analysis analysis = analyse(contents);
  Shape shape = makeShape(contents, analysis);
  EXPECT_FALSE(shape.isMeasured);
  EXPECT_EQ(shape.lanes[0].events.size(), 4u);
}

TEST(ReportDataTest, TextCannotLeaveItsElement) {
  EXPECT_EQ(writeForScript("</script><!--"), "\"\\u003c/script>\\u003c!--\"");
}

TEST(ReportPageTest, EscapesWhatComesFromOutside) {
  ReportContents contents = makeContents(1);
  contents.step = "<b>\xff.mlir";
  contents.classes[0].ops[1].why = contents.classes[1].ops[1].why = "<i>&\"'";
  contents.outcome = Outcome::Failed;
  contents.error = "</pre><script>";
  std::string page = renderPage(contents);
  for (const char *raw : {"<b>\xef", "<i>&", "</pre><script>"})
    EXPECT_EQ(page.find(raw), std::string::npos) << raw;
  EXPECT_NE(page.find("&lt;/pre&gt;&lt;script&gt;"), std::string::npos);
}

TEST(ReportPageTest, NothingKnownIsAPageToo) {
  std::string page = renderPage(ReportContents());
  EXPECT_NE(page.find("The run has not finished"), std::string::npos);
  EXPECT_NE(page.find("</html>"), std::string::npos);
}

} // namespace
