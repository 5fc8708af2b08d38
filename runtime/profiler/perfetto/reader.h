// reader.h - reads a trace in Perfetto's format: tracks, slices, instants, counters and clocks,
// with interned names resolved. For untrusted files: memory is bounded, and malformed bytes are an
// error that names the place. Packets of other kinds are skipped.

#ifndef COLL_RUNTIME_PROFILER_PERFETTO_READER_H
#define COLL_RUNTIME_PROFILER_PERFETTO_READER_H

#include "runtime/profiler/perfetto/packets.h"
#include "runtime/profiler/perfetto/proto.h"
#include "runtime/profiler/perfetto/writer.h"

#include <optional>
#include <unordered_map>

namespace coll::profiler::perfetto {

struct ReadAnnotation {
  std::optional<Key> key; // none: not of the vocabulary
  std::string_view name;
  Annotation::Kind kind = Annotation::Kind::Int;
  uint64_t number = 0;
  double real = 0;
  std::string_view text;
};

// One packet. Texts are valid until the next one is read.
struct Item {
  enum class Kind : uint8_t { Track, Begin, End, Instant, Counter, Clocks, Other };

  Kind kind = Kind::Other;
  uint64_t ns = 0;
  uint32_t clock = kClockBoottime, sequence = 0;
  bool hasDrops = false; // packets before this one were lost
  TrackId track = 0;

  // Track
  TrackId parent = 0;
  std::string_view trackName;
  std::optional<int32_t> pid; // of a process
  bool isCounter = false;

  // Begin, End, Instant, Counter
  std::string_view name, category;
  std::optional<Level> level; // none: not of the vocabulary
  std::vector<ReadAnnotation> annotations;
  std::vector<Flow> flows;
  int64_t value = 0;

  // Clocks: number of the clock and its time, all at one moment
  std::vector<std::pair<uint32_t, uint64_t>> clocks;

  std::string_view packet; // as it is in the file

  const ReadAnnotation *find(Key key) const;
  // The value of an annotation (a number or a text), or the default `otherwise`.
  int64_t number(Key key, int64_t otherwise) const;
  std::string_view text(Key key) const;
};

class Reader {
public:
  explicit Reader(Packets packets) : packets_(std::move(packets)) {}
  static rt::Result<Reader> open(const std::string &path);

  // False at the end.
  rt::Result<bool> next(Item &item);
  bool truncated() const { return packets_.truncated(); }
  const std::string &path() const { return packets_.path(); }

private:
  struct Text {
    std::string text;
    int known = -1; // the Level of a category, the Key of an annotation's name
  };
  // Almost all numbers are small; these are used as indices.
  struct Table {
    static constexpr uint64_t kPlaces = 1024;
    std::vector<Text> places;
    std::unordered_map<uint64_t, Text> others;
    const Text *find(uint64_t iid) const {
      if (iid < places.size())
        return &places[iid];
      auto found = iid < kPlaces ? others.end() : others.find(iid);
      return found == others.end() ? nullptr : &found->second;
    }
  };
  struct Sequence {
    Table categories, names, annotationNames, strings;
    uint32_t clock = kClockBoottime;
    TrackId track = 0;
    uint64_t internedBytes = 0;
  };

  rt::Status read(std::string_view packet, Item &item);
  rt::Status defaults(std::string_view message, Sequence &sequence);
  rt::Status intern(std::string_view message, Sequence &sequence);
  rt::Status internOne(std::string_view message, uint32_t field, Table &table, Sequence &sequence);
  rt::Status track(std::string_view message, Item &item);
  rt::Status event(std::string_view message, const Sequence &sequence, Item &item);
  rt::Status annotation(std::string_view message, const Sequence &sequence, Item &item);
  rt::Status clocks(std::string_view message, Item &item);
  rt::Result<Sequence *> sequenceOf(uint32_t number);

  Packets packets_;
  std::unordered_map<uint32_t, Sequence> sequences_;
  Sequence *last_ = nullptr;
  uint32_t lastNumber_ = 0;
  uint64_t internedBytes_ = 0;
};

} // namespace coll::profiler::perfetto

#endif // COLL_RUNTIME_PROFILER_PERFETTO_READER_H
