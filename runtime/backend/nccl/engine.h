// engine.h - NCCL as the engine of a rank. Threads: see backend/gpu/engine.h. The library outlives
// it.

#ifndef COLL_RUNTIME_BACKEND_NCCL_ENGINE_H
#define COLL_RUNTIME_BACKEND_NCCL_ENGINE_H

#include "runtime/backend/gpu/endpoint.h"
#include "runtime/backend/nccl/lane.h"

namespace coll::rt::nccl {

class NcclEngine final : public gpu::Engine {
public:
  // `hasFp8`: library and GPU reduce eight-bit floats.
  NcclEngine(const dl::Nccl &nccl, bool hasFp8) : nccl_(nccl), hasFp8_(hasFp8) {}

  Status supports(const Call &call) const override;
  std::unique_ptr<gpu::Lane> makeLane(gpu::Gpu &gpu, std::vector<int> ranks, int position) override;
  Result<std::unique_ptr<Registration>>
  registerMemory(gpu::GpuEndpoint &endpoint, gpu::Group &group, void *data, int64_t bytes) override;
  Result<std::unique_ptr<Registration>> allocate(gpu::GpuEndpoint &endpoint, gpu::Group &group,
                                                 int64_t bytes) override;

  // The lane of a group whose engine is an NcclEngine.
  static NcclLane &laneOf(gpu::Group &group) { return static_cast<NcclLane &>(*group.lane); }

private:
  const dl::Nccl &nccl_;
  const bool hasFp8_;
  std::shared_ptr<Endings> ends_ = std::make_shared<Endings>();
};

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_ENGINE_H
