#include "runtime/exchange/flow/chunk_network.h"

namespace coll::rt {

Result<std::unique_ptr<ChunkNetwork>> ChunkNetwork::create(std::shared_ptr<dl::GpuContext> gpu,
                                                           net::Transport &transport, int rank,
                                                           int numRanks,
                                                           const ChunkPump::Options &options) {
  std::unique_ptr<ChunkNetwork> network(new ChunkNetwork(std::move(gpu), options.timeoutUs));
  COLL_RETURN_IF_ERROR(network->open(transport, rank, numRanks, options));
  return network;
}

Status ChunkNetwork::open(net::Transport &transport, int rank, int numRanks,
                          const ChunkPump::Options &options) {
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  for (dl::CudaStream *stream : {&out_, &in_})
    COLL_RETURN_IF_ERROR(gpu_->check(
        cuda.streamCreateWithPriority(stream, dl::kCudaStreamNonBlocking, dl::kCudaHighestPriority),
        "cuStreamCreateWithPriority"));
  COLL_RETURN_IF_ERROR(
      gpu_->check(cuda.eventCreate(&event_, dl::kCudaEventNoTiming), "cuEventCreate"));
  Result<std::unique_ptr<RankLinks>> links = RankLinks::create(transport, rank, numRanks);
  if (!links)
    return links.status();
  links_ = links.take();
  Result<std::unique_ptr<ChunkPump>> pump =
      ChunkPump::create(gpu_, transport, *links_, rank, numRanks, options);
  if (!pump)
    return pump.status();
  pump_ = pump.take();
  return {};
}

ChunkNetwork::~ChunkNetwork() {
  if (links_)
    links_->close();
  drain();
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  for (dl::CudaStream stream : {out_, in_})
    if (stream)
      (void)cuda.streamDestroy(stream);
  if (event_)
    (void)cuda.eventDestroy(event_);
  pump_.reset();
}

Status ChunkNetwork::order(dl::CudaStream earlier, dl::CudaStream later) const {
  const dl::Cuda &cuda = gpu_->cuda();
  COLL_RETURN_IF_ERROR(gpu_->check(cuda.eventRecord(event_, earlier), "cuEventRecord"));
  return gpu_->check(cuda.streamWaitEvent(later, event_, 0), "cuStreamWaitEvent");
}

void ChunkNetwork::drain() const {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  for (dl::CudaStream stream : {out_, in_})
    if (stream)
      (void)gpu_->cuda().streamSynchronize(stream);
}

} // namespace coll::rt
