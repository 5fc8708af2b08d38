// chunk_pump.h - flows between this rank and others (chunk_flow.h), many at once.
//
// A flow may have slots of its own, which others fill and empty: it may go on as long as the pump,
// and is asked whether a chunk is ready.
//
// run() may be under way in several threads, each with flows of its own; one of them at a time has
// flows by the pump's slots.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_PUMP_H
#define COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_PUMP_H

#include "runtime/exchange/flow/chunk_flow.h"
#include "runtime/exchange/flow/rank_links.h"

namespace coll::rt {

struct RankFlow : ChunkFlow {
  int rank = 0; // the other end

  // Slots of its own, registered as `memory`: chunk i is in the i-th, in turns. What comes may be
  // shorter than bytes().
  std::vector<ChunkSlot> slots;
  const net::Memory *memory = nullptr;
};

class ChunkPump {
public:
  struct Options {
    int64_t slotBytes = 0; // of ranks in `far`; a multiple of 256
    std::vector<int> far;  // ranks that long flows go to and come from
    int64_t timeoutUs = 0; // without any progress
  };
  // Other ranks have short slots, for short flows. The links and the transport outlive the pump.
  static Result<std::unique_ptr<ChunkPump>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   net::Transport &transport, RankLinks &links,
                                                   int rank, int numRanks, const Options &options);
  // The links have been closed.
  ~ChunkPump();

  int64_t slotBytes(int rank) const { return lanes_[static_cast<size_t>(rank)].slotBytes; }
  // Where chunk `chunk` of a flow passes.
  const ChunkSlot &slotOf(int rank, bool isSend, int64_t chunk) const;
  // Of all flows so far.
  int64_t bytesSent() const { return bytesSent_; }
  // Blocks until all flows are through. `watch` is asked again and again whether to go on. On an
  // error flows are left as they are: the links can only be closed. Without a deadline where one is
  // endless.
  Status run(std::vector<RankFlow> flows, const std::function<Status()> &watch);

private:
  static constexpr int kFarSlots = 3;
  static constexpr int64_t kNearBytes = 8192;

  // What is there for one rank.
  struct Lane {
    int64_t slotBytes = 0;
    std::vector<ChunkPlace> out, in;
  };
  struct Running;

  ChunkPump(std::shared_ptr<dl::GpuContext> gpu, net::Transport &transport, RankLinks &links,
            int64_t timeoutUs)
      : gpu_(std::move(gpu)), transport_(transport), links_(links), timeoutUs_(timeoutUs) {}
  Status open(int rank, int numRanks, const Options &options);
  Status addPlace(std::vector<ChunkPlace> &places, int64_t slotBytes, int64_t &used);
  Running start(RankFlow &flow);

  std::shared_ptr<dl::GpuContext> gpu_;
  net::Transport &transport_;
  RankLinks &links_;
  const int64_t timeoutUs_;
  dl::GpuMemory pinned_;
  net::Memory *registered_ = nullptr;
  std::vector<Lane> lanes_; // by rank
  std::atomic<int64_t> bytesSent_{0};
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_PUMP_H
