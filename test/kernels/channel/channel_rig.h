// channel_rig.h - runs the channel kernel for the tests: emulated, or on a GPU.

#ifndef COLL_TEST_KERNELS_CHANNEL_RIG_H
#define COLL_TEST_KERNELS_CHANNEL_RIG_H

#include "runtime/base/channel_layout.h"
#include "runtime/base/status.h"
#include "test/kernels/channel/arena.h"

#include <memory>
#include <string>

namespace coll::kernels::test {

class ChannelRig {
public:
  virtual ~ChannelRig() = default; // waits for the launches
  virtual Arena &arena() = 0;
  virtual rt::Status launch(const rt::ChannelLaunch &launch) = 0;
  // Returns true if the device's threads take turns, so that large cases are slow.
  virtual bool slow() const = 0;

  uint8_t *device(size_t bytes) { return arena().device(bytes); }
  uint8_t *pinned(size_t bytes) { return arena().pinned(bytes); }
};

std::unique_ptr<ChannelRig> makeEmulatedRig();
// Returns null, with the reason, if there is no GPU or no kernel.
std::unique_ptr<ChannelRig> makeGpuRig(std::string &whyNot);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_CHANNEL_RIG_H
