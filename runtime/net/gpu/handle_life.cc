#include "runtime/net/gpu/handle_life.h"

#include "runtime/base/unpack_layout.h"

#include <cstdio>

namespace coll::net {

namespace {

std::string typeName(DeviceType type) {
  switch (type) {
  case DeviceType::Host:
    return "HOST";
  case DeviceType::Unpack:
    return "UNPACK";
  }
  return "number " + std::to_string(static_cast<int32_t>(type));
}

std::string hex(int32_t version) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%x", static_cast<unsigned>(version));
  return text;
}

} // namespace

const char *stageName(HandleStage stage) {
  switch (stage) {
  case HandleStage::Discovered:
    return "discovered";
  case HandleStage::Allocated:
    return "allocated";
  case HandleStage::Filled:
    return "filled";
  case HandleStage::Mapped:
    return "mapped";
  case HandleStage::Closed:
    return "closed";
  }
  return "unknown";
}

Result<HandleLife> HandleLife::discover(DeviceType type, int32_t version) {
  if (type != DeviceType::Unpack)
    return Status(kCollUnsupported,
                  "device type " + typeName(type) + " has no handle, only UNPACK has one");
  if (version != rt::kUnpackVersion)
    return Status(kCollUnsupported, "UNPACK of version " + hex(version) +
                                        " was requested, this library has " +
                                        hex(rt::kUnpackVersion));
  return HandleLife(type);
}

Status HandleLife::step(HandleStage from, HandleStage to) {
  if (stage_ != from)
    return Status::invalid(std::string("a device handle is ") + stageName(stage_) +
                           ", it cannot become " + stageName(to));
  stage_ = to;
  return {};
}

Status HandleLife::allocate(Direction direction) {
  if (direction == Direction::Send)
    return {kCollUnsupported, "UNPACK handles are for receives only"};
  return step(HandleStage::Discovered, HandleStage::Allocated);
}

Status HandleLife::fill(const DeviceHandle &handle) {
  if (handle.type != type_ || handle.version != rt::kUnpackVersion)
    return Status(kCollUnsupported, "a handle of " + typeName(handle.type) + " " +
                                        hex(handle.version) + " cannot fill one of " +
                                        typeName(type_) + " " + hex(rt::kUnpackVersion));
  if (!handle.handle || handle.bytes != sizeof(rt::UnpackHandle))
    return Status::invalid("a device handle without GPU memory of " +
                           std::to_string(sizeof(rt::UnpackHandle)) + " bytes");
  COLL_RETURN_IF_ERROR(step(HandleStage::Allocated, HandleStage::Filled));
  handle_ = handle;
  return {};
}

Result<const DeviceHandle *> HandleLife::map() {
  if (stage_ != HandleStage::Mapped) // several kernels may map it
    COLL_RETURN_IF_ERROR(step(HandleStage::Filled, HandleStage::Mapped));
  return &handle_;
}

void HandleLife::close() {
  stage_ = HandleStage::Closed;
  handle_ = {};
}

} // namespace coll::net
