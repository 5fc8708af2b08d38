#include "runtime/net/nccl_plugin/network.h"

#include "runtime/base/env.h"
#include "runtime/base/machine.h"
#include "runtime/net/bond/bond.h"
#include "runtime/net/nccl_plugin/configure.h"
#include "runtime/net/tcp/tcp.h"
#ifdef COLL_HAVE_VERBS
#include "runtime/net/verbs/verbs.h"
#endif

#include <algorithm>

namespace coll::net::nccl {

namespace {

// Values for properties that the system does not report: of a network card, and of this host's
// memory.
constexpr int kUnknownSpeedMbps = 10'000;
constexpr int kLoopbackSpeedMbps = 200'000;
// One thread of NCCL drives all channels: it must not copy for one while others wait.
constexpr uint64_t kInlineBytes = 64 << 10;
// NCCL posts at most 8 steps of a connection ahead.
constexpr int kNcclSteps = 8;
// Collectives have few channels, so a connection needs more than other users of tcp.
constexpr int kSockets = 8;

// Usually a machine has several GPUs, with one process each.
int progressThreads(int chosen) {
  if (chosen > 0)
    return chosen;
  return std::clamp(rt::numAllowedProcessors() / 4, 2, 8);
}

Result<std::unique_ptr<Transport>> createTransport(const Settings &settings) {
  if (settings.transport == "tcp") {
    TcpOptions options = TcpOptions::fromEnv();
    options.iface = settings.iface;
    options.threads = progressThreads(options.threads);
    if (!rt::foreignEnv("COLL_NET_SOCKETS"))
      options.dataStreams = kSockets;
    options.inlineBytes = kInlineBytes;
    options.manyConnections = true;
    return createTcpTransport(options, settings.secret);
  }
#ifdef COLL_HAVE_VERBS
  if (settings.transport == "verbs")
    return createVerbsTransport(VerbsOptions::fromEnv(), settings.secret);
#endif
  return Status::invalid(
      "COLL_NET_TRANSPORT=" + settings.transport +
      " is not a transport of this build: use tcp or, built with libibverbs, verbs");
}

} // namespace

Result<std::shared_ptr<Network>> Network::create() {
  Result<Settings> settings = Settings::fromEnv();
  if (!settings.ok())
    return settings.status();
  std::shared_ptr<Network> network(new Network());
  COLL_RETURN_IF_ERROR(network->addTransport(*settings));
  COLL_RETURN_IF_ERROR(network->addUnpacking(*settings));
  COLL_RETURN_IF_ERROR(network->addDevices(*settings));
  if (settings->transport == "tcp")
    network->asksForChannels_ = configureChannels(rt::envInt(rt::EnvVar::NcclChannels));
  return network;
}

Status Network::addTransport(const Settings &settings) {
  Result<std::unique_ptr<Transport>> transport = createTransport(settings);
  if (!transport.ok())
    return transport.status();
  Result<std::unique_ptr<Transport>> joined =
      bondFromEnv(transport.take(), rt::envInt(rt::EnvVar::TimeoutUs));
  if (!joined.ok())
    return joined.status();
  transport_ = joined.take();
  return {};
}

// Decorates the transport if the user, the table, or scattered data asks for it.
Status Network::addUnpacking(const Settings &settings) {
  Result<DeviceOptions> options = DeviceOptions::fromEnvAndTable(settings.transport);
  if (!options.ok())
    return options.status();
  mode_ = options->unpacks() ? "UNPACK" : "HOST";
  if (options->isByTable)
    mode_ += ", by " + options->chosenBy;
  if (!options->unpacks())
    return {};
  Result<const rt::dl::Cuda *> cuda = rt::dl::cuda();
  if (!cuda.ok())
    return cuda.status().annotate("UNPACK mode");
  COLL_RETURN_IF_ERROR(configureForUnpack());
  // While a kernel is loaded, a copy by NCCL's thread waits; loading waits for running kernels, and
  // those may wait for the copy.
  if (options->unpackThreshold > 0 && rt::dl::lazyLoading(**cuda)) {
    options->unpackThreshold = 0;
    warning_ = std::string(options->isByTable ? "the host's part in the table of COLL_ROUTES"
                                              : "COLL_NET_DEVICE_UNPACK_THRESHOLD") +
               " is ignored: while CUDA loads kernels lazily, a copy by NCCL's thread can wait for "
               "ever; CUDA_MODULE_LOADING=EAGER permits it";
  }
  options->receive = ReceivePath::Unpack;
  options->send = SendPath::Host;
  options->implicitConsume = kNcclSteps;
  Result<std::unique_ptr<DeviceTransport>> decorated =
      createDeviceTransport(std::move(transport_), **cuda, *options);
  if (!decorated.ok())
    return decorated.status();
  deviceTransport_ = decorated->get();
  transport_ = decorated.take();
  unpacks_ = true;
  return {};
}

// One device per interface: an interface with several addresses is still one card.
Status Network::addDevices(const Settings &settings) {
  const std::vector<DeviceProperties> &all = transport_->devices();
  registersHost_ = settings.transport != "tcp";
  for (size_t i = 0; i < all.size(); ++i) {
    const DeviceProperties &from = all[i];
    if (std::any_of(devices_.begin(), devices_.end(), [&](const Device &known) {
          return known.name == from.name && known.port == from.port;
        }))
      continue;
    Device device;
    device.number = static_cast<int>(i);
    device.name = from.name;
    // Several interfaces in one device are represented by the first.
    const std::string card = from.name.substr(0, from.name.find('+'));
    device.pciPath = from.pciPath.empty() ? pciPathOf(card) : from.pciPath;
    device.guid = from.guid;
    device.port = from.port;
    device.latencyUs = from.latencyUs;
    device.registrationIsGlobal = from.registrationIsGlobal;
    device.maxMessageBytes = from.maxMessageBytes;
    // tcp reaches GPU memory only by copies through the host; NCCL's kernels are faster at that.
    if (unpacks_)
      device.pointers = kPtrHost | kPtrCuda;
    else if (registersHost_) {
      device.pointers = static_cast<int>(from.memoryKinds);
      device.needsFlush = from.needsFlush;
    }
    device.speedMbps = settings.speedMbps ? settings.speedMbps : from.speedMbps;
    if (!device.speedMbps)
      device.speedMbps = speedMbpsOf(card);
    if (!device.speedMbps)
      device.speedMbps = card == "lo" ? kLoopbackSpeedMbps : kUnknownSpeedMbps;
    devices_.push_back(std::move(device));
  }
  if (devices_.empty())
    return {kCollDevice, "the transport has no device"};
  return {};
}

} // namespace coll::net::nccl
