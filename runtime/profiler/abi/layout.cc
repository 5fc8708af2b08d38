// layout.cc - asserts that the layouts of the structs are NCCL's (LP64).

#include "runtime/profiler/abi/net_events.h"
#include "runtime/profiler/abi/tables.h"

namespace coll::profiler::abi {
namespace {

#define AT(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field)
#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)

AT(CollV2, seqNumber, 16);
AT(CollV2, func, 24);
AT(CollV2, count, 48);
AT(CollV2, root, 56);
AT(CollV2, datatype, 64);
AT(CollV2, trafficBytes, 72);
AT(CollV2, nMaxChannels, 80);
AT(CollV2, nWarps, 81);
AT(CollV2, algo, 88);
SIZE(CollV2, 104);
AT(CollV3, nMaxChannels, 72);
AT(CollV3, algo, 80);
SIZE(CollV3, 96);
AT(CollV4, func, 8);
AT(CollV4, count, 32);
AT(CollV4, root, 40);
AT(CollV4, datatype, 48);
AT(CollV4, nChannels, 56);
AT(CollV4, nWarps, 57);
AT(CollV4, algo, 64);
AT(CollV4, proto, 72);
SIZE(CollV4, 80);
AT(CollV5, parentGroup, 80);
SIZE(CollV5, 88);
AT(CollV7, parentGroup, 80);
AT(CollV7, kernelVariant, 88);
AT(CollV7, isSymColl, 96);
AT(CollV7, userTag, 104);
SIZE(CollV7, 112);

AT(P2pV2, func, 16);
AT(P2pV2, datatype, 32);
AT(P2pV2, count, 40);
AT(P2pV2, peer, 48);
SIZE(P2pV2, 56);
AT(P2pV4, buff, 8);
AT(P2pV4, count, 24);
AT(P2pV4, peer, 32);
AT(P2pV4, nChannels, 36);
SIZE(P2pV4, 40);
AT(P2pV5, parentGroup, 40);
SIZE(P2pV5, 48);
AT(P2pV7, parentGroup, 40);
AT(P2pV7, userTag, 48);
SIZE(P2pV7, 56);

AT(ProxyOp, channelId, 4);
AT(ProxyOp, peer, 8);
AT(ProxyOp, nSteps, 12);
AT(ProxyOp, chunkSize, 16);
AT(ProxyOp, isSend, 20);
SIZE(ProxyOp, 24);
SIZE(ProxyStep, 4);
SIZE(KernelChV3, 1);
AT(KernelChV4, pTimer, 8);
SIZE(KernelChV4, 16);
AT(NetPlugin, data, 8);

AT(GroupApiV5, groupDepth, 4);
AT(CollApiV5, datatype, 16);
AT(CollApiV5, root, 24);
AT(CollApiV5, stream, 32);
AT(CollApiV5, graphCaptured, 40);
SIZE(CollApiV5, 48);
AT(CollApiV7, graphCaptured, 40);
AT(CollApiV7, userTag, 48);
SIZE(CollApiV7, 56);
AT(P2pApiV5, stream, 24);
AT(P2pApiV5, graphCaptured, 32);
SIZE(P2pApiV5, 40);
AT(P2pApiV7, graphCaptured, 32);
AT(P2pApiV7, userTag, 40);
SIZE(P2pApiV7, 48);
SIZE(KernelLaunchV5, 8);

AT(CeCollV6, datatype, 48);
AT(CeCollV6, syncStrategy, 56);
AT(CeCollV6, intraBatchSync, 64);
AT(CeCollV6, batchSize, 68);
AT(CeCollV6, numBatches, 72);
AT(CeCollV6, ceSeqNum, 76);
AT(CeCollV6, stream, 80);
SIZE(CeCollV6, 88);
AT(CeCollV7, stream, 80);
AT(CeCollV7, userTag, 88);
AT(CeSyncV6, nRanks, 4);
AT(CeBatchV6, totalBytes, 8);
AT(CeBatchV6, useIntraSync, 16);
AT(KernelPhaseV7, phaseId, 1);
AT(KernelPhaseV7, phaseName, 8);
AT(KernelPhaseV7, pTimer, 16);

#define DESCRIPTOR(type, bytes)                                                                    \
  AT(type, parent, 8);                                                                             \
  AT(type, rank, 16);                                                                              \
  AT(type, coll, 24);                                                                              \
  SIZE(type, bytes)
DESCRIPTOR(EventDescriptorV2, 128);
DESCRIPTOR(EventDescriptorV3, 120);
DESCRIPTOR(EventDescriptorV4, 104);
DESCRIPTOR(EventDescriptorV5, 112);
DESCRIPTOR(EventDescriptorV6, 112);
DESCRIPTOR(EventDescriptorV7, 136);

AT(NetIbEventV1, queuePair.device, 8);
AT(NetIbEventV1, queuePair.workRequest, 16);
AT(NetIbEventV1, queuePair.number, 28);
AT(NetIbEventV1, queuePair.length, 32);
AT(NetSocketEventV1, socket.fd, 8);
AT(NetSocketEventV1, socket.op, 12);
AT(NetSocketEventV1, socket.length, 16);
SIZE(NetCollEventV1, 80);
AT(NetCollEventV1, stream, 48);
AT(NetCollEventV1, bytes, 56);

AT(ProxyOpStateV2, steps, 8);
SIZE(StateArgsV2, 16);
SIZE(StateArgsV4, 8);
SIZE(ProfilerV2, 48);
AT(ProfilerV4, startEvent, 16);
SIZE(ProfilerV7, 48);

static_assert(allEvents(2) == 63 && allEvents(3) == 255 && allEvents(4) == 255);
static_assert(allEvents(5) == 4095 && allEvents(6) == 32767 && allEvents(7) == 65535);

} // namespace
} // namespace coll::profiler::abi
