// engine.h - the engine that moves the data below an endpoint of this folder: NCCL, or our kernels.

#ifndef COLL_RUNTIME_BACKEND_GPU_ENGINE_H
#define COLL_RUNTIME_BACKEND_GPU_ENGINE_H

#include "runtime/backend/gpu/lane.h"

#include <memory>
#include <vector>

namespace coll::rt::gpu {

class GpuEndpoint;
struct Group;

// One rank's engine. Belongs to the rank's thread unless a function says otherwise.
class Engine {
public:
  virtual ~Engine() = default;

  // See Backend::supports.
  virtual Status supports(const Call &call) const = 0;
  // Ok, or why the call cannot use this lane. supports() has accepted the call.
  virtual Status takes(const Lane &, const Call &) const { return {}; }
  // Creates a lane of these ranks that is not connected yet.
  virtual std::unique_ptr<Lane> makeLane(Gpu &gpu, std::vector<int> ranks, int position) = 0;
  // The offset of a destination in memory that all members know; -1 if it is elsewhere, or does not
  // matter.
  virtual int64_t placeOf(const Lane &, const Call &) const { return -1; }
  // See Communicator.
  virtual Result<std::unique_ptr<Registration>> registerMemory(GpuEndpoint &endpoint, Group &group,
                                                               void *data, int64_t bytes) = 0;
  virtual Result<std::unique_ptr<Registration>> allocate(GpuEndpoint &endpoint, Group &group,
                                                         int64_t bytes) = 0;
  virtual bool reachesMembers() const { return false; }
  virtual std::vector<void *> addressesOf(const Lane &, const void *, int64_t) const { return {}; }
  // Ok, or why no further operation can succeed, as far as the engine knows. Any thread may call
  // it.
  virtual Status health() const { return {}; }
  // The job is over: ends everything that waits on the GPU. Any thread may call it.
  virtual void abort(const Status &) {}

  // Expires with the engine: a registration that outlives the engine must not use it any more. Seen
  // from the rank's thread, the engine's lanes are destroyed at the same moment.
  std::weak_ptr<const void> life() const { return life_; }

private:
  const std::shared_ptr<const char> life_ = std::make_shared<const char>();
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_ENGINE_H
