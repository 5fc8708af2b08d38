#include "runtime/net/verbs/verbs.h"

#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/net/verbs/listener.h"
#include "runtime/net/verbs/shared.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sstream>
#include <thread>

namespace coll::net {

namespace {

using namespace verbs;

class VerbsTransport final : public Transport {
public:
  explicit VerbsTransport(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}

  // Gives the peers of closed connections time to get their last acknowledgements.
  ~VerbsTransport() override {
    int64_t end = nowUs() + (isHurried_ ? kHurriedLingerUs : kLingerUs);
    while (shared_->lingering > 0 && nowUs() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }

  const char *name() const override { return "verbs"; }
  void hurry() override { isHurried_ = true; }
  const std::vector<DeviceProperties> &devices() const override { return shared_->properties; }

  Result<std::unique_ptr<Listener>> listen(int device) override {
    COLL_RETURN_IF_ERROR(check(device));
    return makeListener(*shared_, device);
  }

  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    COLL_RETURN_IF_ERROR(check(device));
    std::optional<HandleContent> peer = decodeHandle(handle);
    if (!peer)
      return Status::invalid("the handle does not belong to a verbs listener");
    return makeConnector(*shared_, device, *peer);
  }

  Result<Memory *> regMr(int device, const MemoryRegion &memory) override {
    COLL_RETURN_IF_ERROR(check(device));
    if (memory.kind == MemoryKind::Cuda)
      return Status(kCollUnsupported,
                    "verbs takes GPU memory as a dmabuf descriptor (MemoryKind::Dmabuf)");
    Device &owner = *shared_->rails[static_cast<size_t>(device)].device;
    if (memory.kind == MemoryKind::Dmabuf && !owner.takesDmabuf())
      return Status(kCollUnsupported, owner.name() + " cannot register dmabuf memory (needs a "
                                                     "device, kernel and rdma-core that can)");
    if (!memory.data && memory.bytes > 0)
      return Status::invalid("memory at null");
    uint64_t key = 0;
    COLL_RETURN_IF_ERROR(fillRandom(&key, sizeof(key)));
    auto region = std::make_shared<Region>(memory, key);
    if (Status registered = region->on(owner).status(); !registered.ok())
      return registered;
    shared_->regions.add(region);
    return static_cast<Memory *>(region.get());
  }

  // A connection of a port that is down is made over another port.
  bool isUp(int device) const override {
    return check(device).ok() && shared_->rails[static_cast<size_t>(device)].isUsable();
  }

  void deregMr(Memory *memory) override {
    if (memory)
      shared_->regions.remove(*static_cast<Region *>(memory));
  }

private:
  Status check(int device) const {
    if (device >= 0 && static_cast<size_t>(device) < shared_->rails.size())
      return {};
    return Status::invalid("there is no verbs device " + std::to_string(device));
  }

  std::unique_ptr<Shared> shared_;
  std::atomic<bool> isHurried_{false};
};

// A word of COLL_NET_RDMA_DEVICES; port 0: any.
struct Choice {
  std::string name;
  int port = 0;
};

Result<std::vector<Choice>> parseChoices(const std::string &text) {
  std::vector<Choice> choices;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    size_t colon = word.find(':');
    Choice choice{word.substr(0, colon), 0};
    if (colon != std::string::npos)
      choice.port = std::atoi(word.c_str() + colon + 1);
    if (choice.name.empty() || choice.port < 0 || choice.port > 255 ||
        (colon != std::string::npos && choice.port == 0))
      return Status::invalid("\"" + word + "\" is not an RDMA device (as in \"mlx5_0,mlx5_1:2\")");
    choices.push_back(choice);
  }
  return choices;
}

// The position of a port among the choices; negative if it is not among them.
int rankOf(const std::vector<Choice> &choices, const std::string &name, int port) {
  if (choices.empty())
    return 0;
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i].name == name && (choices[i].port == 0 || choices[i].port == port))
      return static_cast<int>(i);
  return -1;
}

