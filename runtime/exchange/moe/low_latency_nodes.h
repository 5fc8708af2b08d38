// low_latency_nodes.h - the low-latency mode of a MoeBuffer between nodes: the memory of its
// messages, and the thread that moves them.
//
// Kernels write messages into pinned memory, raise a word, and read the messages of other ranks
// there (moe/low_latency_far.h). The thread runs flows of the buffer's pump that never end, one for
// each of the two buffers that calls use in turns: chunk n is the message of that buffer's n-th
// call, sent when the GPU's word says so, and received into its place as soon as the GPU's word
// says that the place is free. So the thread need not be told of calls, and a graph may contain an
// odd number of them.
//
// Received messages are checked here before a kernel reads them: kCollMismatch names the rank.
//
// A change of shape (MoeBuffer::lowLatencyClean()) keeps memory and flows, and numbers continue:
// only the permitted form of messages changes.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_NODES_H
#define COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_NODES_H

#include "runtime/exchange/flow/chunk_pump.h"
#include "runtime/exchange/moe/routes.h"
#include "runtime/kernels/moe/low_latency.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace coll::rt {

class MoeLowLatencyNodes {
public:
  // `shape` is that of the first calls; later shapes must not need more memory. The transport
  // outlives the object.
  static Result<std::unique_ptr<MoeLowLatencyNodes>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                            net::Transport &transport,
                                                            const MoeWorld &world,
                                                            const kernels::LowLatencyShape &shape);
  ~MoeLowLatencyNodes(); // connections have to be closed before

  // The launch argument of calls of one of the two buffers.
  kernels::LowLatencyFar of(int64_t buffer) const;

  // Starts to move messages. `watch`, see ChunkPump::run(), is called in the thread; so is `fail`,
  // when the thread stops because of a failure.
  Status start(ChunkPump &pump, std::function<Status()> watch, std::function<void()> fail);
  // Call it before connections are closed.
  void stop();
  // Whether there is room for messages of the shape.
  bool fits(const kernels::LowLatencyShape &shape) const;
  // Messages that arrive from now on have that shape: this rank has received all calls so far.
  void expect(const kernels::LowLatencyShape &shape);
  // Messages that are sent from now on have the shape that is expected: all ranks have received the
  // earlier ones, and expect the same shape.
  void sendAsExpected();
  // Why no more messages are moved. Any thread may call it.
  Status failure() const;

private:
  MoeLowLatencyNodes(std::shared_ptr<dl::GpuContext> gpu, net::Transport &transport,
                     const MoeWorld &world, const kernels::LowLatencyShape &shape);
  Status open();
  std::vector<RankFlow> flows();
  RankFlow flowOf(int rank, int64_t buffer, bool isSend);
  // In one of the two buffers.
  char *at(int64_t buffer, uint64_t offset) const;
  uint64_t *wordOf(int64_t buffer, uint64_t offset, int place) const;
  // Checks that the message belongs to a call and that no index in it is out of range; then tells
  // the GPU.
  Status admit(int rank, int64_t buffer, int64_t chunk, const ChunkSlot &slot);
  Status admitDispatch(const kernels::LowLatencyShape &shape,
                       const kernels::LowLatencyMessage &header, const ChunkSlot &slot) const;
  Status admitCombine(int64_t buffer, const kernels::LowLatencyShape &shape,
                      const kernels::LowLatencyMessage &header, const ChunkSlot &slot);
  uint32_t expertsOfRank(const kernels::LowLatencyShape &shape) const {
    return shape.numExperts / static_cast<uint32_t>(world_.numRanks);
  }
  int64_t bytesOf(const kernels::LowLatencyShape &shape,
                  const kernels::LowLatencyMessage &header) const;
  kernels::LowLatencyShape copyOf(const kernels::LowLatencyShape &shape) const;

  std::shared_ptr<dl::GpuContext> gpu_;
  net::Transport &transport_;
  const MoeWorld world_;
  const kernels::LowLatencyFarArea area_;
  dl::GpuMemory pinned_;
  net::Memory *registered_ = nullptr;
  std::thread thread_;
  std::atomic<bool> isStopping_{false};
  mutable std::mutex mutex_; // protects the members below
  Status failure_;
  kernels::LowLatencyShape incoming_, outgoing_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_NODES_H
