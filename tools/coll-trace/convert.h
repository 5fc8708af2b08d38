// convert.h - Chakra's execution traces from traces of ours, and back.

#ifndef COLL_TOOLS_COLL_TRACE_CONVERT_H
#define COLL_TOOLS_COLL_TRACE_CONVERT_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::trace {

struct Converted {
  uint64_t ranks = 0, nodes = 0;
};

// Writes STEM.RANK.et for each rank of the traces: a node for each compute slice, collective, send
// and receive, in the order of their beginnings. A node depends on the one before it on its track
// (control), and on the last one of the other kind that had ended (data). Slices that came from
// Chakra become the nodes that they were, byte for byte.
rt::Result<Converted> toChakra(const std::vector<std::string> &traces, const std::string &stem);

// Writes one trace of the files, of which each is a rank: NAME.RANK.et, or else numbered as they
// come. Nodes without times follow their dependencies, a microsecond each.
rt::Result<Converted> fromChakra(const std::vector<std::string> &files, const std::string &output);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_CONVERT_H
