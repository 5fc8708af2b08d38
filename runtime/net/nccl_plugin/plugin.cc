// The tables that NCCL looks up, one per version of its interface, and the calls in
// them: thin translations to the engine.

#include "runtime/net/nccl_plugin/engine.h"

#include <climits>

namespace coll::net::nccl {

namespace {

constexpr char kName[] = "coll";
constexpr int kMaxComms = 65536;
// A scattered receive is one message of the transport, so NCCL's grouped receives are not offered.
constexpr int kMaxRecvs = 1;

Comm &commOf(void *comm) { return *static_cast<Comm *>(comm); }

//===-- init and properties ---------------------------------------------------------===//

NcclResult initV8(NcclLogger logger) {
  return Engine::get().open(logger, nullptr, /*isConfigured=*/false);
}

NcclResult initV10(NcclLogger logger, NcclProfilerCallback profiler) {
  return Engine::get().open(logger, profiler, /*isConfigured=*/false);
}

// NCCL calls it for each communicator. If it fails, NCCL finalizes a null context.
NcclResult initV11(void **context, uint64_t, CommConfig *, NcclLogger logger,
                   NcclProfilerCallback profiler) {
  *context = nullptr;
  NcclResult result = Engine::get().open(logger, profiler, /*isConfigured=*/true);
  if (result == kNcclSuccess)
    *context = &Engine::get();
  return result;
}

NcclResult finalize(void *context) {
  if (context)
    Engine::get().close();
  return kNcclSuccess;
}

NcclResult devices(int *count) { return Engine::get().devices(count); }

// The fields that all versions have.
template <typename Properties>
NcclResult fillProperties(int number, Properties &to) {
  const Device *device = Engine::get().device(number);
  if (!device)
    return kNcclInvalidArgument;
  bool unpacks = Engine::get().unpacks();
  to = {};
  to.name = const_cast<char *>(device->name.c_str());
  to.pciPath = device->pciPath.empty() ? nullptr : const_cast<char *>(device->pciPath.c_str());
  to.guid = device->guid;
  to.ptrSupport = device->pointers;
  to.regIsGlobal = device->registrationIsGlobal ? 1 : 0;
  to.speedMbps = device->speedMbps;
  to.port = device->port;
  to.latencyUs = device->latencyUs;
  to.maxComms = kMaxComms;
  to.maxRecvs = kMaxRecvs;
  to.deviceType = unpacks ? kDeviceUnpack : kDeviceHost;
  to.deviceVersion = unpacks ? kDeviceVersionUnpack : kDeviceVersionNone;
  return kNcclSuccess;
}

NcclResult getPropertiesV8(int number, PropertiesV8 *properties) {
  return fillProperties(number, *properties);
}

template <typename Properties>
NcclResult fillSinceV9(int number, Properties &to) {
  NcclResult result = fillProperties(number, to);
  if (result != kNcclSuccess)
    return result;
  const Device *device = Engine::get().device(number);
  to.forceFlush = device->needsFlush ? 1 : 0;
  to.virtualDevice.count = 1;
  to.virtualDevice.devices[0] = number;
  to.maxP2pBytes = to.maxCollBytes = std::min<uint64_t>(device->maxMessageBytes, kMaxNetBytes);
  return kNcclSuccess;
}

NcclResult getPropertiesV9(int number, PropertiesV9 *properties) {
  return fillSinceV9(number, *properties);
}

NcclResult getPropertiesV11(int number, PropertiesV11 *properties) {
  properties->maxMultiRequestSize = 1;
  return fillSinceV9(number, properties->base);
}

NcclResult getPropertiesV12(int number, PropertiesV12 *properties) {
  properties->maxMultiRequestSize = 1;
  properties->railId = properties->planeId = kIdUndefined;
  return fillSinceV9(number, properties->base);
}

//===-- connections -----------------------------------------------------------------===//

NcclResult listenV8(int device, void *handle, void **listenComm) {
  return Engine::get().listen(device, handle, listenComm);
}

NcclResult listenV11(void *, int device, void *handle, void **listenComm) {
  return Engine::get().listen(device, handle, listenComm);
}

NcclResult connectV8(int device, void *handle, void **sendComm, NcclDeviceHandle **) {
  return Engine::get().connect(device, handle, sendComm);
}

NcclResult connectV10(int device, CommConfig *, void *handle, void **sendComm,
                      NcclDeviceHandle **) {
  return Engine::get().connect(device, handle, sendComm);
}

NcclResult connectV11(void *, int device, void *handle, void **sendComm, NcclDeviceHandle **) {
  return Engine::get().connect(device, handle, sendComm);
}

NcclResult acceptComm(void *listenComm, void **recvComm, NcclDeviceHandle **deviceHandle) {
  return Engine::get().accept(*static_cast<ListenComm *>(listenComm), recvComm, deviceHandle);
}

NcclResult closeComm(void *comm) { return Engine::get().closeComm(static_cast<Comm *>(comm)); }

NcclResult closeListen(void *listenComm) {
  return Engine::get().closeListen(static_cast<ListenComm *>(listenComm));
}

//===-- memory ----------------------------------------------------------------------===//

NcclResult registerMemory(void *comm, const MemoryRegion &region, int type, void **memory) {
  *memory = nullptr;
  Result<MemoryHandle *> handle = commOf(comm).registerMemory(region, type);
  if (!handle.ok())
    return Engine::get().fail(handle.status(), "regMr");
  *memory = *handle;
  return kNcclSuccess;
}

NcclResult regMr(void *comm, void *data, size_t bytes, int type, void **memory) {
  MemoryRegion region;
  region.data = data;
  region.bytes = bytes;
  region.kind = type == kPtrHost ? MemoryKind::Host : MemoryKind::Cuda;
  return registerMemory(comm, region, type, memory);
}

NcclResult regMrDmaBuf(void *comm, void *data, size_t bytes, int, uint64_t offset, int fd,
                       void **memory) {
  MemoryRegion region;
  region.data = data;
  region.bytes = bytes;
  region.kind = MemoryKind::Dmabuf;
  region.dmabufFd = fd;
  region.dmabufOffset = offset;
  return registerMemory(comm, region, kPtrDmabuf, memory);
}

NcclResult deregMr(void *comm, void *memory) {
  commOf(comm).deregister(static_cast<MemoryHandle *>(memory));
  return kNcclSuccess;
}

NcclResult getDeviceMr(void *, void *, void **deviceMemory) {
  *deviceMemory = nullptr; // the unpack kernel needs no keys
  return kNcclSuccess;
}

//===-- messages --------------------------------------------------------------------===//

NcclResult posted(const Result<Operation *> &operation, const char *call, void **request) {
  *request = nullptr;
  if (!operation.ok())
    return Engine::get().fail(operation.status(), call);
  *request = *operation;
  return kNcclSuccess;
}

NcclResult isendV10(void *comm, void *data, size_t bytes, int tag, void *memory, void *parent,
                    void **request) {
  return posted(commOf(comm).isend(data, bytes, tag, static_cast<MemoryHandle *>(memory), parent),
                "isend", request);
}

NcclResult isendV9(void *comm, void *data, size_t bytes, int tag, void *memory, void **request) {
  return isendV10(comm, data, bytes, tag, memory, nullptr, request);
}

NcclResult isendV8(void *comm, void *data, int bytes, int tag, void *memory, void **request) {
  return isendV10(comm, data, static_cast<size_t>(bytes), tag, memory, nullptr, request);
}

NcclResult irecvV10(void *comm, int count, void **data, size_t *bytes, int *tags, void **memories,
                    void **parents, void **request) {
  if (count != 1)
    return Engine::get().fail(Status::invalid("grouped receives are not offered"), "irecv");
  void *memory = memories ? memories[0] : nullptr;
  return posted(commOf(comm).irecv(data[0], bytes[0], tags[0], static_cast<MemoryHandle *>(memory),
                                   parents ? parents[0] : nullptr),
                "irecv", request);
}

NcclResult irecvV9(void *comm, int count, void **data, size_t *bytes, int *tags, void **memories,
                   void **request) {
  return irecvV10(comm, count, data, bytes, tags, memories, nullptr, request);
}

NcclResult irecvV8(void *comm, int count, void **data, int *bytes, int *tags, void **memories,
                   void **request) {
  size_t size = static_cast<size_t>(bytes[0]);
  return irecvV10(comm, count, data, &size, tags, memories, nullptr, request);
}

NcclResult iflush(void *comm, int count, void **data, int *bytes, void **memories, void **request) {
  if (count != 1)
    return Engine::get().fail(Status::invalid("grouped receives are not offered"), "iflush");
  void *memory = memories ? memories[0] : nullptr;
  return posted(commOf(comm).iflush(data[0], static_cast<uint64_t>(bytes[0]),
                                    static_cast<MemoryHandle *>(memory)),
                "iflush", request);
}

NcclResult test(void *request, int *done, int *bytes) {
  *done = 0;
  auto &operation = *static_cast<Operation *>(request);
  Result<Completion> outcome = operation.comm->test(operation);
  if (!outcome.ok())
    return Engine::get().fail(outcome.status(), "test");
  if (!outcome->done)
    return kNcclSuccess;
  *done = 1;
  if (bytes)
    *bytes = static_cast<int>(std::min<uint64_t>(outcome->bytes, INT_MAX));
  return kNcclSuccess;
}

NcclResult irecvConsumed(void *comm, int, void *) {
  commOf(comm).consumed();
  return kNcclSuccess;
}

//===-- tables ----------------------------------------------------------------------===//

// Exceptions, for lack of memory or threads, must not reach NCCL's frames.
template <auto call>
struct Guard;
template <typename... Args, NcclResult (*call)(Args...)>
struct Guard<call> {
  static NcclResult run(Args... args) noexcept {
    try {
      return call(args...);
    } catch (...) {
      return kNcclSystemError;
    }
  }
};
template <auto call>
constexpr auto guarded = Guard<call>::run;

// `last`: makeVDevice, if the table has it.
template <typename Table, typename Init, typename GetProperties, typename Connect, typename Send,
          typename Recv, typename... Last>
constexpr Table tableBeforeV11(Init init, GetProperties getProperties, Connect connect, Send isend,
                               Recv irecv, Last... last) {
  return {kName,
          init,
          guarded<devices>,
          getProperties,
          guarded<listenV8>,
          connect,
          guarded<acceptComm>,
          guarded<regMr>,
          guarded<regMrDmaBuf>,
          guarded<deregMr>,
          isend,
          irecv,
          guarded<iflush>,
          guarded<test>,
          guarded<closeComm>,
          guarded<closeComm>,
          guarded<closeListen>,
          guarded<getDeviceMr>,
          guarded<irecvConsumed>,
          last...};
}

template <typename Properties, typename VirtualDevice>
constexpr NetSinceV11<Properties, VirtualDevice>
tableSinceV11(NcclResult (*getProperties)(int, Properties *)) {
  return {kName,
          guarded<initV11>,
          guarded<devices>,
          getProperties,
          guarded<listenV11>,
          guarded<connectV11>,
          guarded<acceptComm>,
          guarded<regMr>,
          guarded<regMrDmaBuf>,
          guarded<deregMr>,
          guarded<isendV10>,
          guarded<irecvV10>,
          guarded<iflush>,
          guarded<test>,
          guarded<closeComm>,
          guarded<closeComm>,
          guarded<closeListen>,
          guarded<getDeviceMr>,
          guarded<irecvConsumed>,
          nullptr,
          guarded<finalize>,
          nullptr};
}

} // namespace

} // namespace coll::net::nccl

