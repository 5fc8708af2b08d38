// channel.h - runs the channel kernel's device code on a host thread.
//
// For tests, with host memory instead of GPU memory: the persistent loop of every block runs, as
// fibers of one thread, concurrently with the thread that posts the items.

#ifndef COLL_TEST_SUPPORT_EMULATION_CHANNEL_H
#define COLL_TEST_SUPPORT_EMULATION_CHANNEL_H

#include "runtime/base/channel_layout.h"
#include "runtime/base/status.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace coll::kernels {

// Simulates a stream: launches follow one another. launch() may be called from any thread.
class ChannelEmulation {
public:
  // `workersPerBlock`: threads, a multiple of 32.
  explicit ChannelEmulation(uint32_t workersPerBlock = 32);
  // Waits for the launches: post Exit, or abort, before.
  ~ChannelEmulation();
  ChannelEmulation(const ChannelEmulation &) = delete;
  ChannelEmulation &operator=(const ChannelEmulation &) = delete;

  // Like launchChannel.
  rt::Status launch(const rt::ChannelLaunch &launch);

private:
  void serve();

  const uint32_t workersPerBlock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<rt::ChannelLaunch> launches_;
  bool ending_ = false;
  std::thread thread_; // last: uses the others
};

} // namespace coll::kernels

#endif // COLL_TEST_SUPPORT_EMULATION_CHANNEL_H
