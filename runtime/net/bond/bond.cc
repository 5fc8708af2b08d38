#include "runtime/net/bond/bond.h"

#include "runtime/base/env.h"
#include "runtime/net/bond/listener.h"
#include "runtime/net/bond/request.h"

#include <algorithm>

namespace coll::net {

namespace {

using bond::Keeper;

class BondTransport final : public Transport {
public:
  BondTransport(std::unique_ptr<Transport> inner, const BondOptions &options)
      : inner_(std::move(inner)) {
    shared_.inner = inner_.get();
    shared_.keeper = &keeper_;
    shared_.options = options;
    const std::vector<DeviceProperties> &below = inner_->devices();
    for (size_t i = 0; i < below.size(); ++i) {
      shared_.below.push_back(choose(below, i, static_cast<size_t>(options.rails)));
      shared_.devices.push_back(join(below, shared_.below.back()));
    }
  }

  Status start() { return keeper_.start(); }

  const char *name() const override { return inner_->name(); }
  void hurry() override {
    shared_.isHurried = true;
    inner_->hurry();
  }
  const std::vector<DeviceProperties> &devices() const override { return shared_.devices; }

  Result<std::unique_ptr<Listener>> listen(int device) override {
    COLL_RETURN_IF_ERROR(check(device));
    return bond::makeListener(shared_, device);
  }
  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    COLL_RETURN_IF_ERROR(check(device));
    return bond::makeConnector(shared_, device, handle);
  }
  // Host memory that is registered on one device of a transport can be used with all of them.
  Result<Memory *> regMr(int device, const MemoryRegion &region) override {
    COLL_RETURN_IF_ERROR(check(device));
    if (region.kind != MemoryKind::Host)
      return Status(kCollUnsupported, "several devices at once move host memory only");
    return inner_->regMr(device, region);
  }
  void deregMr(Memory *memory) override { inner_->deregMr(memory); }
  bool isUp(int device) const override {
    return check(device).ok() && inner_->isUp(shared_.below[static_cast<size_t>(device)].front());
  }

private:
  // The device itself, then the next devices that are other interfaces: an interface with an IPv4
  // and an IPv6 address is two devices, but one cable.
  static std::vector<int> choose(const std::vector<DeviceProperties> &below, size_t first,
                                 size_t rails) {
    std::vector<int> chosen;
    for (size_t i = 0; i < below.size() && chosen.size() < rails; ++i) {
      size_t next = (first + i) % below.size();
      if (std::none_of(chosen.begin(), chosen.end(), [&](int known) {
            return below[static_cast<size_t>(known)].name == below[next].name;
          }))
        chosen.push_back(static_cast<int>(next));
    }
    return chosen;
  }

  static DeviceProperties join(const std::vector<DeviceProperties> &below,
                               const std::vector<int> &rails) {
    DeviceProperties device = below[static_cast<size_t>(rails.front())];
    device.memoryKinds = static_cast<uint32_t>(MemoryKind::Host);
    device.needsFlush = false;
    device.maxRequests = std::min<int32_t>(device.maxRequests, bond::kMaxRequests);
    device.maxSegments = std::min(device.maxSegments, kMaxRequestSegments);
    device.maxMessageBytes = std::min(device.maxMessageBytes, bond::kMaxMessageBytes);
    for (size_t i = 1; i < rails.size(); ++i) {
      const DeviceProperties &other = below[static_cast<size_t>(rails[i])];
      device.name += "+" + other.name;
      device.maxSegments = std::min(device.maxSegments, other.maxSegments);
      device.maxMessageBytes = std::min(device.maxMessageBytes, other.maxMessageBytes);
    }
    return device;
  }
  Status check(int device) const {
    if (device >= 0 && static_cast<size_t>(device) < shared_.devices.size())
      return {};
    return Status::invalid("there is no device " + std::to_string(device));
  }

  const std::unique_ptr<Transport> inner_;
  bond::Shared shared_;
  Keeper keeper_; // destroyed first: the connections that it keeps use the other members
};

} // namespace

Result<std::unique_ptr<Transport>> createBondTransport(std::unique_ptr<Transport> inner,
                                                       const BondOptions &options) {
  if (options.rails < 1 || options.rails > BondOptions::kMaxRails)
    return Status::invalid("a connection uses 1 to " + std::to_string(BondOptions::kMaxRails) +
                           " devices (COLL_NET_RAILS), not " + std::to_string(options.rails));
  auto bond = std::make_unique<BondTransport>(std::move(inner), options);
  COLL_RETURN_IF_ERROR(bond->start());
  return std::unique_ptr<Transport>(std::move(bond));
}

Result<std::unique_ptr<Transport>> bondFromEnv(std::unique_ptr<Transport> inner,
                                               int64_t timeoutUs) {
  int64_t rails = rt::envInt(rt::EnvVar::NetRails);
  if (rails == 1)
    return inner;
  BondOptions options;
  options.rails = static_cast<int>(rails);
  options.timeoutUs = timeoutUs;
  options.joinTimeoutUs = std::min(options.joinTimeoutUs, timeoutUs);
  return createBondTransport(std::move(inner), options);
}

} // namespace coll::net
