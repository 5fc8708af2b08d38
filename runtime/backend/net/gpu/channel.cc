#include "runtime/backend/net/gpu/channel.h"

#include "runtime/base/log.h"
#include "runtime/base/thread.h"
#include "runtime/kernels/error_word.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace coll::rt::network {

namespace {

// How long to wait for a kernel that was told to exit.
constexpr std::chrono::seconds kExitPatience{10};

GpuChannel::Ticket ticketOf(GpuChannel::Queue queue, uint64_t number) {
  return number * GpuChannel::kQueues + queue;
}

// Waits for `condition` with a deadline. Holds the lock while it checks; others may hold it between
// checks.
template <typename Condition>
bool waitUntil(std::unique_lock<std::mutex> &lock, std::chrono::microseconds patience,
               Condition condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end)
      return false;
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  return true;
}

} // namespace

Result<std::unique_ptr<GpuChannel>> GpuChannel::create(const GpuPlatform &platform,
                                                       std::shared_ptr<GpuContext> gpu,
                                                       const GpuChannelOptions &options) {
  std::unique_ptr<GpuChannel> channel(new GpuChannel(platform, std::move(gpu), options));
  COLL_RETURN_IF_ERROR(channel->allocate());
  COLL_RETURN_IF_ERROR(startThread(channel->watcher_, "the channel of a GPU",
                                   [raw = channel.get()] { raw->watch(); }));
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
  // An emulated kernel is on no stream: its last store reports that it has exited.
  std::unique_lock<std::mutex> lock(mutex_);
  waitUntil(lock, kExitPatience, [this] { return port_->hasExited(launch_.number); });
  gpu_->cuda().streamDestroy(stream_);
}

Status GpuChannel::launch() {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  ChannelLaunch next = launch_;
  ++next.number;
  COLL_RETURN_IF_ERROR(platform_.launch(next, stream_));
  launch_ = next;
  running_ = true;
  wake_.notify_one();
  return Status::okay();
}

Result<GpuChannel::Ticket> GpuChannel::post(Queue queue, const ChannelItem &item,
                                            const std::vector<const void *> &sources,
                                            Repair repair) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (aborted_)
    return spoilt_;
  if (!running_)
    COLL_RETURN_IF_ERROR(launch());
  lastUse_ = Clock::now();
  const uint64_t number = ++given_[queue];
  if (repair)
    watched_[queue].push_back({number, number, 0, std::move(repair)});
  waiting_[queue].push_back({item, sources});
  fillSlots();
  return ticketOf(queue, number);
}

void GpuChannel::fillSlots() {
  for (uint32_t queue = 0; queue < kQueues; ++queue)
    while (!waiting_[queue].empty() && !port_->full(queue)) {
      settle(); // before that, it is not known whether the slot's last item found bad data
      const Waiting &next = waiting_[queue].front();
      port_->post(queue, next.item, next.sources.empty() ? nullptr : next.sources.data());
      waiting_[queue].pop_front();
      lastUse_ = Clock::now();
    }
}

// Removes watched items that are done, or posts them again behind all others.
void GpuChannel::settle() {
  for (uint32_t queue = 0; queue < kQueues; ++queue)
    for (auto item = watched_[queue].begin(); item != watched_[queue].end();) {
      const bool isDone = port_->isDone(queue, item->last);
      if (!isDone && item->tries == 0)
        break; // later items are not done either
      const uint64_t word = isDone ? port_->pageError(queue, item->last) : 0;
      if (word && spoilt_.ok())
        spoilt_ = again(queue, *item, word);
      item = isDone && !word ? watched_[queue].erase(item) : std::next(item);
    }
  if (!spoilt_.ok())
    watched_ = {};
}

Status GpuChannel::again(uint32_t queue, Watched &item, uint64_t word) {
  const std::string what = "the channel kernel found bad data in slot " +
                           std::to_string((item.last - 1) % kChannelSlots) + " of queue " +
                           std::to_string(queue) + ": " + kernels::describeErrorWord(word);
  if (item.tries == kTries)
    return {kCollDevice,
            what + ", and did so again when it was repaired " + std::to_string(kTries) + " times"};
  Result<ChannelItem> instead = item.repair(word);
  if (!instead)
    return {kCollDevice, what + ", which cannot be repaired: " + instead.status().message()};
  log(LogLevel::Warn, what + "; it is repaired and done again");
  ++item.tries;
  ++repairs_;
  item.last = ++given_[queue];
  waiting_[queue].push_back({*instead, {}});
  return {};
}

Result<bool> GpuChannel::isDone(Ticket ticket) {
  const auto queue = static_cast<uint32_t>(ticket % kQueues);
  const uint64_t number = ticket / kQueues;
  std::lock_guard<std::mutex> lock(mutex_);
  settle();
  fillSlots();
  COLL_RETURN_IF_ERROR(spoilt_);
  COLL_RETURN_IF_ERROR(port_->error());
  // In the order of tickets, even if items are repeated.
  const bool isOpen = !watched_[queue].empty() && watched_[queue].front().first <= number;
  return !isOpen && port_->isDone(queue, number);
}

// An error word belongs to one block: blocks of another queue may still be working.
void GpuChannel::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto isOver = [this] {
    settle();
    fillSlots();
    return isIdle() || !port_->error().ok();
  };
  if (aborted_ ||
      (waitUntil(lock, std::chrono::microseconds(options_.timeoutUs), isOver) && isIdle()))
    return;
  abort();
  waitUntil(lock, kExitPatience, [this] { return port_->hasExited(launch_.number); });
}

void GpuChannel::abort() {
  if (spoilt_.ok())
    spoilt_ = port_->error();
  if (spoilt_.ok()) {
    spoilt_ = late();
    log(LogLevel::Warn, spoilt_.message() + "; the kernel is ended");
  }
  aborted_ = true;
  waiting_ = {};
  watched_ = {};
  port_->abort();
}

Status GpuChannel::late() const {
  return {kCollDevice, "the channel kernel has not done its work in " +
                           std::to_string(options_.timeoutUs / 1000) + " ms"};
}

uint64_t GpuChannel::repairs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return repairs_;
}

Status GpuChannel::waitFor(Ticket ticket) {
  const auto end = Clock::now() + std::chrono::microseconds(options_.timeoutUs);
  for (;; std::this_thread::yield()) {
    Result<bool> done = isDone(ticket);
    if (!done || *done)
      return done.status();
    if (Clock::now() >= end)
      return late();
  }
}

bool GpuChannel::isIdle() const {
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    if (!waiting_[queue].empty() || !port_->isIdle(queue))
      return false;
    for (const Watched &item : watched_[queue])
      if (port_->pageError(queue, item.last))
        return false;
  }
  return true;
}

void GpuChannel::stopKernel() {
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    port_->post(queue, ChannelItem{});
    ++given_[queue];
  }
  running_ = false;
}

// Sleeps while no kernel runs; otherwise checks from time to time whether the kernel may stop.
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
