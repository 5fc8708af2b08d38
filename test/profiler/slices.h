// slices.h - the slices of a trace file, for tests: begins paired with ends, with their
// annotations.

#ifndef COLL_TEST_PROFILER_SLICES_H
#define COLL_TEST_PROFILER_SLICES_H

#include "runtime/profiler/perfetto/reader.h"

#include <gtest/gtest.h>
#include <map>

namespace coll::profiler::test {

struct Slice {
  perfetto::Level level = perfetto::Level::Note;
  std::string name;
  uint64_t track = 0, startNs = 0, endNs = 0;
  bool isInstant = false;
  std::map<perfetto::Key, int64_t> numbers;
  std::map<perfetto::Key, std::string> texts;

  int64_t number(perfetto::Key key) const { return numbers.count(key) ? numbers.at(key) : -1; }
  std::string text(perfetto::Key key) const { return texts.count(key) ? texts.at(key) : ""; }
};

// Returns all slices and instants. Fails the test if the file is malformed, an end has no begin, or
// the slices of a track do not nest. A slice without an end gets the end 0.
inline std::vector<Slice> readSlices(const std::string &path) {
  using namespace perfetto;
  std::vector<Slice> slices;
  rt::Result<Reader> reader = Reader::open(path);
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  if (!reader.ok())
    return slices;
  std::map<uint64_t, std::vector<size_t>> open;
  Item item;
  for (;;) {
    rt::Result<bool> more = reader->next(item);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more.ok() || !*more)
      break;
    if (item.kind == Item::Kind::End) {
      EXPECT_FALSE(open[item.track].empty()) << "an end without a begin on track " << item.track;
      if (open[item.track].empty())
        continue;
      slices[open[item.track].back()].endNs = item.ns;
      open[item.track].pop_back();
    }
    if (item.kind != Item::Kind::Begin && item.kind != Item::Kind::Instant)
      continue;
    Slice slice;
    slice.level = item.level.value_or(Level::Note);
    slice.name = item.name;
    slice.track = item.track;
    slice.startNs = item.ns;
    slice.isInstant = item.kind == Item::Kind::Instant;
    for (const ReadAnnotation &note : item.annotations)
      if (note.kind == Annotation::Kind::Text)
        slice.texts[*note.key] = note.text;
      else
        slice.numbers[*note.key] = static_cast<int64_t>(note.number);
    if (!slice.isInstant)
      open[item.track].push_back(slices.size());
    slices.push_back(slice);
  }
  return slices;
}

// Within each track, in the order of time, a slice must lie inside the open one or after it.
inline void expectNested(const std::vector<Slice> &slices) {
  std::map<uint64_t, std::vector<const Slice *>> tracks;
  for (const Slice &slice : slices)
    if (!slice.isInstant)
      tracks[slice.track].push_back(&slice);
  for (auto &[track, list] : tracks) {
    std::stable_sort(list.begin(), list.end(), [](const Slice *a, const Slice *b) {
      return a->startNs != b->startNs ? a->startNs < b->startNs : a->endNs > b->endNs;
    });
    std::vector<const Slice *> open;
    for (const Slice *slice : list) {
      while (!open.empty() && open.back()->endNs <= slice->startNs)
        open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(slice->endNs, open.back()->endNs)
            << slice->name << " and " << open.back()->name << " overlap on track " << track;
      }
      open.push_back(slice);
    }
  }
}

} // namespace coll::profiler::test

#endif // COLL_TEST_PROFILER_SLICES_H
