#include "runtime/backend/net/gpu_channel.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

namespace {

GpuChannel::Ticket ticketOf(GpuChannel::Queue queue, uint64_t number) {
  return number * GpuChannel::kQueues + queue;
}

} // namespace

Result<std::unique_ptr<GpuChannel>> GpuChannel::create(const GpuPlatform &platform,
                                                       std::shared_ptr<GpuContext> gpu,
                                                       const GpuChannelOptions &options) {
  std::unique_ptr<GpuChannel> channel(new GpuChannel(platform, std::move(gpu), options));
  COLL_RETURN_IF_ERROR(channel->allocate());
  channel->watcher_ = std::thread([raw = channel.get()] { raw->watch(); });
  return channel;
}

Status GpuChannel::allocate() {
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  COLL_RETURN_IF_ERROR(platform_.load());
  Result<GpuMemory> shared =
      GpuMemory::create(gpu_, GpuMemory::Kind::Pinned, sizeof(ChannelShared));
  if (!shared)
    return shared.status();
  shared_ = shared.take();
  std::memset(shared_.host(), 0, sizeof(ChannelShared));
  Result<GpuMemory> state = GpuMemory::create(gpu_, GpuMemory::Kind::Device, sizeof(ChannelState));
  if (!state)
    return state.status();
  state_ = state.take();
  COLL_RETURN_IF_ERROR(
      gpu_->check(cuda.streamCreate(&stream_, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  COLL_RETURN_IF_ERROR(
      gpu_->check(cuda.memsetD8Async(reinterpret_cast<dl::CudaAddress>(state_.device()), 0,
                                     sizeof(ChannelState), stream_),
                  "cuMemsetD8Async"));
  COLL_RETURN_IF_ERROR(gpu_->check(cuda.streamSynchronize(stream_), "cuStreamSynchronize"));
  launch_.shared = reinterpret_cast<ChannelShared *>(shared_.device());
  launch_.state = reinterpret_cast<ChannelState *>(state_.device());
  launch_.numQueues = kQueues;
  launch_.blocksPerQueue = static_cast<uint32_t>(
      std::clamp(options_.blocks / static_cast<int>(kQueues), 1, int{kChannelMaxBlocks / kQueues}));
  launch_.compress = options_.compress;
  launch_.idleTimeoutNs = static_cast<uint64_t>(options_.timeoutUs) * 1000;
  port_ = std::make_unique<kernels::ChannelPort>(reinterpret_cast<ChannelShared *>(shared_.host()),
                                                 kQueues, launch_.blocksPerQueue);
  return Status::okay();
}

GpuChannel::~GpuChannel() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (watcher_.joinable())
    watcher_.join();
  if (!stream_)
    return;
  if (running_)
    port_->abort();
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  gpu_->cuda().streamSynchronize(stream_);
  // A kernel in emulation is on no stream: its last store says that it has left.
  const auto patience = Clock::now() + std::chrono::seconds(10);
  while (!port_->hasExited(launch_.number) && Clock::now() < patience)
    std::this_thread::yield();
  gpu_->cuda().streamDestroy(stream_);
}

Status GpuChannel::launch() {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  ++launch_.number;
  COLL_RETURN_IF_ERROR(platform_.launch(launch_, stream_));
  running_ = true;
  wake_.notify_one();
  return Status::okay();
}

Result<GpuChannel::Ticket> GpuChannel::post(Queue queue, const ChannelItem &item,
                                            const std::vector<const void *> &sources) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!running_)
    COLL_RETURN_IF_ERROR(launch());
  lastUse_ = Clock::now();
  const uint64_t number = ++given_[queue];
  if (waiting_[queue].empty() && !port_->full(queue))
    port_->post(queue, item, sources.empty() ? nullptr : sources.data());
  else
    waiting_[queue].push_back({item, sources});
  return ticketOf(queue, number);
}

void GpuChannel::fillSlots() {
  for (uint32_t queue = 0; queue < kQueues; ++queue)
    while (!waiting_[queue].empty() && !port_->full(queue)) {
      const Waiting &next = waiting_[queue].front();
      port_->post(queue, next.item, next.sources.empty() ? nullptr : next.sources.data());
      waiting_[queue].pop_front();
      lastUse_ = Clock::now();
    }
}

Result<bool> GpuChannel::isDone(Ticket ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  fillSlots();
  if (port_->isDone(static_cast<uint32_t>(ticket % kQueues), ticket / kQueues)) {
    // What a bad page did not bring is known with the item's end.
    COLL_RETURN_IF_ERROR(port_->error());
    return true;
  }
  COLL_RETURN_IF_ERROR(port_->error());
  return false;
}

Status GpuChannel::waitFor(Ticket ticket) {
  for (;;) {
    Result<bool> done = isDone(ticket);
    if (!done || *done)
      return done.status();
    std::this_thread::yield();
  }
}

bool GpuChannel::isIdle() const {
  for (uint32_t queue = 0; queue < kQueues; ++queue)
    if (!waiting_[queue].empty() || !port_->isIdle(queue))
      return false;
  return true;
}

void GpuChannel::stopKernel() {
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    port_->post(queue, ChannelItem{});
    ++given_[queue];
  }
  running_ = false;
}

// Sleeps while no kernel runs; otherwise looks now and then whether it may stop.
void GpuChannel::watch() {
  const auto idle = std::chrono::microseconds(options_.idleUs);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    if (!running_) {
      wake_.wait(lock, [this] { return ending_ || running_; });
      continue;
    }
    wake_.wait_for(lock, idle, [this] { return ending_; });
    if (running_ && !ending_ && Clock::now() - lastUse_ >= idle && isIdle())
      stopKernel();
  }
}

} // namespace coll::rt::network
