// mover.h - one rank's part of one way to reshard.

#ifndef COLL_TOOLS_COLL_PERF_RESHARD_MOVER_H
#define COLL_TOOLS_COLL_PERF_RESHARD_MOVER_H

#include "tools/coll-perf/reshard/memory.h"

#include <memory>

namespace coll::perf {

class Mover {
public:
  virtual ~Mover() = default;
  virtual Status run() = 0;                   // begins, or does, this rank's part
  virtual Status slice() { return {}; }       // gather's second step, when all have run
  virtual Status synchronize() { return {}; } // waits until started work is done
};

// All ranks call these together, with the same way. kCollUnsupported if this machine does not
// support it.
Result<std::unique_ptr<Mover>> makeHostMover(const ReshardTask &task, const ReshardWay &way,
                                             int rank, RankMemory &memory);
Result<std::unique_ptr<Mover>> makeGpuMover(const ReshardTask &task, const ReshardWay &way,
                                            int rank, GpuRankMemory &memory);
Result<std::unique_ptr<Mover>> makeCopiesMover(const ReshardTask &task, const ReshardWay &way,
                                               int rank, GpuRankMemory &memory);
Result<std::unique_ptr<Mover>> makeNcclMover(const ReshardTask &task, int rank,
                                             GpuRankMemory &memory, net::Bootstrap &bootstrap);

// Opens the buffers that this rank's transfers of the plan need.
Result<rt::exchange::ReshardBuffers> buffersFor(const rt::exchange::ReshardPlan &plan,
                                                const ReshardWay &way, int rank,
                                                RankMemory &memory);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_RESHARD_MOVER_H
