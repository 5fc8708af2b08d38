#include "test/support/emulation/channel.h"

#include "runtime/kernels/channel/channel.h"
#include "runtime/kernels/channel/channel_device.cuh"

namespace coll::kernels {

using rt::ChannelLaunch;
using rt::Status;

ChannelEmulation::ChannelEmulation(uint32_t workersPerBlock)
    : workersPerBlock_(workersPerBlock), thread_([this] { serve(); }) {}

ChannelEmulation::~ChannelEmulation() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Status ChannelEmulation::launch(const ChannelLaunch &launch) {
  COLL_RETURN_IF_ERROR(checkChannel(launch));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    launches_.push_back(launch);
  }
  wake_.notify_one();
  return Status::okay();
}

void ChannelEmulation::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !launches_.empty(); });
    if (launches_.empty())
      return;
    const ChannelLaunch launch = launches_.front();
    launches_.pop_front();
    lock.unlock();
    simt::run({launch.numQueues * launch.blocksPerQueue,
               workersPerBlock_ + channel::kControlThreads,
               channel::sharedBytes(workersPerBlock_ / simt::kWarpThreads)},
              [&](char *shared) {
                if (launch.compress)
                  channel::Loop<true>(shared, launch).run();
                else
                  channel::Loop<false>(shared, launch).run();
              });
    lock.lock();
  }
}

} // namespace coll::kernels