// Virtual NICs (makeVDevice) and hints (setNetAttr) are not offered: null.
extern "C" {
#define COLL_NCCL_EXPORT extern const __attribute__((visibility("default")))

using namespace coll::net::nccl;

COLL_NCCL_EXPORT NetV8 ncclNetPlugin_v8;
COLL_NCCL_EXPORT NetV9 ncclNetPlugin_v9;
COLL_NCCL_EXPORT NetV10 ncclNetPlugin_v10;
COLL_NCCL_EXPORT NetV11 ncclNetPlugin_v11;
COLL_NCCL_EXPORT NetV12 ncclNetPlugin_v12;

const NetV8 ncclNetPlugin_v8 =
    tableBeforeV11<NetV8>(guarded<initV8>, guarded<getPropertiesV8>, guarded<connectV8>,
                          guarded<isendV8>, guarded<irecvV8>);
const NetV9 ncclNetPlugin_v9 =
    tableBeforeV11<NetV9>(guarded<initV8>, guarded<getPropertiesV9>, guarded<connectV8>,
                          guarded<isendV9>, guarded<irecvV9>, nullptr);
const NetV10 ncclNetPlugin_v10 =
    tableBeforeV11<NetV10>(guarded<initV10>, guarded<getPropertiesV9>, guarded<connectV10>,
                           guarded<isendV10>, guarded<irecvV10>, nullptr);
const NetV11 ncclNetPlugin_v11 =
    tableSinceV11<PropertiesV11, VirtualDevice4>(guarded<getPropertiesV11>);
const NetV12 ncclNetPlugin_v12 =
    tableSinceV11<PropertiesV12, VirtualDevice8>(guarded<getPropertiesV12>);
}
