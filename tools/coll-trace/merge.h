// merge.h - merges many traces into one. Packets are copied unchanged except for what would clash.
//
// Sequences and tracks get new numbers, and times get the offset of their file. Unknown fields are
// kept. Files are read by several threads and written in their order. Each thread needs memory for
// at most 32 MiB of packets that wait for their turn, and for its file's open slices.

#ifndef COLL_TOOLS_COLL_TRACE_MERGE_H
#define COLL_TOOLS_COLL_TRACE_MERGE_H

#include "tools/coll-trace/slices.h"

#include <optional>
#include <set>

namespace coll::trace {

enum class Align { Realtime, Collectives, None };

struct MergeOptions {
  std::string output;
  std::set<int32_t> ranks; // empty: all
  uint32_t levels = kAllLevels;
  std::optional<uint64_t> fromNs, toNs; // since the first event of all files
  Align align = Align::Realtime;
};

struct MergeResult {
  uint64_t packets = 0, bytes = 0, left = 0; // left: slices and instants that were left out
  // With Align::Collectives: how far apart the ends of a collective are after the alignment
  // (median).
  std::optional<uint64_t> errorNs;
  std::vector<std::string> notes;
};

// kCollInvalidCall: the message names the file.
rt::Result<MergeResult> merge(const std::vector<std::string> &paths, const MergeOptions &options);

// Parses "0,4-7". kCollInvalidCall: the message names the wrong word.
rt::Result<std::set<int32_t>> parseRanks(const std::string &text);
rt::Result<uint32_t> parseLevels(const std::string &text);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_MERGE_H
