// cards.h - connects the MoeBuffers of all ranks, and the nodes.

#ifndef COLL_TOOLS_COLL_PERF_MOE_CARDS_H
#define COLL_TOOLS_COLL_PERF_MOE_CARDS_H

#include "runtime/exchange/moe/buffer.h"
#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/task.h"

#include <memory>

namespace coll::perf {

// Returns tcp between the nodes of a task; null if there is one node.
Result<std::unique_ptr<net::Transport>> connectNodes(const MoeTask &task,
                                                     const rt::JobOptions &job);

// Exchanges cards and syncs; if any rank fails, all ranks return its failure.
Status syncAll(Gathering &ranks, rt::MoeBuffer &buffer);

// The transport between nodes and a rank's calls (MoeCalls, LowLatencyCalls). Created on all ranks
// or on none.
template <typename Calls>
Status openCalls(const MoeTask &task, const rt::JobOptions &job, Gathering &ranks,
                 std::unique_ptr<net::Transport> &transport, std::unique_ptr<Calls> &calls) {
  Result<std::unique_ptr<net::Transport>> connected = connectNodes(task, job);
  COLL_RETURN_IF_ERROR(ranks.agree(connected.status()));
  transport = connected.take();
  Result<std::unique_ptr<Calls>> created = Calls::create(task, ranks.rank(), transport.get());
  COLL_RETURN_IF_ERROR(ranks.agree(created.status()));
  calls = created.take();
  return syncAll(ranks, calls->buffer());
}

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_CARDS_H
