// channel.h - a running channel kernel of one rank on one GPU: its memory, launches and queues.
//
// Two queues, so that data flows both ways over the bus at once: Out for data that leaves the GPU,
// In for data that arrives and for work inside the GPU. The kernel is launched when there is work,
// and told to exit when there was none for `idleUs`: while it runs, calls that wait for the whole
// GPU (cudaDeviceSynchronize, cudaFree) wait for it. A thread of the object stops it, and calls
// nothing of CUDA.
//
// Any thread may call it; there is one lock. Only create(), the destructor, waitFor() and drain()
// block.

#ifndef COLL_RUNTIME_BACKEND_NET_GPU_CHANNEL_H
#define COLL_RUNTIME_BACKEND_NET_GPU_CHANNEL_H

#include "runtime/backend/net/gpu/platform.h"
#include "runtime/dl/gpu_memory.h"
#include "runtime/kernels/channel/port.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::rt::network {

struct GpuChannelOptions {
  int blocks = 8; // of both queues together, 2 to 8
  int64_t idleUs = 200;
  bool compress = false; // the ops Compress and Expand
  // A kernel that receives no item for this long gives up, and so does a thread that waits for the
  // kernel.
  int64_t timeoutUs = 60'000'000;
};

class GpuChannel {
public:
  enum Queue : uint32_t { Out = 0, In = 1 };
  static constexpr uint32_t kQueues = 2;
  // Names an item; never 0. Items of one queue are done in the order of their tickets.
  using Ticket = uint64_t;

  static Result<std::unique_ptr<GpuChannel>> create(const GpuPlatform &platform,
                                                    std::shared_ptr<GpuContext> gpu,
                                                    const GpuChannelOptions &options);
  // Ends the kernel; waits for it.
  ~GpuChannel();
  GpuChannel(const GpuChannel &) = delete;
  GpuChannel &operator=(const GpuChannel &) = delete;

  // Returns the item to post in place of one that found bad data, given the error word. post(),
  // isDone() and drain() call it under the lock. An error it returns fails the whole channel.
  using Repair = std::function<Result<ChannelItem>(uint64_t word)>;
  static constexpr int kTries = 2; // repairs of an item, after which its error is final

  // Queues an item behind all earlier ones, in any number. `sources`, see ChannelPort::post, is
  // copied. `repair` is for Unpack and Expand.
  Result<Ticket> post(Queue queue, const ChannelItem &item,
                      const std::vector<const void *> &sources = {}, Repair repair = nullptr);
  // Also posts waiting items to free slots, and repairs items. kCollDevice if the kernel has given
  // up or was ended, or an item cannot be repaired.
  Result<bool> isDone(Ticket ticket);
  // kCollDevice also if it takes longer than `timeoutUs`.
  Status waitFor(Ticket ticket);
  // Waits until the kernel has finished all items. Ends a kernel for good that has given up, or
  // takes longer than `timeoutUs`: waits for its blocks, up to a limit, and reports items that were
  // not done as errors.
  void drain();
  // Items that were repeated.
  uint64_t repairs() const;

  const std::shared_ptr<GpuContext> &gpu() const { return gpu_; }

private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    ChannelItem item;
    std::vector<const void *> sources;
  };

  GpuChannel(const GpuPlatform &platform, std::shared_ptr<GpuContext> gpu,
             const GpuChannelOptions &options)
      : platform_(platform), gpu_(std::move(gpu)), options_(options) {}
  Status allocate();

  // An item that may find bad data, from post() until it is known that it has not.
  struct Watched {
    uint64_t first, last; // its number, and that of the item that replaces it
    int tries;
    Repair repair;
  };

  // The caller holds the lock.
  Status launch();
  void fillSlots();
  void settle();
  Status again(uint32_t queue, Watched &item, uint64_t word);
  bool isIdle() const;
  void stopKernel(); // only while idle
  void abort();
  Status late() const;

  void watch();

  const GpuPlatform &platform_;
  const std::shared_ptr<GpuContext> gpu_;
  const GpuChannelOptions options_;
  GpuMemory shared_, state_;
  dl::CudaStream stream_ = nullptr;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::unique_ptr<kernels::ChannelPort> port_;
  ChannelLaunch launch_;
  bool running_ = false, ending_ = false, aborted_ = false;
  std::array<std::deque<Waiting>, kQueues> waiting_;
  std::array<std::list<Watched>, kQueues> watched_;
  Status spoilt_; // set by data that could not be repaired, or abort()
  uint64_t repairs_ = 0;
  // Items that were posted or wait. Exits are items too, so a ticket's number is known at once.
  std::array<uint64_t, kQueues> given_ = {};
  Clock::time_point lastUse_;
  std::thread watcher_;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_GPU_CHANNEL_H
