#include "runtime/net/tcp/tcp.h"

#include "runtime/base/env.h"
#include "runtime/base/machine.h"
#include "runtime/net/tcp/listener.h"
#include "runtime/net/tcp/request.h"
#include "runtime/net/tcp/shared.h"
#include "runtime/net/wire.h"

#include <algorithm>
#include <atomic>

namespace coll::net {

namespace {

using tcp::Region;
using tcp::Shared;

class TcpTransport final : public Transport {
public:
  explicit TcpTransport(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}

  // Gives the last messages of closed connections time to be sent.
  ~TcpTransport() override {
    int64_t end = nowUs() + (isHurried_ ? kHurriedLingerUs : kLingerUs);
    for (const std::unique_ptr<Poller> &poller : shared_->pollers)
      while (poller->numHandlers() > 0 && nowUs() < end)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    // All threads end before any poller is destroyed, because the two directions of a stream use
    // different pollers.
    for (const std::unique_ptr<Poller> &poller : shared_->pollers)
      poller->stop();
  }

  const char *name() const override { return "tcp"; }
  void hurry() override { isHurried_ = true; }
  const std::vector<DeviceProperties> &devices() const override { return shared_->devices; }

  Result<std::unique_ptr<Listener>> listen(int device) override {
    COLL_RETURN_IF_ERROR(check(device));
    return tcp::makeListener(*shared_, device);
  }

  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    COLL_RETURN_IF_ERROR(check(device));
    std::optional<tcp::HandleContent> peer = tcp::decodeHandle(handle);
    if (!peer)
      return Status::invalid("the handle does not belong to a tcp listener");
    return tcp::makeConnector(*shared_, device, *peer);
  }

  Result<Memory *> regMr(int device, const MemoryRegion &memory) override {
    COLL_RETURN_IF_ERROR(check(device));
    if (memory.kind != MemoryKind::Host)
      return Status(kCollUnsupported, "tcp moves host memory only");
    if (!memory.data && memory.bytes > 0)
      return Status::invalid("memory at null");
    auto region = std::make_shared<Region>();
    COLL_RETURN_IF_ERROR(fillRandom(&region->key.key, sizeof(region->key.key)));
    region->key.bytes = memory.bytes;
    region->data = static_cast<uint8_t *>(memory.data);
    shared_->regions.add(region);
    return static_cast<Memory *>(region.get());
  }

  void deregMr(Memory *memory) override {
    if (memory)
      shared_->regions.remove(*static_cast<Region *>(memory));
  }

private:
  Status check(int device) const {
    if (device >= 0 && static_cast<size_t>(device) < shared_->devices.size())
      return {};
    return Status::invalid("there is no tcp device " + std::to_string(device));
  }

  std::unique_ptr<Shared> shared_;
  std::atomic<bool> isHurried_{false};
};

DeviceProperties propertiesOf(const Interface &interface, size_t number) {
  DeviceProperties properties;
  properties.name = interface.name;
  properties.address = interface.address.host();
  properties.guid = number;
  properties.maxSegments = tcp::kMaxSegments;
  properties.maxRequests = static_cast<int32_t>(tcp::kMaxRequests);
  properties.maxMessageBytes = wire::kMaxMessageBytes;
  return properties;
}

constexpr double kFewCores = 2;

// How many threads serve the sockets. Copying a socket's data keeps a core busy; a thread with
// nothing to copy sleeps.
int progressThreads(const TcpOptions &options) {
  if (options.threads > 0)
    return options.threads;
  return options.oneSocket() ? 1 : std::clamp(rt::numAllowedProcessors(), 2, 16);
}

// Threads that poll take cores from threads that work, unless there are many cores: a machine runs
// several processes of a job. With two processes a quarter of the cores is left.
int64_t spinFor(int threads, int64_t chosenUs) {
  return 3 * rt::numAllowedProcessors() >= 8 * threads ? chosenUs : 0;
}

} // namespace

bool TcpOptions::oneSocket() const {
  return dataStreams == 0 && (cores > 0 ? cores : rt::numAllowedProcessors()) <= kFewCores;
}

TcpOptions TcpOptions::fromEnv() {
  TcpOptions options;
  options.iface = rt::envString(rt::EnvVar::NetIface);
  options.dataStreams = static_cast<int>(rt::envInt(rt::EnvVar::NetSockets));
  options.threads = static_cast<int>(rt::envInt(rt::EnvVar::NetThreads));
  options.spinUs = rt::envInt(rt::EnvVar::NetSpinUs);
  options.timeoutUs = rt::envInt(rt::EnvVar::TimeoutUs);
  return options;
}

Result<std::unique_ptr<Transport>> createTcpTransport(const TcpOptions &options,
                                                      const std::optional<Secret> &secret) {
  if (options.dataStreams < 0 || options.dataStreams > 16 || options.threads < 0 ||
      options.threads > 64)
    return Status::invalid("a tcp connection has 1 to 16 data sockets, a transport 1 to 64 "
                           "threads, or 0 for as many of them as fit");
  Result<std::vector<Interface>> interfaces = findInterfaces(options.iface);
  if (!interfaces.ok())
    return interfaces.status();
  auto shared = std::make_unique<Shared>(options, secret);
  shared->oneSocket = options.oneSocket();
  if (options.dataStreams == 0)
    shared->options.dataStreams = shared->oneSocket ? 1 : TcpOptions::kDataStreams;
  for (const Interface &interface : *interfaces) {
    shared->devices.push_back(propertiesOf(interface, shared->devices.size()));
    shared->addresses.push_back(interface.address);
  }
  int threads = progressThreads(options);
  int64_t spinUs = spinFor(threads, options.spinUs);
  for (int i = 0; i < threads; ++i) {
    Result<std::unique_ptr<Poller>> poller = Poller::create(spinUs);
    if (!poller.ok())
      return poller.status();
    shared->pollers.push_back(poller.take());
  }
  return std::unique_ptr<Transport>(std::make_unique<TcpTransport>(std::move(shared)));
}

} // namespace coll::net
