#include "runtime/backend/net/gpu/transport.h"

#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/base/paths.h"
#include "runtime/net/gpu/transport.h"

namespace coll::rt::network {

namespace {

Status chooseByTable(const std::string &transport, GpuMoverOptions &options) {
  Result<Paths> paths = Paths::fromEnv();
  if (!paths)
    return paths.status();
  const std::string kind = transportKind(transport, envInt(EnvVar::NetScatter) != 0);
  const PathRule *rule = paths->pathFor(kind, GpuMover::kSlotBytes);
  if (!rule)
    return {};
  options.path = rule->path == DataPath::Unpack ? GpuPath::Unpack
                 : rule->path == DataPath::Pack ? GpuPath::Pack
                 : rule->path == DataPath::Host ? GpuPath::Copy
                                                : GpuPath::Kernel;
  if (options.path != GpuPath::Kernel)
    options.kernelEnd = paths->endOf(kind, DataPath::Kernel);
  options.chosenBy = "the table of COLL_ROUTES" + (rule->why.empty() ? "" : ": " + rule->why);
  return {};
}

} // namespace

Result<GpuMoverOptions> gpuOptionsFromEnv(const std::string &transport, int64_t timeoutUs) {
  const std::string name = envString(EnvVar::NetGpuPath);
  std::optional<GpuPath> path = parseGpuPath(name);
  if (!path)
    return Status::invalid("COLL_NET_GPU_PATH=" + name + ": expected kernel, unpack, pack or copy");
  GpuMoverOptions options;
  options.path = *path;
  options.compress = envInt(EnvVar::NetGpuCompress) != 0;
  if (options.compress && options.path != GpuPath::Kernel)
    return Status::invalid("COLL_NET_GPU_COMPRESS=1 needs COLL_NET_GPU_PATH=kernel, not " + name);
  if (foreignEnv("COLL_NET_GPU_PATH") || options.compress)
    options.chosenBy = "the environment";
  else
    COLL_RETURN_IF_ERROR(chooseByTable(transport, options));
  options.channel.compress = options.compress;
  options.channel.blocks = static_cast<int>(envInt(EnvVar::NetGpuBlocks));
  options.channel.idleUs = envInt(EnvVar::NetGpuIdleUs);
  options.channel.timeoutUs = timeoutUs;
  return options;
}

Result<std::unique_ptr<net::Transport>> withGpu(std::unique_ptr<net::Transport> transport,
                                                GpuPath path) {
  const dl::Cuda *cuda = gpuPlatform().cuda;
  if (path == GpuPath::Kernel || !cuda)
    return transport;
  Result<net::DeviceOptions> options = net::DeviceOptions::fromEnv();
  if (!options)
    return options.status();
  options->receive = unpacks(path) ? net::ReceivePath::Unpack : net::ReceivePath::Host;
  options->send = path == GpuPath::Pack ? net::SendPath::Pack : net::SendPath::Host;
  options->unpackOnConnect = true; // connections carry data both ways
  options->unpackThreshold = 0;    // the mover relies on the path
  options->slots = net::SlotOrder::Landing;
  options->roomBytes = GpuMover::kUnpackRoomBytes;
  options->implicitConsume = 0;
  options->pages = net::kPagesWhole; // the kernel splits pages itself
  Result<std::unique_ptr<net::DeviceTransport>> made =
      net::createDeviceTransport(std::move(transport), *cuda, *options);
  if (!made)
    return made.status();
  return std::unique_ptr<net::Transport>(made.take());
}

void logTraffic(const net::Transport &transport, GpuPath path) {
  if (path == GpuPath::Kernel || !gpuPlatform().cuda || !logEnabled(LogLevel::Info))
    return;
  // withGpu() has created a DeviceTransport.
  const net::DeviceStats stats = static_cast<const net::DeviceTransport &>(transport).stats();
  auto count = [](uint64_t number, const char *what) {
    return std::to_string(number) + " " + what;
  };
  log(LogLevel::Info, "GPU memory over net, path " + std::string(nameOf(path)) + ": " +
                          count(stats.unpackedPages, "pages of ") +
                          count(stats.unpackedMessages, "messages unpacked, ") +
                          count(stats.packedPages, "pages of ") +
                          count(stats.packedMessages, "messages packed by kernels; ") +
                          count(stats.stagedReceives + stats.stagedSends, "messages copied"));
}

RankGpu::RankGpu(GpuPath path, int number) {
  const dl::Cuda *cuda = gpuPlatform().cuda;
  int count = 0;
  if (!unpacks(path) || number < 0 || !cuda || cuda->deviceGetCount(&count) != dl::kCudaSuccess ||
      count == 0)
    return;
  // Otherwise the connection would be created for another GPU, and the first call would be
  // rejected.
  Result<std::shared_ptr<GpuContext>> gpu = GpuContext::open(*cuda, number % count);
  if (!gpu)
    return;
  gpu_ = gpu.take();
  scope_.emplace(*cuda, gpu_->context());
}

} // namespace coll::rt::network
