// Writer and reader of traces: what is written can be read back; memory and errors are bounded.

#include "runtime/profiler/perfetto/reader.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace coll::profiler::perfetto {
namespace {

struct MemorySink : Sink {
  std::string bytes;
  size_t writes = 0;
  rt::Status write(std::string_view more) override {
    bytes += more;
    ++writes;
    return rt::Status::okay();
  }
};

std::vector<Item> readAll(Reader &reader, std::vector<std::string> &texts) {
  std::vector<Item> items;
  Item item;
  for (;;) {
    rt::Result<bool> more = reader.next(item);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more.ok() || !*more)
      return items;
    texts.emplace_back(item.name);
    items.push_back(item);
  }
}

TEST(PerfettoWriterTest, SliceComesBackWithLevelNameTimesAndAnnotations) {
  MemorySink sink;
  Writer writer(sink, {});
  TrackId rank = writer.process("rank 3", 4, 3);
  TrackId calls = writer.track(rank, "calls", 1);
  writer.slice(calls, Level::Coll, "AllReduce", 1000, 2500,
               {{Key::Seq, uint64_t(7)},
                {Key::Root, -1},
                {Key::Algorithm, "RING"},
                {Key::GraphCaptured, true},
                {Key::ClockErrorNs, 1.5}},
               {42, false});
  ASSERT_TRUE(writer.flush().ok());

  Reader reader(Packets::of(sink.bytes));
  Item item;
  std::vector<Item::Kind> kinds;
  while (*reader.next(item)) {
    kinds.push_back(item.kind);
    if (item.kind == Item::Kind::Track && item.pid) {
      EXPECT_EQ(item.trackName, "rank 3");
      EXPECT_EQ(item.pid, 4);
      EXPECT_EQ(item.track, rank);
    } else if (item.kind == Item::Kind::Track) {
      EXPECT_EQ(item.parent, rank);
    } else if (item.kind == Item::Kind::Begin) {
      EXPECT_EQ(item.ns, 1000u);
      EXPECT_EQ(item.clock, kClockMonotonic);
      EXPECT_EQ(item.track, calls);
      EXPECT_EQ(item.name, "AllReduce");
      EXPECT_EQ(item.level, Level::Coll);
      EXPECT_EQ(item.number(Key::Seq, -1), 7);
      EXPECT_EQ(item.number(Key::Root, 0), -1);
      EXPECT_EQ(item.text(Key::Algorithm), "RING");
      EXPECT_EQ(item.number(Key::GraphCaptured, 0), 1);
      EXPECT_EQ(item.find(Key::ClockErrorNs)->real, 1.5);
      ASSERT_EQ(item.flows.size(), 1u);
      EXPECT_EQ(item.flows[0].id, 42u);
    } else if (item.kind == Item::Kind::End) {
      EXPECT_EQ(item.ns, 2500u);
    } else if (item.kind == Item::Kind::Clocks) {
      EXPECT_EQ(item.clocks.size(), 3u);
    }
  }
  auto count = [&](Item::Kind kind) { return std::count(kinds.begin(), kinds.end(), kind); };
  EXPECT_EQ(count(Item::Kind::Track), 2);
  EXPECT_EQ(count(Item::Kind::Begin), 1);
  EXPECT_EQ(count(Item::Kind::End), 1);
  EXPECT_EQ(count(Item::Kind::Clocks), 1);
}

TEST(PerfettoWriterTest, DropsAndCountersComeBack) {
  MemorySink sink;
  Writer writer(sink, {});
  TrackId track = writer.counterTrack(writer.process("rank 0", 1), "in flight", "events");
  writer.counter(track, 5, -12);
  writer.dropped(track, 6, 99);
  ASSERT_TRUE(writer.flush().ok());
  Reader reader(Packets::of(sink.bytes));
  Item item;
  bool counted = false, dropped = false;
  while (*reader.next(item)) {
    counted |= item.kind == Item::Kind::Counter && item.value == -12;
    dropped |= item.kind == Item::Kind::Instant && item.number(Key::Dropped, 0) == 99;
  }
  EXPECT_TRUE(counted && dropped);
}

TEST(PerfettoWriterTest, NamesBeyondTheTableAreWrittenOut) {
  MemorySink sink;
  Writer writer(sink, {});
  constexpr int kNames = 70000;
  for (int i = 0; i < kNames; ++i)
    writer.instant(1, Level::Note, "name " + std::to_string(i), 1);
  ASSERT_TRUE(writer.flush().ok());
  Reader reader(Packets::of(sink.bytes));
  std::vector<std::string> texts;
  readAll(reader, texts);
  texts.erase(std::remove(texts.begin(), texts.end(), ""), texts.end());
  ASSERT_EQ(texts.size(), size_t(kNames));
  EXPECT_EQ(texts[3], "name 3");
  EXPECT_EQ(texts.back(), "name 69999");
}

