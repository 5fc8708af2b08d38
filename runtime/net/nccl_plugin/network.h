// network.h - a transport and its devices, as NCCL sees them.
//
// One exists per process while a communicator of NCCL or a comm of the plugin needs it. Any thread
// may call it.

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_NETWORK_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_NETWORK_H

#include "runtime/net/gpu/transport.h"
#include "runtime/net/nccl_plugin/abi.h"
#include "runtime/net/nccl_plugin/settings.h"
#include "runtime/net/transport.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace coll::net::nccl {

struct Device {
  int number = 0; // number in the transport
  std::string name, pciPath;
  uint64_t guid = 0;
  int pointers = kPtrHost; // kPtr…
  int speedMbps = 0, port = 0;
  float latencyUs = 0;
  bool registrationIsGlobal = true, needsFlush = false;
  uint64_t maxMessageBytes = 0;
};

class Network {
public:
  // Reads the environment. In UNPACK mode it also sets NCCL's variables (configure.h).
  static Result<std::shared_ptr<Network>> create();

  Transport &transport() { return *transport_; }
  const std::vector<Device> &devices() const { return devices_; }
  // Whether receives need NCCL's unpack kernel.
  bool unpacks() const { return unpacks_; }
  // "HOST" or "UNPACK", for users; names the table if the table has decided.
  const std::string &mode() const { return mode_; }
  // Which of the user's settings are ignored, and why; empty if none are.
  const std::string &warning() const { return warning_; }
  // Whether NCCL's host memory has to be registered with the transport.
  bool registersHost() const { return registersHost_; }
  // Whether the plugin asked NCCL for channels that the user had not asked for.
  bool asksForChannels() const { return asksForChannels_; }
  // Counters of the device path; zeros in HOST mode.
  DeviceStats stats() const { return deviceTransport_ ? deviceTransport_->stats() : DeviceStats(); }
  // A number for each connection, for profilers.
  uint64_t nextConnection() { return connections_.fetch_add(1, std::memory_order_relaxed); }

private:
  Network() = default;
  Status addTransport(const Settings &settings);
  Status addUnpacking(const Settings &settings);
  Status addDevices(const Settings &settings);

  std::unique_ptr<Transport> transport_;
  DeviceTransport *deviceTransport_ = nullptr; // transport_, in UNPACK mode
  std::vector<Device> devices_;
  bool unpacks_ = false, registersHost_ = false, asksForChannels_ = false;
  std::string mode_, warning_;
  std::atomic<uint64_t> connections_{0};
};

} // namespace coll::net::nccl

#endif // COLL_RUNTIME_NET_NCCL_PLUGIN_NETWORK_H
