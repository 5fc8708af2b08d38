#include "runtime/net/verbs/device.h"

#include "runtime/base/log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <vector>

namespace coll::net::verbs {

using rt::dl::ibverbsError;

namespace {

// Whether the GID is an IPv4 address, ::ffff:a.b.c.d.
bool isIpv4(const ibv_gid &gid) {
  static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, prefix, sizeof(prefix)) == 0;
}

// The vendor of soft-RoCE, from the kernel's rxe_param.h; no hardware has this number.
constexpr uint32_t kSoftRoceVendor = 0xffffff;

bool isLinkLocal(const ibv_gid &gid) { return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80; }

bool isZero(const ibv_gid &gid) {
  static const ibv_gid zero = {};
  return std::memcmp(&gid, &zero, sizeof(gid)) == 0;
}

} // namespace

// Drains the device's events on a poller's thread.
class Device::Events final : public PollHandler {
public:
  explicit Events(Device &device) : device_(device) {}
  void onEvents(uint32_t) override {
    ibv_async_event event = {};
    while (device_.api_.getAsyncEvent(device_.context_, &event) == 0) {
      uint64_t user = 0;
      switch (event.event_type) {
      case IBV_EVENT_CQ_ERR:
        user = reinterpret_cast<uintptr_t>(event.element.cq->cq_context);
        break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        user = reinterpret_cast<uintptr_t>(event.element.qp->qp_context);
        break;
      default:
        break;
      }
      // Acknowledged before the user is notified, because destroying its queue pair waits for the
      // acknowledgement.
      device_.api_.ackAsyncEvent(&event);
      device_.onEvent(event, user);
    }
  }
  void onDeadline() override { device_.onGraceOver(); }

private:
  Device &device_;
};

Result<std::unique_ptr<Device>> Device::open(const rt::dl::Ibverbs &api, ibv_device *device,
                                             uint64_t cacheBytes) {
  std::unique_ptr<Device> self(new Device(api, cacheBytes));
  self->name_ = api.getDeviceName(device);
  errno = 0;
  self->context_ = api.openDevice(device);
  if (!self->context_)
    return ibverbsError("opening RDMA device " + self->name_, errno ? errno : ENODEV);
  if (int error = api.queryDevice(self->context_, &self->attributes_))
    return ibverbsError("asking for the limits of " + self->name_, error);
  errno = 0;
  self->pd_ = api.allocPd(self->context_);
  if (!self->pd_)
    return ibverbsError("a protection domain on " + self->name_, errno ? errno : ENOMEM);
  self->cache_.setPd(self->pd_);
  // If the kernel supports dmabuf, it rejects the descriptor, not the call.
  errno = 0;
  self->takesDmabuf_ = api.regDmabufMr &&
                       !api.regDmabufMr(self->pd_, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE) &&
                       errno == EBADF;
  return self;
}

Device::~Device() {
  cache_.clear();
  if (pd_)
    api_.deallocPd(pd_);
  if (context_)
    api_.closeDevice(context_);
}

Result<Port> Device::queryPort(uint8_t port, int gidIndex) const {
  Port result;
  if (int error = api_.queryPort(context_, port, &result.attributes))
    return ibverbsError("asking for port " + std::to_string(port) + " of " + name_, error);
  result.gidIndex = gidIndex >= 0 ? gidIndex : chooseGid(port, result.attributes);
  if (api_.queryGid(context_, port, result.gidIndex, &result.gid) != 0 || isZero(result.gid))
    return Status(kCollLink, name_ + " port " + std::to_string(port) + " has no GID " +
                                 std::to_string(result.gidIndex) +
                                 (gidIndex >= 0 ? " (COLL_NET_GID_INDEX)" : ""));
  return result;
}