TEST(PerfettoWriterTest, TextsThatAreTooLongAreCutBetweenCharacters) {
  MemorySink sink;
  Writer writer(sink, {});
  std::string name;
  while (name.size() < 10000)
    name += "\u00e9";
  writer.instant(1, Level::Note, "x" + name, 1);
  ASSERT_TRUE(writer.flush().ok());
  Reader reader(Packets::of(sink.bytes));
  std::vector<std::string> texts;
  readAll(reader, texts);
  EXPECT_EQ(texts.back().size(), 4095u);
}

TEST(PerfettoWriterTest, FullDeviceIsOneErrorThatNamesThePath) {
  rt::Result<FileSink> sink = FileSink::create("/dev/full");
  ASSERT_TRUE(sink.ok());
  Writer writer(*sink, {});
  for (int i = 0; i < 100000; ++i)
    writer.slice(1, Level::Net, "message", 1, 2);
  EXPECT_FALSE(writer.status().ok());
  EXPECT_NE(writer.status().message().find("/dev/full"), std::string::npos);
  EXPECT_NE(writer.status().message().find("No space left"), std::string::npos);
  EXPECT_EQ(writer.bytes(), 0u);
}

TEST(PerfettoWriterTest, PathThatCannotBeCreatedIsNamed) {
  rt::Result<FileSink> sink = FileSink::create("/proc/no/trace");
  ASSERT_FALSE(sink.ok());
  EXPECT_NE(sink.status().message().find("/proc/no/trace"), std::string::npos);
}

TEST(PerfettoWriterTest, MemoryDoesNotGrowWithEvents) {
  struct Nothing : Sink {
    rt::Status write(std::string_view) override { return rt::Status::okay(); }
  } sink;
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  Writer writer(sink, {});
  for (uint64_t i = 0; i < 200'000; ++i)
    writer.slice(1, Level::ProxyStep, "step", i, i + 1, {{Key::Step, i}, {Key::Bytes, 4096}});
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "KiB";
}

// A file that is cut at any byte is read up to its last complete packet.
TEST(PerfettoReaderTest, TruncatedFileIsReadUpToItsLastPacket) {
  MemorySink sink;
  Writer writer(sink, {});
  for (int i = 0; i < 20; ++i)
    writer.slice(1, Level::Net, "message", 1, 2);
  ASSERT_TRUE(writer.flush().ok());
  size_t most = 0;
  for (size_t length = 0; length <= sink.bytes.size(); ++length) {
    Reader reader(Packets::of(std::string_view(sink.bytes).substr(0, length)));
    Item item;
    size_t events = 0;
    for (;;) {
      rt::Result<bool> more = reader.next(item);
      ASSERT_TRUE(more.ok()) << "cut at byte " << length << ": " << more.status().message();
      if (!*more)
        break;
      events += item.kind == Item::Kind::Begin || item.kind == Item::Kind::End;
    }
    ASSERT_GE(events, most);
    most = events;
  }
  EXPECT_EQ(most, 40u);
}

TEST(PerfettoReaderTest, MalformedFileNamesTheByte) {
  MemorySink sink;
  Writer writer(sink, {});
  ASSERT_TRUE(writer.flush().ok());
  size_t end = sink.bytes.size();
  sink.bytes += std::string("\x0a\x02\x5a\x7f", 4); // an event longer than its packet
  Reader reader(Packets::of(sink.bytes));
  Item item;
  rt::Result<bool> more = true;
  while (more.ok() && *more)
    more = reader.next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.status().message().find("at byte " + std::to_string(end)), std::string::npos)
      << more.status().message();
}

TEST(PerfettoReaderTest, PacketOfMoreThanSixteenMebibytesIsRefused) {
  std::string bytes("\x0a\xff\xff\xff\xff\x7f", 6);
  Reader reader(Packets::of(bytes));
  Item item;
  EXPECT_FALSE(reader.next(item).ok());
}

TEST(PerfettoReaderTest, MissingFileAndDirectoryAreErrors) {
  EXPECT_FALSE(Reader::open("/nonexistent/trace").ok());
  rt::Result<Reader> reader = Reader::open("/tmp");
  ASSERT_TRUE(reader.ok()); // a directory can be opened, but not read
  Item item;
  EXPECT_FALSE(reader->next(item).ok());
}

} // namespace
} // namespace coll::profiler::perfetto
