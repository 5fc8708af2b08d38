// order_parts.h - sorts the parts that were read from many files by their collectives.

#ifndef COLL_TOOLS_COLL_TRACE_ORDER_PARTS_H
#define COLL_TOOLS_COLL_TRACE_ORDER_PARTS_H

#include "tools/coll-trace/run.h"

namespace coll::trace {

// The parts of one communicator. Each list comes from the files that one thread has read.
struct UnorderedParts {
  std::vector<std::vector<Part>> lists;
  // Stock NCCL counts the collectives of each function separately, so a rank may have number 7
  // twice, for an AllReduce and for a Broadcast.
  bool isNumberedByFunction = false;
};

// Sorts by number, then by rank. If functions are numbered separately, a collective's number
// becomes the number of collectives of any function that the rank began before it.
// `functions[part.what]` is the number of a part's function.
std::vector<Part> orderParts(UnorderedParts parts, const std::vector<uint32_t> &functions);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_ORDER_PARTS_H
