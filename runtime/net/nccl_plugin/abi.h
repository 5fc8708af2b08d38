// abi.h - the interface between NCCL and a net plugin, versions 8 to 12.
//
// NCCL looks up ncclNetPlugin_v12, …, _v8 and takes the first that it knows: v8 since NCCL 2.20.3,
// v9 since 2.24.3, v10 since 2.26.2, v11 since 2.28.3, v12 since 2.30.3. Layouts follow
// src/include/plugin/net/net_v*.h of NCCL and are frozen there; the assertions at the end check
// them. The names are this project's, the order of fields is NCCL's.
//
// Threads: NCCL calls init, devices, getProperties, listen, connect, accept, regMr and
// close from its service thread, isend, irecv, iflush and test of one comm from one
// progress thread. A comm, request or handle is an opaque pointer of the plugin.

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_ABI_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_ABI_H

#include <cstddef>
#include <cstdint>

namespace coll::net::nccl {

enum NcclResult : int {
  kNcclSuccess = 0,
  kNcclUnhandledCudaError = 1,
  kNcclSystemError = 2,
  kNcclInternalError = 3,
  kNcclInvalidArgument = 4,
  kNcclInvalidUsage = 5,
  kNcclRemoteError = 6,
};

// How NCCL's logger names severities and subsystems.
enum NcclLogLevel : int { kNcclLogWarn = 2, kNcclLogInfo = 3 };
inline constexpr unsigned long kNcclLogInit = 0x1, kNcclLogNet = 0x10;
using NcclLogger = void (*)(NcclLogLevel level, unsigned long subsystems, const char *file,
                            int line, const char *format, ...);

// Reports an event of the network below a proxy step (`parent`, from isend or irecv) to
// NCCL's profiler. `event` is filled on start. `id` is netType << 16 | version of `data`.
enum NcclNetEvent : int { kNetEventStart = 0, kNetEventStop, kNetEventUpdate, kNetEventBoth };
using NcclProfilerCallback = NcclResult (*)(void **event, int type, void *parent, int64_t id,
                                            void *data);

inline constexpr size_t kHandleBytes = 128;
inline constexpr int kPtrHost = 1, kPtrCuda = 2, kPtrDmabuf = 4;
inline constexpr size_t kMaxNetBytes = size_t(1) << 40;
inline constexpr int16_t kIdUndefined = -1;

enum NcclDeviceType : int { kDeviceHost = 0, kDeviceUnpack = 1 };
inline constexpr int kDeviceVersionNone = 0, kDeviceVersionUnpack = 7;

// The place where a connection describes its device handle for NCCL's kernels. NCCL allocates it.
struct NcclDeviceHandle {
  NcclDeviceType type;
  int version;
  void *handle; // GPU memory
  size_t bytes;
  int needsProxyProgress;
};

struct VirtualDevice4 {
  int count;
  int devices[4];
};
struct VirtualDevice8 {
  int count;
  int devices[8];
};

struct CommConfig {
  int trafficClass; // -1: undefined
};

struct PropertiesV8 {
  char *name;
  char *pciPath; // null: unknown
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int speedMbps;
  int port;
  float latencyUs;
  int maxComms;
  int maxRecvs;
  NcclDeviceType deviceType;
  int deviceVersion;
};

template <typename VirtualDevice>
struct PropertiesSinceV9 {
  char *name;
  char *pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int forceFlush;
  int speedMbps;
  int port;
  float latencyUs;
  int maxComms;
  int maxRecvs;
  NcclDeviceType deviceType;
  int deviceVersion;
  VirtualDevice virtualDevice;
  size_t maxP2pBytes;
  size_t maxCollBytes;
};
using PropertiesV9 = PropertiesSinceV9<VirtualDevice4>;
using PropertiesV10 = PropertiesV9;
struct PropertiesV11 {
  PropertiesV9 base;
  int maxMultiRequestSize;
};
struct PropertiesV12 {
  PropertiesSinceV9<VirtualDevice8> base;
  int maxMultiRequestSize;
  int16_t railId;
  int16_t planeId;
};

struct CommAttributes {
  int32_t maxConcurrentPeers, minConcurrentPeers, maxFlowsPerPeer, minFlowsPerPeer;
};
// Hints about the operations to come (v11).
struct NetAttributes {
  CommAttributes send, receive;
  uint32_t op, algorithm, protocol;
};

// The tables. connect and accept return success with a null comm for "not yet"; isend and irecv
// return success with a null request for "no room". A member may be null, if its comment says so,
// for a call that a plugin lacks.

struct NetV8 {
  const char *name;
  NcclResult (*init)(NcclLogger logger);
  NcclResult (*devices)(int *count);
  NcclResult (*getProperties)(int device, PropertiesV8 *properties);
  NcclResult (*listen)(int device, void *handle, void **listenComm);
  NcclResult (*connect)(int device, void *handle, void **sendComm, NcclDeviceHandle **deviceHandle);
  NcclResult (*accept)(void *listenComm, void **recvComm, NcclDeviceHandle **deviceHandle);
  NcclResult (*regMr)(void *comm, void *data, size_t bytes, int type, void **memory);
  NcclResult (*regMrDmaBuf)(void *comm, void *data, size_t bytes, int type, uint64_t offset, int fd,
                            void **memory);
  NcclResult (*deregMr)(void *comm, void *memory);
  NcclResult (*isend)(void *sendComm, void *data, int bytes, int tag, void *memory, void **request);
  NcclResult (*irecv)(void *recvComm, int count, void **data, int *bytes, int *tags,
                      void **memories, void **request);
  NcclResult (*iflush)(void *recvComm, int count, void **data, int *bytes, void **memories,
                       void **request);
  NcclResult (*test)(void *request, int *done, int *bytes);
  NcclResult (*closeSend)(void *sendComm);
  NcclResult (*closeRecv)(void *recvComm);
  NcclResult (*closeListen)(void *listenComm);
  NcclResult (*getDeviceMr)(void *comm, void *memory, void **deviceMemory); // may be null
  NcclResult (*irecvConsumed)(void *recvComm, int count, void *request);    // may be null
};

struct NetV9 {
  const char *name;
  NcclResult (*init)(NcclLogger logger);
  NcclResult (*devices)(int *count);
  NcclResult (*getProperties)(int device, PropertiesV9 *properties);
  NcclResult (*listen)(int device, void *handle, void **listenComm);
  NcclResult (*connect)(int device, void *handle, void **sendComm, NcclDeviceHandle **deviceHandle);
  NcclResult (*accept)(void *listenComm, void **recvComm, NcclDeviceHandle **deviceHandle);
  NcclResult (*regMr)(void *comm, void *data, size_t bytes, int type, void **memory);
  NcclResult (*regMrDmaBuf)(void *comm, void *data, size_t bytes, int type, uint64_t offset, int fd,
                            void **memory);
  NcclResult (*deregMr)(void *comm, void *memory);
  NcclResult (*isend)(void *sendComm, void *data, size_t bytes, int tag, void *memory,
                      void **request);
  NcclResult (*irecv)(void *recvComm, int count, void **data, size_t *bytes, int *tags,
                      void **memories, void **request);
  NcclResult (*iflush)(void *recvComm, int count, void **data, int *bytes, void **memories,
                       void **request);
  NcclResult (*test)(void *request, int *done, int *bytes);
  NcclResult (*closeSend)(void *sendComm);
  NcclResult (*closeRecv)(void *recvComm);
  NcclResult (*closeListen)(void *listenComm);
  NcclResult (*getDeviceMr)(void *comm, void *memory, void **deviceMemory);
  NcclResult (*irecvConsumed)(void *recvComm, int count, void *request);
  NcclResult (*makeVDevice)(int *device, VirtualDevice4 *properties); // may be null
};

struct NetV10 {
  const char *name;
  NcclResult (*init)(NcclLogger logger, NcclProfilerCallback profiler);
  NcclResult (*devices)(int *count);
  NcclResult (*getProperties)(int device, PropertiesV10 *properties);
  NcclResult (*listen)(int device, void *handle, void **listenComm);
  NcclResult (*connect)(int device, CommConfig *config, void *handle, void **sendComm,
                        NcclDeviceHandle **deviceHandle);
  NcclResult (*accept)(void *listenComm, void **recvComm, NcclDeviceHandle **deviceHandle);
  NcclResult (*regMr)(void *comm, void *data, size_t bytes, int type, void **memory);
  NcclResult (*regMrDmaBuf)(void *comm, void *data, size_t bytes, int type, uint64_t offset, int fd,
                            void **memory);
  NcclResult (*deregMr)(void *comm, void *memory);
  NcclResult (*isend)(void *sendComm, void *data, size_t bytes, int tag, void *memory, void *parent,
                      void **request);
  NcclResult (*irecv)(void *recvComm, int count, void **data, size_t *bytes, int *tags,
                      void **memories, void **parents, void **request);
  NcclResult (*iflush)(void *recvComm, int count, void **data, int *bytes, void **memories,
                       void **request);
  NcclResult (*test)(void *request, int *done, int *bytes);
  NcclResult (*closeSend)(void *sendComm);
  NcclResult (*closeRecv)(void *recvComm);
  NcclResult (*closeListen)(void *listenComm);
  NcclResult (*getDeviceMr)(void *comm, void *memory, void **deviceMemory);
  NcclResult (*irecvConsumed)(void *recvComm, int count, void *request);
  NcclResult (*makeVDevice)(int *device, VirtualDevice4 *properties);
};

// v11 and v12: init is called for each communicator, and each `context` is finalized.
template <typename Properties, typename VirtualDevice>
struct NetSinceV11 {
  const char *name;
  NcclResult (*init)(void **context, uint64_t commId, CommConfig *config, NcclLogger logger,
                     NcclProfilerCallback profiler);
  NcclResult (*devices)(int *count);
  NcclResult (*getProperties)(int device, Properties *properties);
  NcclResult (*listen)(void *context, int device, void *handle, void **listenComm);
  NcclResult (*connect)(void *context, int device, void *handle, void **sendComm,
                        NcclDeviceHandle **deviceHandle);
  NcclResult (*accept)(void *listenComm, void **recvComm, NcclDeviceHandle **deviceHandle);
  NcclResult (*regMr)(void *comm, void *data, size_t bytes, int type, void **memory);
  NcclResult (*regMrDmaBuf)(void *comm, void *data, size_t bytes, int type, uint64_t offset, int fd,
                            void **memory);
  NcclResult (*deregMr)(void *comm, void *memory);
  NcclResult (*isend)(void *sendComm, void *data, size_t bytes, int tag, void *memory, void *parent,
                      void **request);
  NcclResult (*irecv)(void *recvComm, int count, void **data, size_t *bytes, int *tags,
                      void **memories, void **parents, void **request);
  NcclResult (*iflush)(void *recvComm, int count, void **data, int *bytes, void **memories,
                       void **request);
  NcclResult (*test)(void *request, int *done, int *bytes);
  NcclResult (*closeSend)(void *sendComm);
  NcclResult (*closeRecv)(void *recvComm);
  NcclResult (*closeListen)(void *listenComm);
  NcclResult (*getDeviceMr)(void *comm, void *memory, void **deviceMemory);
  NcclResult (*irecvConsumed)(void *recvComm, int count, void *request);
  NcclResult (*makeVDevice)(int *device, VirtualDevice *properties);
  NcclResult (*finalize)(void *context);
  NcclResult (*setNetAttr)(void *context, NetAttributes *attributes); // may be null
};
using NetV11 = NetSinceV11<PropertiesV11, VirtualDevice4>;
using NetV12 = NetSinceV11<PropertiesV12, VirtualDevice8>;

// Offsets and sizes on x86-64 and aarch64 Linux, computed from NCCL's own headers.
static_assert(sizeof(NcclDeviceHandle) == 32 && offsetof(NcclDeviceHandle, handle) == 8 &&
              offsetof(NcclDeviceHandle, needsProxyProgress) == 24);
static_assert(sizeof(PropertiesV8) == 64 && offsetof(PropertiesV8, ptrSupport) == 24 &&
              offsetof(PropertiesV8, latencyUs) == 40 &&
              offsetof(PropertiesV8, deviceVersion) == 56);
static_assert(sizeof(PropertiesV9) == 104 && offsetof(PropertiesV9, forceFlush) == 32 &&
              offsetof(PropertiesV9, virtualDevice) == 64 &&
              offsetof(PropertiesV9, maxP2pBytes) == 88);
static_assert(sizeof(PropertiesV11) == 112 && offsetof(PropertiesV11, maxMultiRequestSize) == 104);
static_assert(sizeof(PropertiesV12) == 128 && offsetof(PropertiesV12, maxMultiRequestSize) == 120 &&
              offsetof(PropertiesV12, railId) == 124 && offsetof(PropertiesV12, planeId) == 126);
static_assert(sizeof(VirtualDevice4) == 20 && sizeof(VirtualDevice8) == 36);
static_assert(sizeof(NetAttributes) == 44);
static_assert(sizeof(NetV8) == 19 * sizeof(void *) && sizeof(NetV9) == 20 * sizeof(void *) &&
              sizeof(NetV10) == 20 * sizeof(void *) && sizeof(NetV11) == 22 * sizeof(void *) &&
              sizeof(NetV12) == 22 * sizeof(void *));

} // namespace coll::net::nccl

#endif // COLL_RUNTIME_NET_NCCL_PLUGIN_ABI_H
