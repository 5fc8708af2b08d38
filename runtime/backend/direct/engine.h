// engine.h - our own kernels on peer memory as the engine of a rank.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_ENGINE_H
#define COLL_RUNTIME_BACKEND_DIRECT_ENGINE_H

#include "runtime/backend/direct/lane.h"
#include "runtime/backend/gpu/endpoint.h"

namespace coll::rt::direct {

class DirectEngine final : public gpu::Engine {
public:
  DirectEngine(const Platform &platform, std::unique_ptr<Node> node, const LaneOptions &options)
      : platform_(platform), node_(std::move(node)), options_(options) {}

  // Connects the lane of all ranks at the start: allocates its memory and loads its kernels now, so
  // that its first call waits for nothing that runs on the GPU. The GPU is current.
  Status identifyWorld(gpu::Gpu &gpu, std::vector<int> ranks, int position, gpu::Identity &mine);
  Status joinWorld(const std::vector<gpu::Identity> &all);

  Status supports(const Call &call) const override;
  Status takes(const gpu::Lane &lane, const Call &call) const override;
  std::unique_ptr<gpu::Lane> makeLane(gpu::Gpu &gpu, std::vector<int> ranks, int position) override;
  int64_t placeOf(const gpu::Lane &lane, const Call &call) const override;
  // All members make both calls. They block.
  Result<std::unique_ptr<Registration>>
  registerMemory(gpu::GpuEndpoint &endpoint, gpu::Group &group, void *data, int64_t bytes) override;
  Result<std::unique_ptr<Registration>> allocate(gpu::GpuEndpoint &endpoint, gpu::Group &group,
                                                 int64_t bytes) override;
  bool reachesMembers() const override { return true; }
  std::vector<void *> addressesOf(const gpu::Lane &lane, const void *data,
                                  int64_t bytes) const override;
  Status health() const override { return node_->alarm().cause(); }
  void abort(const Status &cause) override;

  Node &node() { return *node_; }

private:
  Result<std::unique_ptr<Registration>> introduce(gpu::GpuEndpoint &endpoint, gpu::Group &group,
                                                  Result<Node::Memory> own);

  const Platform platform_;
  std::unique_ptr<Node> node_;
  const LaneOptions options_;
  std::unique_ptr<DirectLane> world_; // until a group takes it
};

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_ENGINE_H