int Device::chooseGid(uint8_t port, const ibv_port_attr &attributes) const {
  if (attributes.link_layer != IBV_LINK_LAYER_ETHERNET)
    return 0;
  int best = 0, bestRank = -1;
  for (int i = 0; i < attributes.gid_tbl_len && i < 1024; ++i) {
    ibv_gid gid = {};
    bool isV2 = false;
    if (api_.queryGidEx) {
      ibv_gid_entry entry = {};
      if (api_.queryGidEx(context_, port, static_cast<uint32_t>(i), &entry, 0, sizeof(entry)) != 0)
        continue;
      gid = entry.gid;
      isV2 = entry.gid_type == IBV_GID_TYPE_ROCE_V2;
    } else if (api_.queryGid(context_, port, i, &gid) != 0) {
      break;
    }
    if (isZero(gid))
      continue;
    int rank = (isV2 ? 4 : 0) + (isIpv4(gid) ? 2 : isLinkLocal(gid) ? 0 : 1);
    if (rank > bestRank) {
      best = i;
      bestRank = rank;
    }
  }
  return best;
}

bool Device::isUsable(uint8_t port) const {
  ibv_port_attr attributes = {};
  return !failed_ && api_.queryPort(context_, port, &attributes) == 0 &&
         attributes.state == IBV_PORT_ACTIVE;
}

Status Device::completionError(const ibv_wc &completion) const {
  return rt::dl::completionError(completion.status, completion.vendor_err,
                                 attributes_.vendor_id == kSoftRoceVendor);
}

//===-- events ------------------------------------------------------------------===//

Status Device::start(Poller &poller, int64_t graceUs) {
  int fd = context_->async_fd;
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
    return ibverbsError("events of " + name_, errno);
  poller_ = &poller;
  graceUs_ = graceUs;
  pollId_ = poller.reserve();
  return poller.add(pollId_, fd, EPOLLIN, std::make_shared<Events>(*this));
}

uint64_t Device::join(uint8_t port, std::weak_ptr<DeviceUser> user) {
  std::lock_guard<std::mutex> lock(mutex_);
  users_[next_] = {port, std::move(user)};
  return next_++;
}

void Device::leave(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  users_.erase(number);
}

void Device::tell(const Status &why, uint64_t number, uint8_t port) {
  std::vector<std::shared_ptr<DeviceUser>> told;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto &[id, user] : users_)
      if ((!number || id == number) && (!port || user.port == port))
        if (std::shared_ptr<DeviceUser> alive = user.user.lock())
          told.push_back(std::move(alive));
  }
  for (const std::shared_ptr<DeviceUser> &user : told)
    user->onDeviceError(why);
}

void Device::onEvent(const ibv_async_event &event, uint64_t user) {
  auto port = static_cast<uint8_t>(event.element.port_num);
  switch (event.event_type) {
  case IBV_EVENT_DEVICE_FATAL:
    failed_ = true;
    rt::log(rt::LogLevel::Error, name_ + ": the RDMA device has failed");
    return tell(rt::dl::asyncEventError(event.event_type).annotate(name_), 0, 0);
  case IBV_EVENT_PORT_ERR:
    rt::log(rt::LogLevel::Warn, name_ + ": port " + std::to_string(port) + " went down");
    down_[port] = true;
    return poller_->setDeadline(pollId_, nowUs() + graceUs_);
  case IBV_EVENT_PORT_ACTIVE:
    rt::log(rt::LogLevel::Info, name_ + ": port " + std::to_string(port) + " is up");
    down_[port] = false;
    return;
  case IBV_EVENT_CQ_ERR:
  case IBV_EVENT_QP_FATAL:
  case IBV_EVENT_QP_REQ_ERR:
  case IBV_EVENT_QP_ACCESS_ERR:
    if (user)
      tell(rt::dl::asyncEventError(event.event_type).annotate(name_), user, 0);
    return;
  default:
    return; // events that concern no connection
  }
}

void Device::onGraceOver() {
  for (int port = 1; port < 256; ++port)
    if (down_[static_cast<size_t>(port)])
      tell(rt::dl::asyncEventError(IBV_EVENT_PORT_ERR)
               .annotate(name_ + " port " + std::to_string(port)),
           0, static_cast<uint8_t>(port));
}

} // namespace coll::net::verbs
