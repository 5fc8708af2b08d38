#include "runtime/net/nccl_plugin/engine.h"

#include "runtime/base/log.h"
#include "runtime/net/socket.h"

#include <cstdio>
#include <cstring>

namespace coll::net::nccl {

namespace {

// After this time a connect() that NCCL does not repeat is given up. The transports' own deadline
// is shorter.
constexpr int64_t kForgottenUs = 600'000'000;

// The byte of a handle that says how its listener receives. Transports use the first bytes of a
// handle, and a bond's mark the last 8 (bond/frame.cc).
constexpr size_t kModeAt = kHandleBytes - 9;
constexpr uint8_t modeMark(bool unpacks) { return unpacks ? 'U' : 'H'; }

NcclResult resultOf(CollCode code) {
  switch (code) {
  case kCollOk:
    return kNcclSuccess;
  case kCollInvalidCall:
    return kNcclInvalidArgument;
  case kCollUnsupported:
  case kCollMismatch:
    return kNcclInvalidUsage;
  case kCollLink:
  case kCollPeer:
  case kCollTimeout:
  case kCollAborted:
    return kNcclRemoteError;
  case kCollDevice:
    return kNcclSystemError;
  case kCollInternal:
    break;
  }
  return kNcclInternalError;
}

void fill(NcclDeviceHandle &to, const DeviceHandle &from) {
  to.type = static_cast<NcclDeviceType>(from.type);
  to.version = from.version;
  to.handle = from.handle;
  to.bytes = from.bytes;
  to.needsProxyProgress = from.needsProgress ? 1 : 0;
}

} // namespace

Engine &Engine::get() {
  static Engine *engine = new Engine();
  return *engine;
}

NcclResult Engine::fail(const Status &status, const char *call) {
  warn(std::string(call) + ": " + status.message());
  return resultOf(status.code());
}

void Engine::warn(const std::string &text) {
  if (NcclLogger logger = logger_)
    logger(kNcclLogWarn, kNcclLogNet, "coll", 0, "NET/coll: %s", text.c_str());
  else
    rt::log(rt::LogLevel::Warn, text);
}

void Engine::info(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  rt::log(rt::LogLevel::Info, text);
  if (NcclLogger logger = logger_)
    logger(kNcclLogInfo, kNcclLogInit | kNcclLogNet, "coll", 0, "NET/coll: %s", text);
}

//===-- life ----------------------------------------------------------------------===//

NcclResult Engine::open(NcclLogger logger, ProfilerHook profiler, bool isConfigured) {
  if (logger)
    logger_ = logger;
  if (profiler)
    profiler_ = profiler;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!network_) {
    Result<std::shared_ptr<Network>> network = Network::create();
    if (!network.ok())
      return fail(network.status(), "init");
    network_ = network.take();
    reportedMessages_ = 0;
    for (const Device &device : network_->devices())
      info("%s device %s, %d Mb/s, %s", network_->transport().name(), device.name.c_str(),
           device.speedMbps, network_->mode().c_str());
    if (!network_->warning().empty())
      warn("init: " + network_->warning());
    if (isConfigured && network_->asksForChannels())
      info(
          "for faster large sends, export NCCL_NCHANNELS_PER_NET_PEER=8: this NCCL reads it before "
          "it loads plugins");
  }
  ++users_;
  return kNcclSuccess;
}

void Engine::close() {
  std::shared_ptr<Network> last; // destroyed without the lock: it joins threads
  std::map<std::string, Connecting> connecting;
  std::lock_guard<std::mutex> lock(mutex_);
  if (users_ == 0 || --users_ > 0)
    return;
  connecting.swap(connecting_);
  last = std::move(network_);
  reportStats(*last);
}

std::shared_ptr<Network> Engine::network(const char *call) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!network_)
    fail(Status::invalid("called before init, or after the last finalize"), call);
  return network_;
}

// Logs which paths received data took. Once per change, because comms close one by one.
void Engine::reportStats(Network &network) {
  if (!network.unpacks())
    return;
  DeviceStats stats = network.stats();
  if (reportedMessages_.exchange(stats.unpackedMessages) == stats.unpackedMessages)
    return;
  info("pages unpacked: %llu, bytes: %llu, messages: %llu (copied by the driver: %llu)",
       static_cast<unsigned long long>(stats.unpackedPages),
       static_cast<unsigned long long>(stats.unpackedBytes),
       static_cast<unsigned long long>(stats.unpackedMessages),
       static_cast<unsigned long long>(stats.stagedReceives));
}

//===-- devices -------------------------------------------------------------------===//

NcclResult Engine::devices(int *count) {
  std::shared_ptr<Network> all = network("devices");
  if (!all || !count)
    return kNcclInternalError;
  *count = static_cast<int>(all->devices().size());
  return kNcclSuccess;
}

