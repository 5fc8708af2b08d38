// convert.h - converts traces of coll to Chakra's execution traces, and back.

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
// and receive, ordered by start time. A node depends on the previous one of its kind, compute or
// communication (control), and on the last one of the other kind that had ended (data). Slices that
// came from Chakra become the same nodes again, byte for byte.
rt::Result<Converted> toChakra(const std::vector<std::string> &traces, const std::string &stem);

// Writes one trace from the files. Each file is a rank: NAME.RANK.et, or else numbered in the given
// order. Nodes without times are placed after their dependencies and last one microsecond each.
rt::Result<Converted> fromChakra(const std::vector<std::string> &files, const std::string &output);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_CONVERT_H
