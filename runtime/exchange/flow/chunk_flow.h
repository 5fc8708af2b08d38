// chunk_flow.h - bytes over a connection, in chunks, by way of a few slots of pinned memory.
//
// A *flow* is what goes one way in one call. A sender's slots are filled, on a stream or at once,
// then sent; a receiver's come, then are taken away. So copies and the network overlap, and memory
// is bounded, however long the flow is. Chunks pass in their order.
//
// One thread at a time.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_FLOW_H
#define COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_FLOW_H

#include "runtime/base/aligned_buffer.h"
#include "runtime/dl/gpu_memory.h"
#include "runtime/net/transport.h"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace coll::rt {

struct ChunkSlot {
  char *host = nullptr;   // aligned to 64, in pinned memory to 256
  char *device = nullptr; // the same memory, as the GPU addresses it
  int64_t bytes = 0;      // of what has come
};

struct ChunkFlow {
  static constexpr int64_t kEndless = INT64_MAX;

  bool isSend = false;
  uint64_t tag = 0; // the same at both ends; of one flow in each direction at a time
  int64_t numChunks = 0;
  std::function<int64_t(int64_t chunk)> bytes; // up to a slot's
  // Fills the slot, or takes away what is in it; in the order of chunks. With a stream: the work
  // is on it when the function returns.
  std::function<Status(int64_t chunk, const ChunkSlot &slot)> move;
  dl::CudaStream stream = nullptr; // null: done at once

  // Instead of a stream: whether the chunk is there to be sent, or was taken away. bytes() of what
  // is sent, and `move` of what has come, are asked after and before that.
  std::function<bool(int64_t chunk)> isMoved;
  std::function<void(int64_t chunk)> isGone; // a sender's slot is free
  bool mayBeShorter = false;                 // what comes, than bytes()
};

// A slot with what is under way in it.
struct ChunkPlace {
  enum class State { Free, Copying, OnWire };
  ChunkSlot slot;
  dl::CudaEvent event = nullptr; // where flows have streams
  State state = State::Free;
  net::Request *request = nullptr;
};

// A flow, and how far it is. Chunk i passes through the i-th place, in turns.
class ChunkRun {
public:
  struct Way {
    net::Connection &connection;
    std::vector<ChunkPlace> &places; // all free
    const net::Memory *memory = nullptr;
    const dl::GpuContext *gpu = nullptr;  // null where the flow has no stream
    std::atomic<int64_t> *sent = nullptr; // bytes are added here
  };
  ChunkRun(ChunkFlow flow, const Way &way) : flow_(std::move(flow)), way_(way) {}

  const ChunkFlow &flow() const { return flow_; }
  bool isDone() const { return ended_ == flow_.numChunks; }
  // Does what can be done now; whether something has changed. On an error the flow is left as it
  // is: the connection can only be closed.
  Result<bool> advance();

private:
  Result<bool> advanceSend(ChunkPlace &place, int64_t chunk);
  Result<bool> advanceRecv(ChunkPlace &place, int64_t chunk);
  Result<bool> isCopied(const ChunkPlace &place, int64_t chunk) const;
  Status move(const ChunkPlace &place, int64_t chunk);
  ChunkPlace &placeOf(int64_t chunk) const {
    return way_.places[static_cast<size_t>(chunk) % way_.places.size()];
  }
  net::Segment segmentOf(const ChunkPlace &place, int64_t bytes) const {
    return {place.slot.host, static_cast<uint64_t>(bytes), way_.memory};
  }

  ChunkFlow flow_;
  Way way_;
  int64_t begun_ = 0, ended_ = 0; // chunks
};

// Slots of their own for one flow at a time, and a stream for it.
class ChunkLane {
public:
  // Pinned memory where there is a GPU (null: none), registered with the transport, which outlives
  // the lane.
  static Result<std::unique_ptr<ChunkLane>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   net::Transport &transport, int device, int slots,
                                                   int64_t slotBytes);
  // No request uses its slots any more.
  ~ChunkLane();
  ChunkLane(const ChunkLane &) = delete;
  ChunkLane &operator=(const ChunkLane &) = delete;

  int64_t slotBytes() const { return slotBytes_; }
  dl::CudaStream stream() const { return stream_; }
  ChunkRun start(ChunkFlow flow, net::Connection &connection);
  // Until no copy is under way.
  void drain();

private:
  ChunkLane(std::shared_ptr<dl::GpuContext> gpu, net::Transport &transport, int64_t slotBytes)
      : gpu_(std::move(gpu)), transport_(transport), slotBytes_(slotBytes) {}
  Status open(int device, int slots);

  const std::shared_ptr<dl::GpuContext> gpu_;
  net::Transport &transport_;
  const int64_t slotBytes_;
  dl::GpuMemory pinned_;
  AlignedBuffer plain_;
  net::Memory *registered_ = nullptr;
  dl::CudaStream stream_ = nullptr;
  std::vector<ChunkPlace> places_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_FLOW_H
