// tables.h - descriptors, state arguments and tables of functions of NCCL's profiler ABI, versions
// 2 to 7 (events.h says which NCCL has which).
//
// All versions have in common: init returns a context per communicator and the mask of events that
// the plugin wants; startEvent returns a handle, null if the plugin drops the event; a child's
// descriptor contains its parent's handle. stopEvent of a collective means that it has been
// enqueued: its children may start and stop later. NCCL continues whatever the functions return,
// except that a failing init turns the plugin off.

#ifndef COLL_RUNTIME_PROFILER_ABI_TABLES_H
#define COLL_RUNTIME_PROFILER_ABI_TABLES_H

#include "runtime/profiler/abi/events.h"
#include "runtime/profiler/abi/parts.h"

namespace coll::profiler::abi {

struct EventDescriptorV2 {
  uint8_t type;
  void *parent;
  int rank;
  union {
    CollV2 coll;
    P2pV2 p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
  };
};

struct EventDescriptorV3 {
  uint8_t type;
  void *parent;
  int rank;
  union {
    CollV3 coll;
    P2pV2 p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
    KernelChV3 kernelCh;
    NetPlugin netPlugin;
  };
};

struct EventDescriptorV4 {
  uint8_t type;
  void *parent;
  int rank;
  union {
    CollV4 coll;
    P2pV4 p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
    KernelChV4 kernelCh;
    NetPlugin netPlugin;
  };
};

struct EventDescriptorV5 {
  uint64_t type;
  void *parent;
  int rank;
  union {
    GroupApiV5 groupApi;
    CollApiV5 collApi;
    P2pApiV5 p2pApi;
    KernelLaunchV5 kernelLaunch;
    CollV5 coll;
    P2pV5 p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
    KernelChV4 kernelCh;
    NetPlugin netPlugin;
  };
};

struct EventDescriptorV6 {
  uint64_t type;
  void *parent;
  int rank;
  union {
    GroupApiV5 groupApi;
    CollApiV5 collApi;
    P2pApiV5 p2pApi;
    KernelLaunchV5 kernelLaunch;
    CollV5 coll;
    P2pV5 p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
    KernelChV4 kernelCh;
    NetPlugin netPlugin;
    CeCollV6 ceColl;
    CeSyncV6 ceSync;
    CeBatchV6 ceBatch;
  };
};

// Forks of NCCL export other structs under the name v7 (ROCm's equal v6), which cannot be detected
// by their size: read the fields that v7 added only if the library's version is 2.31 or later.
struct EventDescriptorV7 {
  uint64_t type;
  void *parent;
  int rank;
  union {
    GroupApiV5 groupApi;
    CollApiV7 collApi;
    P2pApiV7 p2pApi;
    KernelLaunchV5 kernelLaunch;
    CollV7 coll;
    P2pV7 p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
    KernelChV4 kernelCh;
    NetPlugin netPlugin;
    CeCollV7 ceColl;
    CeSyncV6 ceSync;
    CeBatchV6 ceBatch;
    KernelPhaseV7 kernelPhase;
  };
};

union StateArgsV2 {
  ProxyOpStateV2 proxyOp;
  ProxyCtrlState proxyCtrl;
};
using StateArgsV3 = StateArgsV2;
// kernelCh also holds the stamp of kKernelPhaseStop.
union StateArgsV4 {
  ProxyStepStateV4 proxyStep;
  ProxyCtrlState proxyCtrl;
  NetPluginStateV4 netPlugin;
  KernelChStateV4 kernelCh;
};
using StateArgsV5 = StateArgsV4;
using StateArgsV6 = StateArgsV4;
using StateArgsV7 = StateArgsV4;

// `args` of recordEventState may be null where the state has none.
template <typename Descriptor, typename StateArgs>
struct ProfilerUntilV3 {
  const char *name;
  NcclResult (*init)(void **context, int *activationMask);
  NcclResult (*startEvent)(void *context, void **handle, Descriptor *descriptor);
  NcclResult (*stopEvent)(void *handle);
  NcclResult (*recordEventState)(void *handle, EventState state, StateArgs *args);
  NcclResult (*finalize)(void *context);
};
using ProfilerV2 = ProfilerUntilV3<EventDescriptorV2, StateArgsV2>;
using ProfilerV3 = ProfilerUntilV3<EventDescriptorV3, StateArgsV3>;

struct ProfilerV4 {
  const char *name;
  // commName may be null; commHash is the same on all ranks.
  NcclResult (*init)(void **context, int *activationMask, const char *commName, uint64_t commHash,
                     int nNodes, int nRanks, int rank, NcclLogger logger);
  NcclResult (*startEvent)(void *context, void **handle, EventDescriptorV4 *descriptor);
  NcclResult (*stopEvent)(void *handle);
  NcclResult (*recordEventState)(void *handle, EventState state, StateArgsV4 *args);
  NcclResult (*finalize)(void *context);
};

template <typename Descriptor>
struct ProfilerSinceV5 {
  const char *name;
  NcclResult (*init)(void **context, uint64_t commId, int *activationMask, const char *commName,
                     int nNodes, int nRanks, int rank, NcclLogger logger);
  NcclResult (*startEvent)(void *context, void **handle, Descriptor *descriptor);
  NcclResult (*stopEvent)(void *handle);
  NcclResult (*recordEventState)(void *handle, EventState state, StateArgsV5 *args);
  NcclResult (*finalize)(void *context);
};
using ProfilerV5 = ProfilerSinceV5<EventDescriptorV5>;
using ProfilerV6 = ProfilerSinceV5<EventDescriptorV6>;
using ProfilerV7 = ProfilerSinceV5<EventDescriptorV7>;

// Optional symbol of a plugin. A host that is not NCCL calls it before the first init with the
// version of NCCL whose layouts it follows (23102 for 2.31.2). Without such a call, a plugin asks
// the library that holds the logger.
inline constexpr char kSetNcclVersionSymbol[] = "collProfilerSetNcclVersion";
using SetNcclVersion = void(int version);

} // namespace coll::profiler::abi

#endif // COLL_RUNTIME_PROFILER_ABI_TABLES_H
