// chunk_flow.h - bytes over a connection, in chunks, through a few slots of pinned memory.
//
// A *flow* is the data of one call in one direction. A sender's slots are filled, on a stream or at
// once, then sent; a receiver's slots are received, then emptied. So copies and the network
// overlap, and memory is bounded, however long the flow is. Chunks keep their order.
//
// One thread at a time may use it.

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
  int64_t bytes = 0;      // number of bytes that have arrived
};

struct ChunkFlow {
  static constexpr int64_t kEndless = INT64_MAX;

  bool isSend = false;
  uint64_t tag = 0; // the same at both ends; used by one flow in each direction at a time
  int64_t numChunks = 0;
  std::function<int64_t(int64_t chunk)> bytes; // at most the bytes of a slot
  // Fills the slot, or empties it; in the order of chunks. With a stream, the work is on it when
  // the function returns.
  std::function<Status(int64_t chunk, const ChunkSlot &slot)> move;
  dl::CudaStream stream = nullptr; // null: done at once

  // Instead of a stream: whether the chunk is ready to be sent, or was emptied. bytes() of a chunk
  // to send is called afterwards, `move` of a received chunk before.
  std::function<bool(int64_t chunk)> isMoved;
  std::function<void(int64_t chunk)> isGone; // a sender's slot is free
  bool mayBeShorter = false;                 // received chunks may be shorter than bytes()
};

// A slot with the work in progress in it.
struct ChunkPlace {
  enum class State { Free, Copying, OnWire };
  ChunkSlot slot;
  dl::CudaEvent event = nullptr; // if flows have streams
  State state = State::Free;
  net::Request *request = nullptr;
};

// A flow and its progress. Chunk i uses the places in turns.
class ChunkRun {
public:
  struct Way {
    net::Connection &connection;
    std::vector<ChunkPlace> &places; // all free
    const net::Memory *memory = nullptr;
    const dl::GpuContext *gpu = nullptr;  // null if the flow has no stream
    std::atomic<int64_t> *sent = nullptr; // bytes are added here
  };
  ChunkRun(ChunkFlow flow, const Way &way) : flow_(std::move(flow)), way_(way) {}

  const ChunkFlow &flow() const { return flow_; }
  bool isDone() const { return ended_ == flow_.numChunks; }
  // Does what is possible now. Returns whether anything changed. After an error the flow is left
  // unfinished: the connection has to be closed.
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

// Slots for one flow at a time, and a stream for it.
class ChunkLane {
public:
  // Pinned memory if there is a GPU (`gpu` may be null), registered with the transport, which
  // outlives the lane.
  static Result<std::unique_ptr<ChunkLane>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   net::Transport &transport, int device, int slots,
                                                   int64_t slotBytes);
  // No request may still use its slots.
  ~ChunkLane();
  ChunkLane(const ChunkLane &) = delete;
  ChunkLane &operator=(const ChunkLane &) = delete;

  int64_t slotBytes() const { return slotBytes_; }
  dl::CudaStream stream() const { return stream_; }
  ChunkRun start(ChunkFlow flow, net::Connection &connection);
  // Waits until no copy is in flight.
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
