// moe_pump.h - bytes between this rank and others, in chunks, by way of pinned memory.
//
// A *flow* is what goes to one rank, or comes from it, in one call. Its chunks pass through a few
// slots of pinned memory: a sender's are filled, on a stream or at once, then sent; a receiver's
// come, then are taken away. So copies and the network overlap, and memory is bounded, however long
// the flows are.
//
// A flow may have slots of its own instead, which others fill and empty: it may go on as long as
// the pump, and is asked whether a chunk is ready.
//
// run() may be under way in several threads, each with flows of its own; one of them at a time has
// flows by the pump's slots.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_PUMP_H
#define COLL_RUNTIME_EXCHANGE_MOE_PUMP_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/exchange/moe_links.h"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace coll::rt {

struct MoeSlot {
  char *host = nullptr;   // aligned to 256
  char *device = nullptr; // the same memory, as the GPU addresses it
  int64_t bytes = 0;      // of what has come
};

struct MoeFlow {
  static constexpr int64_t kEndless = INT64_MAX;

  int rank = 0; // the other end
  bool isSend = false;
  uint64_t tag = 0; // the same at both ends; of one flow in each direction at a time
  int64_t numChunks = 0;
  std::function<int64_t(int64_t chunk)> bytes; // up to slotBytes()
  // Fills the slot, or takes away what is in it; in the order of chunks. With a stream: the work
  // is on it when the function returns.
  std::function<Status(int64_t chunk, const MoeSlot &slot)> move;
  dl::CudaStream stream = nullptr; // null: done at once

  // Slots of its own, registered as `memory`: chunk i is in the i-th, in turns. What comes may be
  // shorter than bytes().
  std::vector<MoeSlot> slots;
  const net::Memory *memory = nullptr;
  // With them, instead of a stream: whether the chunk is there to be sent, or was taken away.
  // bytes() of what is sent, and `move` of what has come, are asked after and before that.
  std::function<bool(int64_t chunk)> isMoved;
  std::function<void(int64_t chunk)> isGone; // a sender's slot is free
};

class MoePump {
public:
  struct Options {
    int64_t slotBytes = 0; // of ranks in `far`; a multiple of 256
    std::vector<int> far;  // ranks that long flows go to and come from
    int64_t timeoutUs = 0; // without any progress
  };
  // Other ranks have short slots, for short flows. The links and the transport outlive the pump.
  static Result<std::unique_ptr<MoePump>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                 net::Transport &transport, MoeLinks &links,
                                                 int rank, int numRanks, const Options &options);
  // The links have been closed.
  ~MoePump();

  int64_t slotBytes(int rank) const { return lanes_[static_cast<size_t>(rank)].slotBytes; }
  // Of all flows so far.
  int64_t bytesSent() const { return bytesSent_; }
  // Blocks until all flows are through. `watch` is asked again and again whether to go on. On an
  // error flows are left as they are: the links can only be closed. Without a deadline where one is
  // endless.
  Status run(std::vector<MoeFlow> flows, const std::function<Status()> &watch);

private:
  static constexpr int kFarSlots = 3;
  static constexpr int64_t kNearBytes = 8192;

  enum class State { Free, Copying, OnWire };
  struct Place {
    MoeSlot slot;
    dl::CudaEvent event = nullptr;
    State state = State::Free;
    net::Request *request = nullptr;
  };
  // What is there for one rank.
  struct Lane {
    int64_t slotBytes = 0;
    std::vector<Place> out, in;
  };
  struct Running;

  MoePump(std::shared_ptr<dl::GpuContext> gpu, net::Transport &transport, MoeLinks &links,
          int64_t timeoutUs)
      : gpu_(std::move(gpu)), transport_(transport), links_(links), timeoutUs_(timeoutUs) {}
  Status open(int rank, int numRanks, const Options &options);
  Status addPlace(std::vector<Place> &places, int64_t slotBytes, int64_t &used);
  // Whether something has changed.
  Result<bool> advance(Running &running);
  Result<bool> advanceSend(Running &running, Place &place, int64_t chunk);
  Result<bool> advanceRecv(Running &running, Place &place, int64_t chunk);
  Result<bool> isCopied(const MoeFlow &flow, int64_t chunk, const Place &place) const;
  Status move(const MoeFlow &flow, int64_t chunk, Place &place);
  net::Segment segmentOf(const MoeFlow &flow, const Place &place, int64_t bytes) const {
    return {place.slot.host, static_cast<uint64_t>(bytes),
            flow.slots.empty() ? registered_ : flow.memory};
  }

  std::shared_ptr<dl::GpuContext> gpu_;
  net::Transport &transport_;
  MoeLinks &links_;
  const int64_t timeoutUs_;
  dl::GpuMemory pinned_;
  net::Memory *registered_ = nullptr;
  std::vector<Lane> lanes_; // by rank
  std::atomic<int64_t> bytesSent_{0};
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_PUMP_H
