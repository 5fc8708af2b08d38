// handle_life.h - the stages of a device handle.
//
//   Discovered ── allocate() ──► Allocated ── fill() ──► Filled ── map() ──► Mapped
//        └───────────────┴──── close() ────┴────────────────┴────────────────► Closed
//
// Discovered: device type and version were compared. Allocated: the caller has memory for the
// handle; receives only. Filled: accept() has stored the GPU's address in it. Mapped: a kernel may
// use it, so it can no longer change. Closed: no kernel uses it any more. Every other step fails
// with kCollInvalidCall. One thread at a time may call it.

#ifndef COLL_RUNTIME_NET_GPU_HANDLE_LIFE_H
#define COLL_RUNTIME_NET_GPU_HANDLE_LIFE_H

#include "runtime/net/transport.h"

namespace coll::net {

enum class HandleStage { Discovered, Allocated, Filled, Mapped, Closed };
enum class Direction { Receive, Send };

const char *stageName(HandleStage stage);

class HandleLife {
public:
  // Compares the device that the caller expects with this library's. kCollUnsupported, with both
  // types or both versions, if they differ.
  static Result<HandleLife> discover(DeviceType type, int32_t version);

  // kCollUnsupported for sends.
  Status allocate(Direction direction);
  // `handle` has the discovered type and version, and an address.
  Status fill(const DeviceHandle &handle);
  Result<const DeviceHandle *> map();
  void close();

  HandleStage stage() const { return stage_; }

private:
  explicit HandleLife(DeviceType type) : type_(type) {}
  Status step(HandleStage from, HandleStage to);

  DeviceType type_;
  HandleStage stage_ = HandleStage::Discovered;
  DeviceHandle handle_;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_HANDLE_LIFE_H
