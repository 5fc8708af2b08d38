// align.h - offsets that bring the times of all files to one clock.

#ifndef COLL_TOOLS_COLL_TRACE_ALIGN_H
#define COLL_TOOLS_COLL_TRACE_ALIGN_H

#include "tools/coll-trace/merge.h"

namespace coll::trace {

struct Alignment {
  std::vector<int64_t> offsetsNs; // of each file
  std::optional<uint64_t> errorNs;
  std::vector<std::string> notes;
};

rt::Result<Alignment> findAlignment(const std::vector<std::string> &paths, Align align);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_ALIGN_H
