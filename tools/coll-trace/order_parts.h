// order_parts.h - puts the parts that were read from many files in the order of their collectives.

#ifndef COLL_TOOLS_COLL_TRACE_ORDER_PARTS_H
#define COLL_TOOLS_COLL_TRACE_ORDER_PARTS_H

#include "tools/coll-trace/run.h"

namespace coll::trace {

// The parts of one communicator. Each list comes from the files that one thread has read.
struct UnorderedParts {
  std::vector<std::vector<Part>> lists;
  // Stock NCCL counts the collectives of each function apart: a rank has number 7 twice, of an
  // AllReduce and of a Broadcast.
  bool isNumberedByFunction = false;
};

// By number, then by rank. Where functions are numbered apart, a collective gets the number of all
// collectives that the rank has begun before it, of any function. `functions[part.what]` numbers
// the function of a part.
std::vector<Part> orderParts(UnorderedParts parts, const std::vector<uint32_t> &functions);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_ORDER_PARTS_H