const Device *Engine::device(int number) {
  std::shared_ptr<Network> all = network("getProperties");
  if (!all)
    return nullptr;
  if (number < 0 || static_cast<size_t>(number) >= all->devices().size()) {
    fail(Status::invalid("there is no device " + std::to_string(number)), "getProperties");
    return nullptr;
  }
  return &all->devices()[static_cast<size_t>(number)];
}

bool Engine::unpacks() {
  std::lock_guard<std::mutex> lock(mutex_);
  return network_ && network_->unpacks();
}

//===-- connections ---------------------------------------------------------------===//

NcclResult Engine::listen(int number, void *handle, void **listenComm) {
  *listenComm = nullptr;
  const Device *chosen = device(number);
  std::shared_ptr<Network> all = network("listen");
  if (!chosen || !all)
    return kNcclInvalidArgument;
  Result<std::unique_ptr<Listener>> listener = all->transport().listen(chosen->number);
  if (!listener.ok())
    return fail(listener.status(), "listen");
  static_assert(Handle::kBytes == kHandleBytes);
  std::memcpy(handle, (*listener)->handle().bytes.data(), kHandleBytes);
  static_cast<uint8_t *>(handle)[kModeAt] = modeMark(all->unpacks());
  *listenComm = new ListenComm{std::move(all), number, listener.take()};
  return kNcclSuccess;
}

// Holds only the engine's lock, for the map: connectors do not block.
Result<std::unique_ptr<Connection>> Engine::poll(Network &all, int device, const Handle &handle) {
  std::string key = std::to_string(device) + ":";
  key.append(reinterpret_cast<const char *>(handle.bytes.data()), handle.bytes.size());
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t now = nowUs();
  for (auto it = connecting_.begin(); it != connecting_.end();)
    it = now - it->second.startUs > kForgottenUs ? connecting_.erase(it) : std::next(it);
  auto it = connecting_.find(key);
  if (it == connecting_.end()) {
    Result<std::unique_ptr<Connector>> connector =
        all.transport().connect(all.devices()[static_cast<size_t>(device)].number, handle);
    if (!connector.ok())
      return connector.status();
    it = connecting_.emplace(key, Connecting{connector.take(), now}).first;
  }
  Result<std::unique_ptr<Connection>> outcome = it->second.connector->poll();
  if (!outcome.ok() || *outcome)
    connecting_.erase(it);
  return outcome;
}

NcclResult Engine::connect(int number, const void *bytes, void **sendComm) {
  *sendComm = nullptr;
  const Device *chosen = device(number);
  std::shared_ptr<Network> all = network("connect");
  if (!chosen || !all)
    return kNcclInvalidArgument;
  Handle handle;
  std::memcpy(handle.bytes.data(), bytes, handle.bytes.size());
  // Otherwise NCCL would continue with protocols and algorithms that differ by rank, and hang.
  if (handle.bytes[kModeAt] == modeMark(!all->unpacks()))
    return fail(
        {kCollMismatch, "the listener's process is in mode " +
                            std::string(all->unpacks() ? "HOST" : "UNPACK") + ", this one in " +
                            all->mode() +
                            ": COLL_NET_DEVICE_UNPACK must be the same on all ranks and, if it is "
                            "auto, COLL_NET_SCATTER and COLL_ROUTES as well"},
        "connect");
  Result<std::unique_ptr<Connection>> connection = poll(*all, number, handle);
  if (!connection.ok())
    return fail(connection.status(), "connect");
  if (*connection)
    *sendComm = new Comm(std::move(all), *chosen, connection.take(), /*receives=*/false, profiler_);
  return kNcclSuccess;
}

NcclResult Engine::accept(ListenComm &listenComm, void **recvComm,
                          NcclDeviceHandle **deviceHandle) {
  *recvComm = nullptr;
  Result<std::unique_ptr<Connection>> connection = listenComm.listener->accept();
  if (!connection.ok())
    return fail(connection.status(), "accept");
  if (!*connection)
    return kNcclSuccess;
  const Device &device = listenComm.network->devices()[static_cast<size_t>(listenComm.device)];
  auto comm = std::make_unique<Comm>(listenComm.network, device, connection.take(),
                                     /*receives=*/true, profiler_);
  if (listenComm.network->unpacks()) {
    const DeviceHandle *handle = comm->deviceHandle();
    if (!handle || !deviceHandle || !*deviceHandle)
      return fail({kCollUnsupported, "UNPACK mode: NCCL asks for no device handle, or the "
                                     "connection has none"},
                  "accept");
    fill(**deviceHandle, *handle);
  }
  *recvComm = comm.release();
  return kNcclSuccess;
}

NcclResult Engine::closeListen(ListenComm *listenComm) {
  delete listenComm;
  return kNcclSuccess;
}

NcclResult Engine::closeComm(Comm *comm) {
  if (!comm)
    return kNcclSuccess;
  reportStats(comm->network());
  delete comm;
  return kNcclSuccess;
}

} // namespace coll::net::nccl
