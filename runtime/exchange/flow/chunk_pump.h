// chunk_pump.h - flows between this rank and others (chunk_flow.h), many at once.
//
// A flow may have slots of its own, which its user fills and empties. Such a flow may last as long
// as the pump; its user says when a chunk is ready.
//
// Several threads may be in run(), each with its own flows; only one of them at a time may have
// flows that use the pump's slots.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_PUMP_H
#define COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_PUMP_H

#include "runtime/exchange/flow/chunk_flow.h"
#include "runtime/exchange/flow/rank_links.h"

namespace coll::rt {

struct RankFlow : ChunkFlow {
  int rank = 0; // the other end

  // The flow's own slots, registered as `memory`: chunks use them in turns. Received chunks may be
  // shorter than bytes().
  std::vector<ChunkSlot> slots;
  const net::Memory *memory = nullptr;
};

class ChunkPump {
public:
  struct Options {
    int64_t slotBytes = 0; // for ranks in `far`; a multiple of 256
    std::vector<int> far;  // ranks with long flows
    int64_t timeoutUs = 0; // limit without any progress
  };
  // Ranks that are not in `far` have short slots, for short flows. The links and the transport
  // outlive the pump.
  static Result<std::unique_ptr<ChunkPump>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   net::Transport &transport, RankLinks &links,
                                                   int rank, int numRanks, const Options &options);
  // The links have to be closed before.
  ~ChunkPump();

  int64_t slotBytes(int rank) const { return lanes_[static_cast<size_t>(rank)].slotBytes; }
  // The slot of chunk `chunk` of a flow.
  const ChunkSlot &slotOf(int rank, bool isSend, int64_t chunk) const;
  // Sum over all flows so far.
  int64_t bytesSent() const { return bytesSent_; }
  // Blocks until all flows are done. `watch` is called repeatedly and returns whether to continue.
  // After an error flows are left unfinished: the links have to be closed. There is no deadline if
  // a flow is endless.
  Status run(std::vector<RankFlow> flows, const std::function<Status()> &watch);

private:
  static constexpr int kFarSlots = 3;
  static constexpr int64_t kNearBytes = 8192;

  // The resources for one rank.
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
