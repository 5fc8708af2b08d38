// memory.h - a rank's buffers, in host memory or on its GPU, and access to those of others.

#ifndef COLL_TOOLS_COLL_PERF_RESHARD_MEMORY_H
#define COLL_TOOLS_COLL_PERF_RESHARD_MEMORY_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/exchange/reshard/nodes.h"
#include "runtime/net/bootstrap/bootstrap.h"
#include "tools/coll-perf/reshard/options.h"
#include "tools/coll-perf/reshard/pattern.h"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace coll::perf {

// One of a rank's buffers.
enum class Place { Source, Target, Scratch };
inline constexpr size_t kPlaces = 3;
inline constexpr unsigned char kSpoiled = 0x5e; // written by spoil()
using PlaceBytes = std::array<int64_t, kPlaces>;

// All-gathers what each rank tells the others, by rank, as plain bytes.
template <typename Card>
Status swapCards(const Card &mine, net::Bootstrap &bootstrap, int64_t timeoutUs,
                 std::vector<Card> &cards) {
  Result<std::vector<std::string>> all =
      bootstrap.allgather({reinterpret_cast<const char *>(&mine), sizeof mine}, timeoutUs);
  if (!all)
    return all.status();
  cards.resize(all->size());
  for (size_t i = 0; i < cards.size(); ++i)
    std::memcpy(&cards[i], (*all)[i].data(), sizeof(Card));
  return {};
}

class RankMemory {
public:
  virtual ~RankMemory() = default;

  rt::exchange::OwnBuffer own(Place place) const { return own_[static_cast<size_t>(place)]; }
  // Returns true if a rank's buffers can be accessed only over the network.
  virtual bool isFar(int /*rank*/) const { return false; }
  // Returns the buffer of another rank; it is valid as long as this rank's memory.
  virtual Result<rt::exchange::PeerBuffer> peer(int rank, Place place) = 0;

  Status fill(const ShardPattern &pattern);           // writes the source
  Result<int64_t> wrong(const ShardPattern &pattern); // number of wrong elements in the target
  // Overwrites the target, so that an earlier result is not taken for a new one.
  virtual Status spoil() = 0;

protected:
  // Copies to or from host memory; done on return.
  virtual Status write(char *to, const char *from, int64_t bytes) = 0;
  virtual Status read(char *to, const char *from, int64_t bytes) = 0;

  rt::exchange::OwnBuffer own_[kPlaces];
};

class HostRankMemory : public RankMemory {
public:
  Status spoil() override;

protected:
  Status write(char *to, const char *from, int64_t bytes) override;
  Status read(char *to, const char *from, int64_t bytes) override { return write(to, from, bytes); }
};

// Made from the environment; by default on this machine's loopback.
Result<std::unique_ptr<net::Transport>> makeTcp();

// One-sided access over tcp on this machine's loopback. All ranks call this and the functions below
// together.
Result<std::unique_ptr<RankMemory>> makeHostMemory(const ReshardTask &task, int rank,
                                                   const PlaceBytes &bytes,
                                                   net::Bootstrap &bootstrap);
// POSIX shared memory, which all ranks map.
Result<std::unique_ptr<RankMemory>>
makeSharedMemory(const ReshardTask &task, const PlaceBytes &bytes, net::Bootstrap &bootstrap);

class GpuRankMemory : public RankMemory {
public:
  virtual const std::shared_ptr<rt::dl::GpuContext> &gpu() const = 0;
  virtual rt::dl::CudaStream stream() const = 0;
  // The network between nodes: tcp on this machine's loopback; null if there is one node.
  virtual rt::exchange::ReshardNetwork *network() const = 0;
};
// Memory on GPU number rank modulo the number of GPUs, opened by CUDA IPC inside a node.
Result<std::unique_ptr<GpuRankMemory>> makeGpuMemory(const ReshardTask &task, int rank,
                                                     const PlaceBytes &bytes,
                                                     net::Bootstrap &bootstrap);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_RESHARD_MEMORY_H
