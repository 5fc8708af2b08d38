// coll-trace merge and check: nothing clashes, nothing is lost, and unwanted slices are left out.

#include "tools/coll-trace/merge.h"

#include "runtime/profiler/perfetto/fields.h"
#include "test/trace/simulation.h"
#include "test/trace/temporary.h"
#include "tools/coll-trace/commands.h"

#include <fstream>
#include <gtest/gtest.h>
#include <set>

namespace coll::trace {
namespace {

using namespace profiler::perfetto;
using test::Simulation;

struct Content {
  FileFacts facts;
  std::vector<Slice> slices;
};

Content read(const std::string &path) {
  Content content;
  rt::Status status = readSlices(
      path, kAllLevels, [&](const Slice &slice) { content.slices.push_back(slice); },
      content.facts);
  EXPECT_TRUE(status.ok()) << status.message();
  return content;
}

MergeOptions to(const std::string &name) {
  MergeOptions options;
  options.output = test::folder() + "/" + name;
  return options;
}

size_t count(const Content &content, Level level) {
  size_t number = 0;
  for (const Slice &slice : content.slices)
    number += slice.level == level && !slice.isInstant;
  return number;
}

TEST(MergeTest, AllSlicesOfAllRanksStandOnTracksOfTheirOwn) {
  const std::vector<std::string> paths = test::simulate(Simulation(), test::folder());
  rt::Result<MergeResult> result = merge(paths, to("all.pftrace"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  Content merged = read(test::folder() + "/all.pftrace");
  EXPECT_EQ(count(merged, Level::Coll), 8u * 40);
  EXPECT_EQ(count(merged, Level::Compute), 8u * 40);
  EXPECT_EQ(merged.facts.endsWithoutBegin + merged.facts.unfinished + merged.facts.unknownTracks,
            0u);
  size_t processes = 0;
  for (const auto &[uuid, track] : merged.facts.tracks)
    processes += track.isProcess;
  EXPECT_EQ(processes, 8u);
  std::set<uint64_t> tracks;
  for (const Slice &slice : merged.slices)
    if (slice.level == Level::Coll)
      tracks.insert(slice.track);
  EXPECT_EQ(tracks.size(), 8u);
  EXPECT_EQ(checkCommand({test::folder() + "/all.pftrace"}), 0);
}

TEST(MergeTest, DiagnosisOfTheMergedTraceIsThatOfTheParts) {
  Simulation simulation;
  simulation.fault = test::Injected{Fault::Compute, 3, 9, 2.0, 1, false};
  const std::vector<std::string> paths = test::simulate(simulation, test::folder());
  ASSERT_TRUE(merge(paths, to("fault.pftrace")).ok());
  rt::Result<trace::Run> run = loadRun({test::folder() + "/fault.pftrace"});
  ASSERT_TRUE(run.ok());
  std::optional<Verdict> verdict = diagnose(*run);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->rank, 3);
  EXPECT_EQ(verdict->seq, 9u);
}

// So many files that several threads read them.
TEST(MergeTest, ManyFilesComeOutInTheirOrder) {
  Simulation simulation;
  simulation.ranks = 65;
  simulation.collectives = 5;
  const std::vector<std::string> paths = test::simulate(simulation, test::folder());
  ASSERT_TRUE(merge(paths, to("many.pftrace")).ok());
  int32_t last = 0;
  for (const Slice &slice : read(test::folder() + "/many.pftrace").slices)
    if (slice.level == Level::Coll) {
      EXPECT_GE(slice.number(Key::Rank), last);
      last = static_cast<int32_t>(slice.number(Key::Rank));
    }
  EXPECT_EQ(last, 64);
}

TEST(MergeTest, BadFileAmongManyIsNamed) {
  Simulation simulation;
  simulation.ranks = 65;
  simulation.collectives = 2;
  std::vector<std::string> paths = test::simulate(simulation, test::folder());
  std::ofstream(paths[40], std::ios::binary) << "no trace at all";
  rt::Result<MergeResult> result = merge(paths, to("bad.pftrace"));
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find(paths[40]), std::string::npos);
  EXPECT_FALSE(loadRun(paths).ok());
}

TEST(MergeTest, RanksAndLevelsChoose) {
  const std::vector<std::string> paths = test::simulate(Simulation(), test::folder());
  MergeOptions options = to("some.pftrace");
  options.ranks = {1, 6};
  options.levels = *parseLevels("coll");
  rt::Result<MergeResult> result = merge(paths, options);
  ASSERT_TRUE(result.ok());
  Content merged = read(options.output);
  EXPECT_EQ(count(merged, Level::Coll), 2u * 40);
  EXPECT_EQ(count(merged, Level::Compute), 0u);
  EXPECT_EQ(result->left, 8u * 40 * 4 - 2 * 40);
  EXPECT_EQ(merged.facts.endsWithoutBegin + merged.facts.unfinished, 0u);
}

TEST(MergeTest, CollectivesAlignClocksThatDifferBySeconds) {
  const std::vector<std::string> paths = test::simulate(Simulation(), test::folder());
  MergeOptions options = to("aligned.pftrace");
  options.align = Align::Collectives;
  rt::Result<MergeResult> result = merge(paths, options);
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(result->errorNs);
  EXPECT_LT(*result->errorNs, 1000u);
  std::map<int64_t, std::pair<uint64_t, uint64_t>> ends; // by seq: least and greatest
  for (const Slice &slice : read(options.output).slices)
    if (slice.level == Level::Coll) {
      auto [found, isNew] =
          ends.emplace(slice.number(Key::Seq), std::pair(slice.endNs, slice.endNs));
      found->second.first = std::min(found->second.first, slice.endNs);
      found->second.second = std::max(found->second.second, slice.endNs);
    }
  for (auto [seq, range] : ends)
    EXPECT_LT(range.second - range.first, 10'000u) << "collective " << seq;
}

TEST(MergeTest, WindowKeepsWhatBeginsInIt) {
  const std::vector<std::string> paths = test::simulate(Simulation(), test::folder());
  MergeOptions options = to("window.pftrace");
  options.align = Align::Collectives;
  options.fromNs = 30'000'000;
  options.toNs = 60'000'000;
  ASSERT_TRUE(merge(paths, options).ok());
  Content merged = read(options.output);
  EXPECT_GT(count(merged, Level::Coll), 8u * 5);
  EXPECT_LT(count(merged, Level::Coll), 8u * 20);
  EXPECT_EQ(merged.facts.endsWithoutBegin + merged.facts.unfinished, 0u);
}

// Later events need the names that are in the packet of an event that is left out.
TEST(MergeTest, FieldsThatAreNotKnownSurvive) {
  std::string packet(64, '\0');
  ProtoOut out(reinterpret_cast<uint8_t *>(packet.data()), packet.size());
  out.varint(fields::packet::kTimestamp, 5);
  out.varint(fields::packet::kSequenceId, 9);
  out.bytes(2047, "unknown");
  packet.resize(out.size());
  const std::string path = test::folder() + "/foreign.pftrace";
  std::ofstream(path, std::ios::binary) << '\x0a' << static_cast<char>(packet.size()) << packet;
  ASSERT_TRUE(merge({path}, to("foreign.out")).ok());
  std::ifstream file(test::folder() + "/foreign.out", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("unknown"), std::string::npos);
}

TEST(MergeTest, ArgumentsThatAreWrongAreNamed) {
  EXPECT_NE(parseRanks("0,x").status().message().find("\"x\""), std::string::npos);
  EXPECT_FALSE(parseRanks("5-3").ok());
  EXPECT_FALSE(parseRanks("-1").ok());
  EXPECT_FALSE(parseRanks("0-4294967296").ok());
  EXPECT_EQ(parseRanks("0,4-6").take(), (std::set<int32_t>{0, 4, 5, 6}));
  EXPECT_NE(parseLevels("cull").status().message().find("\"cull\""), std::string::npos);
  EXPECT_EQ(mergeCommand({"a.pftrace"}), 2) << "no output";
  EXPECT_EQ(mergeCommand({"-o", "a.pftrace", "a.pftrace"}), 2) << "reads what it writes";
  EXPECT_EQ(mergeCommand({"-o", "b.pftrace", "--from=x", "a.pftrace"}), 2);
  EXPECT_EQ(mergeCommand({"-o", "b.pftrace", "--align=well", "a.pftrace"}), 2);
  EXPECT_EQ(mergeCommand({"-o", "b.pftrace", "--colour", "a.pftrace"}), 2);
  EXPECT_EQ(mergeCommand({"-o", test::folder() + "/b.pftrace", "/nonexistent/a.pftrace"}), 1);
  EXPECT_EQ(diagnoseCommand({}), 2);
  EXPECT_EQ(diagnoseCommand({"/nonexistent/a.pftrace"}), 1);
  const std::vector<std::string> paths = test::simulate(Simulation(), test::folder());
  MergeOptions full;
  full.output = "/dev/full";
  rt::Result<MergeResult> result = merge(paths, full);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("/dev/full"), std::string::npos);
}

TEST(CheckTest, DamageIsNamed) {
  const std::string path = test::simulate(Simulation(), test::folder())[0];
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const std::string cut = test::folder() + "/cut.pftrace", bad = test::folder() + "/bad.pftrace";
  std::ofstream(cut, std::ios::binary) << whole.substr(0, whole.size() - 7);
  std::ofstream(bad, std::ios::binary) << "this is no trace";
  EXPECT_EQ(checkCommand({path}), 0);
  EXPECT_EQ(checkCommand({cut}), 1);
  EXPECT_EQ(checkCommand({bad}), 1);
  EXPECT_TRUE(read(cut).facts.truncated);
}

} // namespace
} // namespace coll::trace
