// peer_rig.h - runs the kernels of peer groups for the tests: emulated, or on GPUs.

#ifndef COLL_TEST_KERNELS_PEER_RIG_H
#define COLL_TEST_KERNELS_PEER_RIG_H

#include "runtime/kernels/peer/plan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coll::kernels::test {

// What one member does: runs plans, one after the other.
struct PeerStream {
  PeerGroup group;
  std::vector<PeerPlan> plans;
};

// Members' memory and streams. Allocations are zeroed, aligned to 512, and live until recycle() or
// as long as the rig. With more members than GPUs, members share GPUs.
class PeerRig {
public:
  virtual ~PeerRig() = default;
  virtual char *device(uint32_t rank, size_t bytes) = 0;
  virtual PeerControl *control() = 0;
  // Host memory that all GPUs map, zeroed.
  virtual void *pinned(size_t bytes) = 0;
  // Frees everything that was allocated; call it when no kernel runs.
  virtual void recycle() = 0;
  // May be called by any thread, and by several at a time.
  virtual void copyIn(void *device, const void *from, size_t bytes) = 0;
  virtual void copyOut(void *to, const void *device, size_t bytes) = 0;
  virtual void fill(void *device, char with, size_t bytes) = 0;
  virtual void initWorkspace(const PeerGroup &group) = 0;
  // Runs all members concurrently until they end. `seed` varies which of them are late.
  virtual void run(const std::vector<PeerStream> &streams, uint64_t seed) = 0;
  // Makes a rank's GPU current for this thread, and returns the rank's stream; null if emulated.
  virtual void *enter(uint32_t rank) = 0;
  // Waits until all work on the GPUs is done.
  virtual void settle() = 0;
  virtual bool isEmulated() const = 0;
  // The number of host threads for preparing and comparing cases, so that a GPU does not wait long.
  virtual uint32_t hostThreads() const = 0;
  // PeerGroup::maxBlocks, with which the kernels of all members run at the same time.
  virtual uint32_t maxBlocks(uint32_t size) const = 0;
};

std::unique_ptr<PeerRig> makeEmulatedPeerRig();
// Returns null, with the reason, if there is no GPU or no kernel.
std::unique_ptr<PeerRig> makeGpuPeerRig(std::string &whyNot);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_PEER_RIG_H