int32_t speedMbps(const ibv_port_attr &port) {
  auto width = [&] {
    switch (port.active_width) {
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return 1;
    }
  };
  switch (port.active_speed) {
  case 1:
    return 2500 * width();
  case 2:
    return 5000 * width();
  case 4:
  case 8:
    return 10'000 * width();
  case 16:
    return 14'000 * width();
  case 32:
    return 25'000 * width();
  case 64:
    return 50'000 * width();
  case 128:
    return 100'000 * width();
  default:
    return 0;
  }
}

std::string pciPathOf(const std::string &name) {
  std::unique_ptr<char, decltype(&std::free)> path(
      realpath(("/sys/class/infiniband/" + name + "/device").c_str(), nullptr), &std::free);
  return path ? path.get() : "";
}

DeviceProperties propertiesOf(const Device &device, uint8_t number, const Port &port,
                              const Address &address) {
  DeviceProperties properties;
  properties.name = device.name() + ":" + std::to_string(number);
  std::string text = address.toString();
  properties.address = text.substr(0, text.rfind(':'));
  properties.pciPath = pciPathOf(device.name());
  properties.guid = device.attributes().node_guid;
  properties.port = number;
  properties.speedMbps = speedMbps(port.attributes);
  properties.maxSegments = kMaxSegments;
  properties.maxRequests = static_cast<int32_t>(kMaxRequests);
  properties.maxMessageBytes = kMaxMessageBytes;
  if (device.takesDmabuf()) {
    properties.memoryKinds |= static_cast<uint32_t>(MemoryKind::Dmabuf);
    properties.needsFlush = true;
  }
  return properties;
}

// The address on which the TCP listener of a port listens.
Result<Address> addressOf(const Port &port, const std::string &iface) {
  if (iface.empty() && port.isEthernet() && port.gid.raw[10] == 0xff && port.gid.raw[11] == 0xff) {
    Address address;
    auto &v4 = reinterpret_cast<sockaddr_in &>(address.storage);
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, port.gid.raw + 12, 4);
    address.length = sizeof(v4);
    return address;
  }
  Result<std::vector<Interface>> interfaces = findInterfaces(iface);
  if (!interfaces.ok())
    return interfaces.status();
  return interfaces->front().address;
}

// Adds the ports of one device that are up and chosen.
Status addRails(Shared &shared, std::vector<int> &ranks, const std::vector<Choice> &choices,
                std::unique_ptr<Device> device) {
  for (int number = 1; number <= device->attributes().phys_port_cnt; ++number) {
    int rank = rankOf(choices, device->name(), number);
    if (rank < 0)
      continue;
    Result<Port> port = device->queryPort(static_cast<uint8_t>(number), shared.options.gidIndex);
    std::string name = device->name() + ":" + std::to_string(number);
    if (!port.ok() || !port->isUp()) {
      rt::log(rt::LogLevel::Info, "verbs: " + name + " is not used: " +
                                      (port.ok() ? "it is down" : port.status().message()));
      continue;
    }
    Result<Address> address = addressOf(*port, shared.options.iface);
    if (!address.ok())
      return address.status();
    auto place = std::upper_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
    ranks.insert(ranks.begin() + place, rank);
    shared.rails.insert(shared.rails.begin() + place,
                        {device.get(), static_cast<uint8_t>(number), *address});
    shared.properties.insert(shared.properties.begin() + place,
                             propertiesOf(*device, static_cast<uint8_t>(number), *port, *address));
  }
  shared.devices.push_back(std::move(device));
  return {};
}

