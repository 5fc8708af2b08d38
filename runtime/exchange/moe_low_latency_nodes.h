// moe_low_latency_nodes.h - the low-latency mode of a MoeBuffer between nodes: the memory that its
// messages are in, and the thread that moves them.
//
// Kernels write messages into pinned memory, raise a word, and read others' there
// (moe_low_latency_far.h). The thread runs flows of the buffer's pump that never end: chunk n of
// each is the n-th call's message, sent when the GPU's word says so, and received into its place
// as soon as the GPU's word says that the place is free. So it needs to be told of no call.
//
// What comes is checked here before a kernel sees it: kCollMismatch names the rank.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_NODES_H
#define COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_NODES_H

#include "runtime/exchange/chunk_pump.h"
#include "runtime/exchange/moe_routes.h"
#include "runtime/kernels/moe_low_latency.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace coll::rt {

class MoeLowLatencyNodes {
public:
  // The transport outlives the object.
  static Result<std::unique_ptr<MoeLowLatencyNodes>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                            net::Transport &transport,
                                                            const MoeWorld &world,
                                                            const kernels::LowLatencyShape &shape);
  ~MoeLowLatencyNodes(); // connections have been closed

  // What calls of one of the two buffers are launched with.
  kernels::LowLatencyFar of(int64_t buffer) const;

  // From here on messages go. `watch`: as for ChunkPump::run(), in the thread; `fail`: told by the
  // thread when no more will, unless it was stopped.
  void start(ChunkPump &pump, std::function<Status()> watch, std::function<void()> fail);
  // Before connections are closed.
  void stop();
  // Why no more go. Any thread.
  Status failure() const;

private:
  MoeLowLatencyNodes(std::shared_ptr<dl::GpuContext> gpu, net::Transport &transport,
                     const MoeWorld &world, const kernels::LowLatencyShape &shape);
  Status open();
  std::vector<RankFlow> flows();
  RankFlow flowOf(int rank, bool isSend);
  // In one of the two buffers. `index`: the rank's, among those of other nodes.
  char *at(int64_t buffer, uint64_t offset) const;
  uint64_t *wordOf(int64_t chunk, uint64_t offset, int rank) const;
  // The message is a call's, and nothing in it leads outside; then the GPU is told.
  Status admit(int64_t chunk, int rank, const ChunkSlot &slot);
  Status admitDispatch(const kernels::LowLatencyMessage &header, const ChunkSlot &slot) const;
  Status admitCombine(int64_t chunk, const kernels::LowLatencyMessage &header,
                      const ChunkSlot &slot);
  int64_t bytesOf(const kernels::LowLatencyMessage &header) const;

  std::shared_ptr<dl::GpuContext> gpu_;
  net::Transport &transport_;
  const MoeWorld world_;
  const kernels::LowLatencyShape shape_;
  const kernels::LowLatencyFarArea area_;
  const uint32_t localExperts_;
  dl::GpuMemory pinned_;
  net::Memory *registered_ = nullptr;
  std::thread thread_;
  std::atomic<bool> isStopping_{false};
  mutable std::mutex mutex_; // of what follows
  Status failure_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_NODES_H
