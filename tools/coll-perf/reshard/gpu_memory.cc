#include "runtime/gpu/memory.h"
#include "tools/coll-perf/gpu_of_rank.h"
#include "tools/coll-perf/reshard/memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace coll::perf {

namespace {

using rt::dl::GpuContext;
using rt::dl::GpuMemory;
using rt::gpu::Block;
using rt::gpu::Export;
using rt::gpu::Sharing;
using rt::gpu::Window;

constexpr int64_t kStagingBytes = 8 << 20;

// What a rank tells the others, sent as plain bytes.
struct Card {
  Export places[kPlaces];
  net::Handle handle; // between nodes
};

class IpcMemory final : public GpuRankMemory {
public:
  ~IpcMemory() override {
    if (!gpu_)
      return;
    rt::dl::CudaScope scope(gpu_->cuda(), gpu_->context());
    if (stream_)
      (void)gpu_->cuda().streamDestroy(stream_);
  }

  Status open(const ReshardTask &task, int rank, const PlaceBytes &bytes,
              net::Bootstrap &bootstrap) {
    Result<std::shared_ptr<GpuContext>> gpu = openGpuOfRank(rank);
    if (!gpu)
      return gpu.status();
    gpu_ = gpu.take();
    task_ = &task;
    rank_ = rank;
    {
      rt::dl::CudaScope scope(gpu_->cuda(), gpu_->context());
      COLL_RETURN_IF_ERROR(gpu_->check(
          gpu_->cuda().streamCreate(&stream_, rt::dl::kCudaStreamNonBlocking), "cuStreamCreate"));
    }
    Result<GpuMemory> staging = GpuMemory::create(gpu_, GpuMemory::Kind::Pinned, kStagingBytes);
    if (!staging)
      return staging.status();
    staging_ = staging.take();
    Card card;
    for (size_t place = 0; place < kPlaces; ++place) {
      Result<Block> made = Block::create(gpu_, Sharing::Ipc, std::max<int64_t>(bytes[place], 1),
                                         /*id=*/place);
      if (!made)
        return made.status();
      blocks_[place] = made.take();
      card.places[place] = blocks_[place].exported();
      own_[place] = {blocks_[place].data(), bytes[place], nullptr};
    }
    if (task.nodes > 1) {
      COLL_RETURN_IF_ERROR(openNetwork());
      card.handle = network_->handle();
    }
    COLL_RETURN_IF_ERROR(swapCards(card, bootstrap, task.timeoutUs, cards_));
    if (!network_)
      return {};
    std::vector<net::Handle> handles;
    for (const Card &theirs : cards_)
      handles.push_back(theirs.handle);
    return network_->connect(handles);
  }

  const std::shared_ptr<GpuContext> &gpu() const override { return gpu_; }
  rt::dl::CudaStream stream() const override { return stream_; }
  rt::exchange::ReshardNetwork *network() const override { return network_.get(); }
  bool isFar(int rank) const override { return task_->nodeOf(rank) != task_->nodeOf(rank_); }

  Result<rt::exchange::PeerBuffer> peer(int rank, Place place) override {
    const auto key = std::pair(rank, place);
    const Export &exported = cards_[static_cast<size_t>(rank)].places[static_cast<size_t>(place)];
    if (windows_.find(key) == windows_.end()) {
      Result<Window> opened = Window::open(gpu_, exported, net::Fd());
      if (!opened)
        return opened.status().annotate("memory of rank " + std::to_string(rank));
      windows_.emplace(key, opened.take());
    }
    return rt::exchange::PeerBuffer{windows_[key].data(), exported.bytes, nullptr, {}, 1};
  }

  Status spoil() override {
    rt::dl::CudaScope scope(gpu_->cuda(), gpu_->context());
    for (Place place : {Place::Target, Place::Scratch})
      if (own(place).bytes > 0)
        COLL_RETURN_IF_ERROR(gpu_->check(
            gpu_->cuda().memsetD8Async(reinterpret_cast<rt::dl::CudaAddress>(own(place).data),
                                       kSpoiled, static_cast<size_t>(own(place).bytes), stream_),
            "cuMemsetD8Async"));
    return gpu_->check(gpu_->cuda().streamSynchronize(stream_), "cuStreamSynchronize");
  }

protected:
  Status write(char *to, const char *from, int64_t bytes) override {
    rt::dl::CudaScope scope(gpu_->cuda(), gpu_->context());
    const auto size = static_cast<size_t>(bytes);
    std::memcpy(staging_.host(), from, size);
    COLL_RETURN_IF_ERROR(
        gpu_->check(gpu_->cuda().memcpyHtoDAsync(reinterpret_cast<rt::dl::CudaAddress>(to),
                                                 staging_.host(), size, stream_),
                    "cuMemcpyHtoDAsync"));
    return gpu_->check(gpu_->cuda().streamSynchronize(stream_), "cuStreamSynchronize");
  }
  Status read(char *to, const char *from, int64_t bytes) override {
    rt::dl::CudaScope scope(gpu_->cuda(), gpu_->context());
    const auto size = static_cast<size_t>(bytes);
    COLL_RETURN_IF_ERROR(gpu_->check(
        gpu_->cuda().memcpyDtoHAsync(staging_.host(), reinterpret_cast<rt::dl::CudaAddress>(from),
                                     size, stream_),
        "cuMemcpyDtoHAsync"));
    COLL_RETURN_IF_ERROR(
        gpu_->check(gpu_->cuda().streamSynchronize(stream_), "cuStreamSynchronize"));
    std::memcpy(to, staging_.host(), size);
    return {};
  }

private:
  Status openNetwork() {
    Result<std::unique_ptr<net::Transport>> transport = makeTcp();
    if (!transport)
      return transport.status();
    transport_ = transport.take();
    rt::exchange::ReshardNetworkOptions network;
    network.transport = transport_.get();
    network.timeoutUs = task_->timeoutUs;
    for (int rank = 0; rank < task_->ranks; ++rank)
      network.nodes.push_back(task_->nodeOf(rank));
    Result<std::unique_ptr<rt::exchange::ReshardNetwork>> made =
        rt::exchange::ReshardNetwork::create(gpu_, rank_, network);
    if (!made)
      return made.status();
    network_ = made.take();
    return {};
  }

  const ReshardTask *task_ = nullptr;
  int rank_ = 0;
  std::unique_ptr<net::Transport> transport_; // between nodes
  std::shared_ptr<GpuContext> gpu_;
  rt::dl::CudaStream stream_ = nullptr;
  GpuMemory staging_;
  Block blocks_[kPlaces];
  std::vector<Card> cards_;
  std::map<std::pair<int, Place>, Window> windows_;
  std::unique_ptr<rt::exchange::ReshardNetwork> network_;
};

} // namespace

Result<std::unique_ptr<GpuRankMemory>> makeGpuMemory(const ReshardTask &task, int rank,
                                                     const PlaceBytes &bytes,
                                                     net::Bootstrap &bootstrap) {
  auto memory = std::make_unique<IpcMemory>();
  COLL_RETURN_IF_ERROR(memory->open(task, rank, bytes, bootstrap));
  return std::unique_ptr<GpuRankMemory>(std::move(memory));
}

} // namespace coll::perf
