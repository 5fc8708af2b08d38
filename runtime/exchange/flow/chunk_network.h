// chunk_network.h - a rank's resources for flows to and from other ranks: connections to all of
// them, the pump over these, and a stream for the copies of each direction.
//
// Threads: see links() and pump(); one thread at a time may call the other functions.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_NETWORK_H
#define COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_NETWORK_H

#include "runtime/exchange/flow/chunk_pump.h"

#include <memory>
#include <vector>

namespace coll::rt {

class ChunkNetwork {
public:
  // Nothing is connected yet. The transport outlives the object.
  static Result<std::unique_ptr<ChunkNetwork>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                      net::Transport &transport, int rank,
                                                      int numRanks,
                                                      const ChunkPump::Options &options);
  // Closes connections, and waits for copies.
  ~ChunkNetwork();
  ChunkNetwork(const ChunkNetwork &) = delete;
  ChunkNetwork &operator=(const ChunkNetwork &) = delete;

  // The data that the other ranks need to connect.
  const net::Handle &handle() const { return links_->handle(); }
  // Blocks until all are connected; handles[r] is rank r's.
  Status connect(const std::vector<net::Handle> &handles) {
    return links_->connect(handles, timeoutUs_);
  }
  RankLinks &links() { return *links_; }
  ChunkPump &pump() { return *pump_; }
  const ChunkPump &pump() const { return *pump_; }

  // Streams for data to send and for received data, with the highest priority, because other
  // streams wait for them.
  dl::CudaStream out() const { return out_; }
  dl::CudaStream in() const { return in_; }
  // `later` continues when the present work of `earlier` is done.
  Status order(dl::CudaStream earlier, dl::CudaStream later) const;
  // Waits until no copy is in flight.
  void drain() const;

private:
  ChunkNetwork(std::shared_ptr<dl::GpuContext> gpu, int64_t timeoutUs)
      : gpu_(std::move(gpu)), timeoutUs_(timeoutUs) {}
  Status open(net::Transport &transport, int rank, int numRanks, const ChunkPump::Options &options);

  const std::shared_ptr<dl::GpuContext> gpu_;
  const int64_t timeoutUs_;
  dl::CudaStream out_ = nullptr, in_ = nullptr;
  dl::CudaEvent event_ = nullptr;
  std::unique_ptr<RankLinks> links_;
  std::unique_ptr<ChunkPump> pump_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_FLOW_CHUNK_NETWORK_H
