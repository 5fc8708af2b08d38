// engine.h - what moves the data under an endpoint of this folder: NCCL, or kernels of our own.

#ifndef COLL_RUNTIME_BACKEND_GPU_ENGINE_H
#define COLL_RUNTIME_BACKEND_GPU_ENGINE_H

#include "runtime/backend/gpu/lane.h"

#include <memory>
#include <vector>

namespace coll::rt::gpu {

class GpuEndpoint;
struct Group;

// One rank's. Belongs to the rank's thread, where nothing else is said.
class Engine {
public:
  virtual ~Engine() = default;

  // As Backend::supports.
  virtual Status supports(const Call &call) const = 0;
  // Why the call cannot go on this lane, or ok; supports() has been asked.
  virtual Status takes(const Lane &, const Call &) const { return {}; }
  // A lane of these ranks, not connected yet.
  virtual std::unique_ptr<Lane> makeLane(Gpu &gpu, std::vector<int> ranks, int position) = 0;
  // Of a destination in memory that all members know; -1: it is elsewhere, or does not matter.
  virtual int64_t placeOf(const Lane &, const Call &) const { return -1; }
  // As Communicator's.
  virtual Result<std::unique_ptr<Registration>> registerMemory(GpuEndpoint &endpoint, Group &group,
                                                               void *data, int64_t bytes) = 0;
  virtual Result<std::unique_ptr<Registration>> allocate(GpuEndpoint &endpoint, Group &group,
                                                         int64_t bytes) = 0;
  // Why no further operation can succeed, as far as the engine knows. Any thread.
  virtual Status health() const { return {}; }
  // The job is over: whatever waits on the GPU is to end. Any thread.
  virtual void abort(const Status &) {}

  // Expires when the engine goes: what a registration that outlives it may touch no more. Its lanes
  // go at the same time, to those on the rank's thread.
  std::weak_ptr<const void> life() const { return life_; }

private:
  const std::shared_ptr<const char> life_ = std::make_shared<const char>();
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_ENGINE_H
