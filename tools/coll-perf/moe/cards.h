// cards.h - connects the MoeBuffers of all ranks, and the nodes.

#ifndef COLL_TOOLS_COLL_PERF_MOE_CARDS_H
#define COLL_TOOLS_COLL_PERF_MOE_CARDS_H

#include "runtime/exchange/moe/buffer.h"
#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/task.h"

#include <memory>

namespace coll::perf {

// tcp between the nodes of a task; null if there is one.
Result<std::unique_ptr<net::Transport>> connectNodes(const MoeTask &task,
                                                     const rt::JobOptions &job);

// Exchanges cards and syncs; all ranks return a failure of any.
Status syncAll(Gathering &ranks, rt::MoeBuffer &buffer);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_CARDS_H