Status findRails(Shared &shared, const rt::dl::Ibverbs &api) {
  Result<std::vector<Choice>> choices = parseChoices(shared.options.devices);
  if (!choices.ok())
    return choices.status();
  int count = 0;
  ibv_device **list = api.getDeviceList(&count);
  Status status;
  std::vector<int> ranks;
  std::string skipped;
  for (int i = 0; list && i < count && status.ok(); ++i) {
    std::string name = api.getDeviceName(list[i]);
    bool isChosen =
        choices->empty() || std::any_of(choices->begin(), choices->end(),
                                        [&](const Choice &choice) { return choice.name == name; });
    if (!isChosen)
      continue;
    Result<std::unique_ptr<Device>> device = Device::open(api, list[i], shared.options.cacheBytes);
    if (device.ok())
      status = addRails(shared, ranks, *choices, device.take());
    else
      skipped += "; " + device.status().message();
  }
  if (list)
    api.freeDeviceList(list);
  if (status.ok() && shared.rails.empty())
    status = {kCollUnsupported,
              count == 0 ? "this machine has no RDMA device"
                         : "no port of an RDMA device is up, or none that was chosen" + skipped};
  return status;
}

Status checkOptions(const VerbsOptions &options) {
  auto isWithin = [](int value, int least, int most) { return value >= least && value <= most; };
  // 7 would mean "for ever": a dead peer would never be noticed.
  if (!isWithin(options.retryCount, 0, 6) || !isWithin(options.rnrRetryCount, 0, 6))
    return Status::invalid("an RDMA device may retry 0 to 6 times");
  if (!isWithin(options.retryTimeout, 1, 31))
    return Status::invalid("the exponent of an RDMA device's timeout must be 1 to 31");
  if (!isWithin(options.queuePairs, 1, kMaxDataQueues) || !isWithin(options.threads, 1, 64) ||
      !isWithin(options.trafficClass, 0, 255) || !isWithin(options.gidIndex, -1, 254))
    return Status::invalid("a verbs connection has 1 to 16 queue pairs for data, a transport 1 to "
                           "64 threads, a port GIDs 0 to 254");
  return {};
}

} // namespace

VerbsOptions VerbsOptions::fromEnv() {
  auto number = [](rt::EnvVar var) { return static_cast<int>(rt::envInt(var)); };
  VerbsOptions options;
  options.devices = rt::envString(rt::EnvVar::NetRdmaDevices);
  options.iface = rt::envString(rt::EnvVar::NetIface);
  if (!rt::envString(rt::EnvVar::NetGidIndex).empty())
    options.gidIndex = number(rt::EnvVar::NetGidIndex);
  options.queuePairs = number(rt::EnvVar::NetQps);
  if (const int threads = number(rt::EnvVar::NetThreads); threads > 0)
    options.threads = threads;
  options.retryCount = number(rt::EnvVar::NetRdmaRetry);
  options.retryTimeout = number(rt::EnvVar::NetRdmaTimeout);
  options.cacheBytes = static_cast<uint64_t>(rt::envInt(rt::EnvVar::NetRegCacheBytes));
  options.spinUs = rt::envInt(rt::EnvVar::SpinUs);
  options.timeoutUs = rt::envInt(rt::EnvVar::TimeoutUs);
  return options;
}

Result<std::unique_ptr<Transport>> createVerbsTransport(const VerbsOptions &options,
                                                        const std::optional<Secret> &secret) {
  COLL_RETURN_IF_ERROR(checkOptions(options));
  Result<const rt::dl::Ibverbs *> api = rt::dl::ibverbs();
  if (!api.ok())
    return api.status();
  auto shared = std::make_unique<Shared>(options, secret);
  COLL_RETURN_IF_ERROR(findRails(*shared, **api));
  for (int i = 0; i < options.threads; ++i) {
    Result<std::unique_ptr<Poller>> poller = Poller::create();
    if (!poller.ok())
      return poller.status();
    shared->pollers.push_back(poller.take());
  }
  for (const std::unique_ptr<Device> &device : shared->devices)
    COLL_RETURN_IF_ERROR(device->start(*shared->pollers.front(), options.portGraceUs));
  return std::unique_ptr<Transport>(std::make_unique<VerbsTransport>(std::move(shared)));
}

} // namespace coll::net
