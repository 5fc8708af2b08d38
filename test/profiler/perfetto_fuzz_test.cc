// The reader on mutated traces: each must give packets or an error, in bounded memory.

#include "runtime/profiler/perfetto/reader.h"
#include "test/profiler/mutate.h"

#include <gtest/gtest.h>

namespace coll::profiler::perfetto {
namespace {

struct MemorySink : Sink {
  std::string bytes;
  rt::Status write(std::string_view more) override {
    bytes += more;
    return rt::Status::okay();
  }
};

TEST(PerfettoReaderTest, SurvivesMutants) {
  MemorySink sink;
  {
    Writer writer(sink, {kClockMonotonic, 7});
    TrackId track = writer.track(writer.process("rank 0", 1), "calls");
    for (uint64_t i = 0; i < 8; ++i)
      writer.slice(track, Level::Coll, "AllReduce", i, i + 1,
                   {{Key::Seq, i}, {Key::Location, "a.py:1"}, {Key::ClockErrorNs, 0.5}}, {i, true});
    writer.counter(track, 3, 4);
  }
  std::mt19937_64 random(test::seed);
  int read = 0, refused = 0;
  for (int i = 0; i < test::mutants; ++i) {
    std::string bytes = test::mutate(sink.bytes, random);
    Reader reader(Packets::of(bytes));
    Item item;
    rt::Result<bool> more = true;
    size_t sum = 0;
    while (more.ok() && *more) {
      more = reader.next(item);
      for (const ReadAnnotation &annotation : item.annotations)
        for (char c : annotation.text)
          sum += static_cast<uint8_t>(c); // reads what the views point to
      sum += item.name.size() + item.category.size();
    }
    (more.ok() ? read : refused) += 1;
    ASSERT_LT(sum, size_t(1) << 30);
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

} // namespace
} // namespace coll::profiler::perfetto
