// cards.h - how the MoeBuffers of all ranks come to know each other.

#ifndef COLL_TOOLS_COLL_PERF_MOE_CARDS_H
#define COLL_TOOLS_COLL_PERF_MOE_CARDS_H

#include "runtime/exchange/moe_buffer.h"
#include "tools/coll-perf/gathering.h"

namespace coll::perf {

// Swaps cards and syncs; what went wrong on any rank is what all return.
Status syncAll(Gathering &ranks, rt::MoeBuffer &buffer);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_CARDS_H
