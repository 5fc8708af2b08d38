// transport.h - what the paths `unpack`, `pack` and `copy` of GPU buffers need of a transport.

#ifndef COLL_RUNTIME_BACKEND_NET_GPU_TRANSPORT_H
#define COLL_RUNTIME_BACKEND_NET_GPU_TRANSPORT_H

#include "runtime/backend/net/gpu/mover.h"

#include <memory>

namespace coll::rt::network {

// The path and the channel that the environment asks for; kCollInvalidCall names a wrong value.
// Where it says nothing of the path, the table of COLL_ROUTES decides if it has paths for this
// transport ("tcp"): the path of its largest messages, with slots for those below if they are the
// kernel's. There the path `copy` is called `host`.
Result<GpuMoverOptions> gpuOptionsFromEnv(const std::string &transport, int64_t timeoutUs);

// The transport itself on the path `kernel` or without a GPU, else a device transport on
// top of it. All ranks of a job have to take the same path.
Result<std::unique_ptr<net::Transport>> withGpu(std::unique_ptr<net::Transport> transport,
                                                GpuPath path);

// Makes a GPU current while connections are made, which then unpack there: the GPU `number` modulo
// how many there are. Ranks that share a process have that of their own number.
class RankGpu {
public:
  // Changes nothing where `path` needs no GPU, or where `number` is -1.
  RankGpu(GpuPath path, int number);

private:
  std::shared_ptr<GpuContext> gpu_;
  std::optional<dl::CudaScope> scope_;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_GPU_TRANSPORT_H
