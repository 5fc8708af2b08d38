#include "runtime/exchange/reshard_gpu.h"

#include <cstring>
#include <string>
#include <utility>

namespace coll::rt::exchange {

namespace {

constexpr int kMostStreams = 16;

using kernels::ReshardEntry;
using kernels::ReshardPiece;
using kernels::ReshardTable;

// The boxes of this rank, with their buffers.
std::vector<ReshardPiece> piecesOf(const ReshardPlan &plan, int rank,
                                   const ReshardBuffers &buffers) {
  const bool isPush = buffers.direction == ReshardDirection::Push;
  const OwnBuffer &target =
      plan.strategy == ReshardStrategy::Gather ? buffers.scratch : buffers.target;
  std::vector<ReshardPiece> pieces;
  for (const Transfer *transfer : transfersOf(plan, rank, buffers.direction)) {
    const void *src = buffers.source.data;
    void *dst = target.data;
    if (!transfer->isLocal && isPush)
      dst = buffers.peers[static_cast<size_t>(transfer->receiver)].data;
    if (!transfer->isLocal && !isPush)
      src = buffers.peers[static_cast<size_t>(transfer->sender)].data;
    for (const StridedBox &box : transfer->boxes)
      pieces.push_back({src, dst, box, transfer->isLocal});
  }
  return pieces;
}

std::vector<ReshardPiece> slicesOf(const ReshardPlan &plan, int rank,
                                   const ReshardBuffers &buffers) {
  std::vector<ReshardPiece> pieces;
  const int receiver = plan.receiverOf(rank);
  if (plan.strategy == ReshardStrategy::Gather && receiver >= 0)
    for (const StridedBox &box : plan.slices[static_cast<size_t>(receiver)])
      pieces.push_back({buffers.scratch.data, buffers.target.data, box, /*isLocal=*/true});
  return pieces;
}

Status checkOptions(const ReshardPlan &plan, int rank, const ReshardBuffers &buffers,
                    const GpuReshardOptions &options) {
  const std::string where = "rank " + std::to_string(rank) + ": ";
  if (options.streams < 1 || options.streams > kMostStreams)
    return Status::invalid(where + std::to_string(options.streams) + " streams: 1 to " +
                           std::to_string(kMostStreams) + " are possible");
  if (options.blocks != 0 && options.blocks < options.streams)
    return Status::invalid(where + std::to_string(options.blocks) + " blocks for " +
                           std::to_string(options.streams) + " streams");
  for (const Transfer *transfer : transfersOf(plan, rank, buffers.direction)) {
    const int peer =
        buffers.direction == ReshardDirection::Push ? transfer->receiver : transfer->sender;
    if (!transfer->isLocal && !buffers.peers[static_cast<size_t>(peer)].data)
      return Status(kCollUnsupported, where + "the buffer of peer " + std::to_string(peer) +
                                          " is no memory that the GPU can address");
  }
  return {};
}

} // namespace

Result<std::unique_ptr<GpuReshard>> GpuReshard::create(const ReshardPlan &plan, int rank,
                                                       const ReshardBuffers &buffers,
                                                       std::shared_ptr<dl::GpuContext> gpu,
                                                       const GpuReshardOptions &options,
                                                       Launch launch) {
  COLL_RETURN_IF_ERROR(checkReshard(plan, rank, buffers));
  COLL_RETURN_IF_ERROR(checkOptions(plan, rank, buffers, options));
  Result<ReshardTable> transfers = kernels::compileReshard(piecesOf(plan, rank, buffers));
  if (!transfers)
    return transfers.status();
  Result<ReshardTable> slices = kernels::compileReshard(slicesOf(plan, rank, buffers));
  if (!slices)
    return slices.status();

  dl::CudaScope scope(gpu->cuda(), gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  std::unique_ptr<GpuReshard> made(new GpuReshard(std::move(gpu), options, launch));
  made->transfers_ = {0, transfers->counts};
  made->slices_ = {transfers->entries.size(), slices->counts};
  std::vector<ReshardEntry> entries = std::move(transfers->entries);
  entries.insert(entries.end(), slices->entries.begin(), slices->entries.end());
  COLL_RETURN_IF_ERROR(made->makeStreams());
  COLL_RETURN_IF_ERROR(made->upload(entries));
  return made;
}

GpuReshard::~GpuReshard() {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  for (dl::CudaEvent event : events_)
    (void)gpu_->cuda().eventDestroy(event);
  for (dl::CudaStream stream : streams_)
    (void)gpu_->cuda().streamDestroy(stream);
}

Status GpuReshard::makeStreams() {
  const dl::Cuda &cuda = gpu_->cuda();
  const int others = options_.streams - 1;
  for (int i = 0; i < others; ++i) {
    dl::CudaStream stream = nullptr;
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.streamCreate(&stream, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
    streams_.push_back(stream);
  }
  for (int i = 0; others > 0 && i <= others; ++i) {
    dl::CudaEvent event = nullptr;
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.eventCreate(&event, dl::kCudaEventNoTiming), "cuEventCreate"));
    events_.push_back(event);
  }
  return {};
}

Status GpuReshard::upload(const std::vector<ReshardEntry> &entries) {
  if (entries.empty())
    return {};
  const dl::Cuda &cuda = gpu_->cuda();
  const size_t bytes = entries.size() * sizeof(ReshardEntry);
  Result<dl::GpuMemory> staged =
      dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, static_cast<int64_t>(bytes));
  if (!staged)
    return staged.status();
  std::memcpy(staged->host(), entries.data(), bytes);
  Result<dl::GpuMemory> memory =
      dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Device, static_cast<int64_t>(bytes));
  if (!memory)
    return memory.status();
  table_ = memory.take();
  dl::CudaStream stream = nullptr;
  COLL_RETURN_IF_ERROR(
      gpu_->check(cuda.streamCreate(&stream, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  Status copied =
      gpu_->check(cuda.memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(table_.device()),
                                       staged->host(), bytes, stream),
                  "cuMemcpyHtoDAsync");
  Status ended = gpu_->check(cuda.streamSynchronize(stream), "cuStreamSynchronize");
  (void)cuda.streamDestroy(stream);
  return copied.ok() ? ended : copied;
}

Status GpuReshard::order(dl::CudaEvent event, dl::CudaStream earlier, dl::CudaStream later) {
  const dl::Cuda &cuda = gpu_->cuda();
  COLL_RETURN_IF_ERROR(gpu_->check(cuda.eventRecord(event, earlier), "cuEventRecord"));
  return gpu_->check(cuda.streamWaitEvent(later, event, 0), "cuStreamWaitEvent");
}

Status GpuReshard::put(const Work &work, dl::CudaStream stream) {
  if (work.counts.remoteUnits + work.counts.localUnits == 0)
    return {};
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  kernels::ReshardCopy copy;
  copy.entries = reinterpret_cast<const ReshardEntry *>(table_.device()) + work.first;
  copy.counts = work.counts;
  copy.blocks = options_.blocks / options_.streams;
  copy.parts = static_cast<uint32_t>(options_.streams);
  for (size_t i = 0; i < streams_.size(); ++i) {
    COLL_RETURN_IF_ERROR(order(events_[0], stream, streams_[i]));
    copy.part = static_cast<uint32_t>(i + 1);
    COLL_RETURN_IF_ERROR(launch_(copy, streams_[i]));
  }
  copy.part = 0;
  COLL_RETURN_IF_ERROR(launch_(copy, stream));
  for (size_t i = 0; i < streams_.size(); ++i)
    COLL_RETURN_IF_ERROR(order(events_[i + 1], streams_[i], stream));
  return {};
}

Status GpuReshard::run(dl::CudaStream stream) { return put(transfers_, stream); }
Status GpuReshard::slice(dl::CudaStream stream) { return put(slices_, stream); }

} // namespace coll::rt::exchange
