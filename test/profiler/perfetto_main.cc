// perfetto-tests [--mutants=N] [--seed=N]: the tests. --sample=FILE writes the trace that
// perfetto_decode_test.py reads with its own decoder.

#include "runtime/profiler/perfetto/writer.h"
#include "test/profiler/mutate.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace coll::profiler::perfetto {

static rt::Status writeSample(const std::string &path) {
  rt::Result<FileSink> sink = FileSink::create(path);
  if (!sink.ok())
    return sink.status();
  Writer writer(*sink, {});
  for (int rank = 0; rank < 2; ++rank) {
    TrackId process = writer.process("rank " + std::to_string(rank), rank + 1, rank);
    TrackId track = writer.track(process, "calls", 1);
    TrackId counter = writer.counterTrack(process, "in flight", "events");
    for (uint64_t i = 0; i < 100; ++i) {
      writer.begin(track, Level::CollApi, "all_reduce", 1000 * i, {{Key::Op, i}});
      writer.slice(track, Level::Coll, "AllReduce", 1000 * i + 100, 1000 * i + 800,
                   {{Key::Seq, i}, {Key::Location, "train.py:12"}, {Key::Root, -1}},
                   {i + 1, rank == 1});
      writer.end(track, 1000 * i + 900);
      writer.counter(counter, 1000 * i, static_cast<int64_t>(i % 3));
    }
    writer.dropped(track, 100000, 5);
  }
  return writer.flush();
}

} // namespace coll::profiler::perfetto

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    if (option.rfind("--mutants=", 0) == 0)
      coll::profiler::test::mutants = std::atoi(option.c_str() + 10);
    if (option.rfind("--seed=", 0) == 0)
      coll::profiler::test::seed = std::strtoull(option.c_str() + 7, nullptr, 10);
    if (option.rfind("--sample=", 0) == 0)
      return coll::profiler::perfetto::writeSample(option.substr(9)).ok() ? 0 : 1;
  }
  return RUN_ALL_TESTS();
}
