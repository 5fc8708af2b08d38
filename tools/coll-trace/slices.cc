#include "tools/coll-trace/slices.h"

#include <algorithm>

namespace coll::trace {

using namespace profiler::perfetto;

namespace {

constexpr size_t kMostDepth = 256, kMostOpen = 1'000'000, kMostTracks = 4'000'000;

// Reuses the memory that `slice` has allocated for the previous one.
void fill(Slice &slice, const Item &item) {
  slice.name.assign(item.name);
  slice.track = item.track;
  slice.startNs = item.ns;
  size_t count = 0;
  for (const ReadAnnotation &from : item.annotations) {
    if (!from.key)
      continue;
    if (count == slice.notes.size())
      slice.notes.emplace_back();
    Note &note = slice.notes[count++];
    note.key = *from.key;
    note.isText = from.kind == Annotation::Kind::Text;
    note.number = static_cast<int64_t>(from.number);
    note.text.assign(from.text);
  }
  slice.notes.resize(count);
}

// Pairs begins and ends of one file as it is read.
class Pairing {
public:
  Pairing(uint32_t levels, const std::function<void(const Slice &)> &wanted, FileFacts &facts)
      : levels_(levels), wanted_(wanted), facts_(facts) {}

  // Returns false if the file has more open slices or tracks than the limits allow.
  bool add(const Item &item) {
    ++facts_.packets;
    switch (item.kind) {
    case Item::Kind::Track:
      if (facts_.tracks.size() >= kMostTracks)
        return false;
      facts_.tracks[item.track] = {item.parent, std::string(item.trackName), item.pid.has_value()};
      return true;
    case Item::Kind::Begin:
      return begin(item);
    case Item::Kind::End:
      end(item);
      return true;
    case Item::Kind::Instant:
      instant(item);
      return true;
    case Item::Kind::Counter:
      ++facts_.counters;
      return true;
    case Item::Kind::Clocks:
      clocks(item);
      return true;
    case Item::Kind::Other:
      return true;
    }
    return true;
  }
  void finish() {
    for (const auto &[track, open] : open_)
      facts_.unfinished += open.depth;
  }

private:
  bool isWanted(Level level) const { return levels_ & levelBit(level); }
  void saw(uint64_t ns) {
    facts_.firstNs = std::min(facts_.firstNs, ns);
    facts_.lastNs = std::max(facts_.lastNs, ns);
  }
  bool begin(const Item &item) {
    ++facts_.slices;
    saw(item.ns);
    facts_.unknownTracks += item.track && !facts_.tracks.count(item.track);
    Open &open = open_[item.track];
    if (open.depth >= kMostDepth || openCount_ >= kMostOpen || open_.size() >= kMostTracks)
      return false;
    ++openCount_;
    if (open.depth == open.slices.size())
      open.slices.emplace_back();
    Slice &slice = open.slices[open.depth++];
    slice.level = item.level.value_or(Level::Note);
    if (isWanted(slice.level))
      fill(slice, item);
    slice.startNs = item.ns;
    return true;
  }
  void end(const Item &item) {
    saw(item.ns);
    auto found = open_.find(item.track);
    if (found == open_.end() || found->second.depth == 0) {
      ++facts_.endsWithoutBegin;
      return;
    }
    Slice &slice = found->second.slices[--found->second.depth];
    --openCount_;
    slice.endNs = item.ns;
    facts_.negative += slice.endNs < slice.startNs;
    if (isWanted(slice.level))
      wanted_(slice);
  }
  void instant(const Item &item) {
    ++facts_.instants;
    saw(item.ns);
    facts_.dropped += static_cast<uint64_t>(std::max<int64_t>(0, item.number(Key::Dropped, 0)));
    instant_.level = item.level.value_or(Level::Note);
    if (!isWanted(instant_.level))
      return;
    fill(instant_, item);
    instant_.endNs = item.ns;
    instant_.isInstant = true;
    wanted_(instant_);
  }
  void clocks(const Item &item) {
    if (facts_.hasRealtime)
      return;
    uint64_t realtime = 0, monotonic = 0;
    for (auto [clock, ns] : item.clocks) {
      realtime = clock == kClockRealtime ? ns : realtime;
      monotonic = clock == kClockMonotonic ? ns : monotonic;
    }
    facts_.hasRealtime = realtime && monotonic;
    facts_.realtimeOffsetNs = static_cast<int64_t>(realtime - monotonic);
  }

  const uint32_t levels_;
  const std::function<void(const Slice &)> &wanted_;
  FileFacts &facts_;
  struct Open {
    std::vector<Slice> slices; // more than are open: they are used again
    size_t depth = 0;
  };
  std::unordered_map<uint64_t, Open> open_;
  size_t openCount_ = 0;
  Slice instant_;
};

} // namespace

bool Slice::has(Key key) const {
  return std::any_of(notes.begin(), notes.end(),
                     [key](const Note &note) { return note.key == key; });
}

int64_t Slice::number(Key key, int64_t otherwise) const {
  for (const Note &note : notes)
    if (note.key == key && !note.isText)
      return note.number;
  return otherwise;
}

const std::string &Slice::text(Key key) const {
  static const std::string kNone;
  for (const Note &note : notes)
    if (note.key == key && note.isText)
      return note.text;
  return kNone;
}

uint64_t processOf(uint64_t track, const FileFacts &facts) {
  for (int depth = 0; depth < 64; ++depth) {
    auto found = facts.tracks.find(track);
    if (found == facts.tracks.end() || found->second.parent == 0)
      break;
    track = found->second.parent;
  }
  return track;
}

rt::Status readSlices(const std::string &path, uint32_t levels,
                      const std::function<void(const Slice &)> &wanted, FileFacts &facts) {
  rt::Result<Reader> reader = Reader::open(path);
  if (!reader.ok())
    return reader.status();
  Pairing pairing(levels, wanted, facts);
  Item item;
  for (;;) {
    rt::Result<bool> more = reader->next(item);
    if (!more.ok())
      return more.status();
    if (!*more)
      break;
    if (!pairing.add(item))
      return rt::Status::invalid("\"" + path +
                                 "\" has more open slices or tracks than can be held");
  }
  pairing.finish();
  facts.truncated = reader->truncated();
  return rt::Status::okay();
}

} // namespace coll::trace
