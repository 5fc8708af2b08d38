// merge.h - one trace of many: packets are copied as they are, but for what must not clash.
//
// Sequences and tracks get numbers of their own, times the offset of their file. Fields that are
// not known here stay. Files are read by several threads, and written in their order. Memory, of
// each thread: at most 32 MiB of packets that wait for their turn, and its file's open slices.

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
  // With Collectives: how far the ends of a collective lie apart after the alignment (median).
  std::optional<uint64_t> errorNs;
  std::vector<std::string> notes;
};

// kCollInvalidCall names the file.
rt::Result<MergeResult> merge(const std::vector<std::string> &paths, const MergeOptions &options);

// "0,4-7"; kCollInvalidCall names the word that is wrong.
rt::Result<std::set<int32_t>> parseRanks(const std::string &text);
rt::Result<uint32_t> parseLevels(const std::string &text);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_MERGE_H
