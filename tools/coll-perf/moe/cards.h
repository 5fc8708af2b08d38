// cards.h - how the MoeBuffers of all ranks come to know each other, and reach other nodes.

#ifndef COLL_TOOLS_COLL_PERF_MOE_CARDS_H
#define COLL_TOOLS_COLL_PERF_MOE_CARDS_H

#include "runtime/exchange/moe/buffer.h"
#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/task.h"

#include <memory>

namespace coll::perf {

// tcp between the nodes of a task; null where there is one.
Result<std::unique_ptr<net::Transport>> connectNodes(const MoeTask &task,
                                                     const rt::JobOptions &job);

// Swaps cards and syncs; what went wrong on any rank is what all return.
Status syncAll(Gathering &ranks, rt::MoeBuffer &buffer);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_CARDS_H
