// slices.h - reads the slices of a trace file, in the order in which they end.

#ifndef COLL_TOOLS_COLL_TRACE_SLICES_H
#define COLL_TOOLS_COLL_TRACE_SLICES_H

#include "runtime/profiler/perfetto/reader.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace coll::trace {

using profiler::perfetto::Key;
using profiler::perfetto::Level;

// An annotation; the object owns its texts.
struct Note {
  Key key = Key::Id;
  bool isText = false;
  int64_t number = 0; // 0 of a floating-point one
  std::string text;
};

struct Slice {
  Level level = Level::Note;
  std::string name;
  uint64_t track = 0, startNs = 0, endNs = 0;
  bool isInstant = false;
  std::vector<Note> notes;

  bool has(Key key) const;
  int64_t number(Key key, int64_t otherwise = 0) const;
  const std::string &text(Key key) const;
};

struct TrackInfo {
  uint64_t parent = 0;
  std::string name;
  bool isProcess = false;
};

// What a file has besides its slices.
struct FileFacts {
  uint64_t packets = 0, slices = 0, instants = 0, counters = 0;
  uint64_t endsWithoutBegin = 0, unfinished = 0, negative = 0, overlapping = 0, unknownTracks = 0;
  uint64_t dropped = 0; // events, as the trace says
  bool truncated = false;
  uint64_t firstNs = UINT64_MAX, lastNs = 0;
  int64_t realtimeOffsetNs = 0; // CLOCK_REALTIME − the slices' clock, of the first snapshot
  bool hasRealtime = false;
  std::unordered_map<uint64_t, TrackInfo> tracks;
};

// Returns the topmost track above `track`, as far as tracks have been described so far.
uint64_t processOf(uint64_t track, const FileFacts &facts);

// Calls `wanted` for each slice or instant whose level is in `levels` (bits by Level; slices
// without a known level count as Note). Slices that never end are only counted. Needs memory for
// the open slices, at most 256 for each track and a million in all. kCollInvalidCall: the message
// names the file and the byte.
rt::Status readSlices(const std::string &path, uint32_t levels,
                      const std::function<void(const Slice &)> &wanted, FileFacts &facts);

inline constexpr uint32_t levelBit(Level level) { return uint32_t(1) << static_cast<int>(level); }
inline constexpr uint32_t kAllLevels = ~uint32_t(0);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_SLICES_H
