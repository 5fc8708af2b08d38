// device.h - an open RDMA device: its ports and its events.

#ifndef COLL_RUNTIME_NET_VERBS_DEVICE_H
#define COLL_RUNTIME_NET_VERBS_DEVICE_H

#include "runtime/dl/ibverbs.h"
#include "runtime/net/poller.h"
#include "runtime/net/verbs/memory.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace coll::net::verbs {

// Receives a device's events, on the thread that waits for them.
class DeviceUser {
public:
  virtual ~DeviceUser() = default;
  // The user's queue pairs and registrations on the device can no longer be used.
  virtual void onDeviceError(const Status &why) = 0;
};

// The current state of a port, and the address that its packets carry.
struct Port {
  ibv_port_attr attributes = {};
  int gidIndex = 0;
  ibv_gid gid = {};
  bool isUp() const { return attributes.state == IBV_PORT_ACTIVE; }
  bool isEthernet() const { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
};

// Outlives all objects that are made with it. Any thread may call it.
class Device {
public:
  static Result<std::unique_ptr<Device>> open(const rt::dl::Ibverbs &api, ibv_device *device,
                                              uint64_t cacheBytes);
  ~Device();

  const rt::dl::Ibverbs &api() const { return api_; }
  ibv_context *context() const { return context_; }
  ibv_pd *pd() const { return pd_; }
  const ibv_device_attr &attributes() const { return attributes_; }
  const std::string &name() const { return name_; }
  bool takesDmabuf() const { return takesDmabuf_; }
  RegistrationCache &cache() { return cache_; }

  // Chooses a GID unless `gidIndex` names one: RoCE v2 before v1, IPv4 before IPv6.
  Result<Port> queryPort(uint8_t port, int gidIndex) const;

  // Starts waiting for events. A port may be down for graceUs before its users are notified.
  Status start(Poller &poller, int64_t graceUs);
  // Whether a new connection may use this port. Asks the device, because events arrive late.
  bool isUsable(uint8_t port) const;
  // What a failed completion means on this device. Not for IBV_WC_SUCCESS.
  Status completionError(const ibv_wc &completion) const;
  // Returns a number for the qp_context and cq_context of the objects that `user` makes; see
  // leave().
  uint64_t join(uint8_t port, std::weak_ptr<DeviceUser> user);
  void leave(uint64_t number);

private:
  class Events;
  struct User {
    uint8_t port = 0;
    std::weak_ptr<DeviceUser> user;
  };

  Device(const rt::dl::Ibverbs &api, uint64_t cacheBytes) : api_(api), cache_(api, cacheBytes) {}
  int chooseGid(uint8_t port, const ibv_port_attr &attributes) const;
  void onEvent(const ibv_async_event &event, uint64_t user);
  void onGraceOver();
  // Notifies user `number` (0: all users) of port `port` (0: all ports).
  void tell(const Status &why, uint64_t number, uint8_t port);

  const rt::dl::Ibverbs &api_;
  ibv_context *context_ = nullptr;
  ibv_pd *pd_ = nullptr;
  ibv_device_attr attributes_ = {};
  std::string name_;
  bool takesDmabuf_ = false;
  RegistrationCache cache_;

  std::atomic<bool> failed_{false};
  std::array<std::atomic<bool>, 256> down_ = {};
  Poller *poller_ = nullptr;
  uint64_t pollId_ = 0;
  int64_t graceUs_ = 0;
  std::mutex mutex_;
  uint64_t next_ = 1;
  std::unordered_map<uint64_t, User> users_;
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_DEVICE_H
