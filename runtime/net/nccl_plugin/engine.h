// engine.h - the plugin, independent of NCCL's version. The adapters in plugin.cc only translate
// calls.
//
// Any thread may call it. Errors are logged here, once, through NCCL's logger.

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_ENGINE_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_ENGINE_H

#include "runtime/net/nccl_plugin/comm.h"
#include "runtime/net/nccl_plugin/network.h"

#include <cstdarg>
#include <map>
#include <mutex>
#include <string>

namespace coll::net::nccl {

struct ListenComm {
  std::shared_ptr<Network> network;
  int device = 0; // number of the device for NCCL
  std::unique_ptr<Listener> listener;
};

class Engine {
public:
  // The only engine of the process. It is never destroyed, because NCCL's threads may call it until
  // the process ends.
  static Engine &get();

  // NCCL's init: once for v8 to v10, per communicator since v11. The network exists from the first
  // call until as many close() calls were made and the last comm has ended. `isConfigured`: this
  // NCCL has read the communicator's configuration before; see configure.h.
  NcclResult open(NcclLogger logger, ProfilerHook profiler, bool isConfigured);
  void close();

  NcclResult devices(int *count);
  // Null, after a log line, if there is no such device.
  const Device *device(int number);
  bool unpacks();

  NcclResult listen(int device, void *handle, void **listenComm);
  // Success with a null comm means "not yet": call again with the same handle.
  NcclResult connect(int device, const void *handle, void **sendComm);
  NcclResult accept(ListenComm &listenComm, void **recvComm, NcclDeviceHandle **deviceHandle);
  NcclResult closeListen(ListenComm *listenComm);
  NcclResult closeComm(Comm *comm);

  // Logs the status and converts it to NCCL's result.
  NcclResult fail(const Status &status, const char *call);
  void warn(const std::string &text);
  void info(const char *format, ...) __attribute__((format(printf, 2, 3)));

private:
  Engine() = default;
  struct Connecting {
    std::unique_ptr<Connector> connector;
    int64_t startUs = 0;
  };
  std::shared_ptr<Network> network(const char *call);
  Result<std::unique_ptr<Connection>> poll(Network &network, int device, const Handle &handle);
  void reportStats(Network &network);

  std::mutex mutex_;
  std::shared_ptr<Network> network_;
  int users_ = 0;
  // By device and handle, because NCCL calls connect() until it gets a comm.
  std::map<std::string, Connecting> connecting_;
  std::atomic<NcclLogger> logger_{nullptr};
  std::atomic<ProfilerHook> profiler_{nullptr};
  std::atomic<uint64_t> reportedMessages_{0};
};

} // namespace coll::net::nccl

#endif // COLL_RUNTIME_NET_NCCL_PLUGIN_ENGINE_H
