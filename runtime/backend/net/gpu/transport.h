// transport.h - the transport that the paths `unpack`, `pack` and `copy` of GPU buffers need.

#ifndef COLL_RUNTIME_BACKEND_NET_GPU_TRANSPORT_H
#define COLL_RUNTIME_BACKEND_NET_GPU_TRANSPORT_H

#include "runtime/backend/net/gpu/mover.h"

#include <memory>

namespace coll::rt::network {

// The path and the channel that the environment asks for; kCollInvalidCall names a wrong value. If
// the environment does not set the path and the table of COLL_ROUTES has paths for this transport
// ("tcp"), the table decides: it is the path of its largest messages, with slots for smaller ones
// if their path is the kernel's. The table calls the path `copy` `host`.
Result<GpuMoverOptions> gpuOptionsFromEnv(const std::string &transport, int64_t timeoutUs);

// The transport itself on the path `kernel` or without a GPU, else a device transport on top of it.
// All ranks of a job have to use the same path.
Result<std::unique_ptr<net::Transport>> withGpu(std::unique_ptr<net::Transport> transport,
                                                GpuPath path);

// Logs how many messages took which path over a transport of withGpu(), at the end of its use
// (COLL_LOG=info).
void logTraffic(const net::Transport &transport, GpuPath path);

// Makes a GPU current while connections are created, which then unpack on it: GPU number `number`
// modulo the number of GPUs. Ranks that share a process pass their rank.
class RankGpu {
public:
  // Changes nothing if `path` needs no GPU, or if `number` is -1.
  RankGpu(GpuPath path, int number);

private:
  std::shared_ptr<GpuContext> gpu_;
  std::optional<dl::CudaScope> scope_;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_GPU_TRANSPORT_H
