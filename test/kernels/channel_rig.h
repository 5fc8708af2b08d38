// channel_rig.h - where the tests run the channel kernel: emulated, or on a GPU.

#ifndef COLL_TEST_KERNELS_CHANNEL_RIG_H
#define COLL_TEST_KERNELS_CHANNEL_RIG_H

#include "runtime/base/channel_layout.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <memory>

namespace coll::kernels::test {

// Memory and a stream. Allocations are zeroed and live as long as the rig.
class ChannelRig {
public:
  virtual ~ChannelRig() = default; // waits for the launches
  virtual uint8_t *device(size_t bytes) = 0;
  // Host memory at the same address for both.
  virtual uint8_t *pinned(size_t bytes) = 0;
  virtual void copyIn(void *device, const void *from, size_t bytes) = 0;
  virtual void copyOut(void *to, const void *device, size_t bytes) = 0;
  virtual rt::Status launch(const rt::ChannelLaunch &launch) = 0;
  // Threads of the device that take turns make large cases slow.
  virtual bool slow() const = 0;
};

std::unique_ptr<ChannelRig> makeEmulatedRig();
// Null, with the reason, where there is no GPU or no kernel.
std::unique_ptr<ChannelRig> makeGpuRig(std::string &whyNot);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_CHANNEL_RIG_H
