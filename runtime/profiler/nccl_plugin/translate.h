// translate.h - converts descriptors and state arguments of each version of the ABI to records.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TRANSLATE_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TRANSLATE_H

#include "runtime/profiler/abi/net_events.h"
#include "runtime/profiler/abi/tables.h"
#include "runtime/profiler/nccl_plugin/names.h"
#include "runtime/profiler/nccl_plugin/record.h"

namespace coll::profiler::plugin {

// The number of the event's bit; 255 if the type is not an event. A type of which only the low byte
// was set (older NCCL wrote one byte of a kernel channel's type) is corrected, and flagged.
template <int version>
uint8_t typeOf(uint64_t type, uint16_t &flags) {
  auto isEvent = [](uint64_t bit) {
    return bit != 0 && (bit & (bit - 1)) == 0 && (bit & abi::allEvents(version)) != 0;
  };
  if (isEvent(type))
    return bitNumber(type);
  if (!isEvent(type & 0xff))
    return 255;
  flags |= kTypeCorrected;
  return bitNumber(type & 0xff);
}

// `hasV7Fields`: the fields that v7 added exist.
struct Reading {
  Names &names;
  bool hasV7Fields = false;
};

template <typename Coll>
void readColl(const Coll &coll, Reading reading, Record &record) {
  record.seq = coll.seqNumber;
  record.func = reading.names.number(coll.func);
  record.datatype = reading.names.number(coll.datatype);
  record.algorithm = reading.names.number(coll.algo);
  record.protocol = reading.names.number(coll.proto);
  record.count = coll.count;
  record.peer = coll.root;
}

template <typename Call>
void readCall(const Call &call, Reading reading, Record &record) {
  record.func = reading.names.number(call.func);
  record.datatype = reading.names.number(call.datatype);
  record.count = call.count;
}

inline void readNet(const abi::NetPlugin &net, Reading reading, Record &record) {
  record.seq = static_cast<uint64_t>(net.id);
  if (!net.data)
    return;
  if (net.id == abi::kNetSocketV1) {
    const auto &event = *static_cast<const abi::NetSocketEventV1 *>(net.data);
    record.func = reading.names.number("socket");
    record.number = event.socket.op;
    record.count = event.socket.length;
  } else if (net.id == abi::kNetIbV1) {
    const auto &event = *static_cast<const abi::NetIbEventV1 *>(net.data);
    record.func = reading.names.number("ib");
    record.number = event.queuePair.opcode;
    record.peer = event.queuePair.number;
    record.count = event.queuePair.length;
  } else if (net.id == abi::kNetCollV1) {
    const auto &event = *static_cast<const abi::NetCollEventV1 *>(net.data);
    if (event.bytesOfStruct < sizeof(event))
      return;
    record.func = reading.names.number(event.transport);
    record.variant = reading.names.number(event.device);
    record.userTag = event.message;
    record.peer = static_cast<int32_t>(event.connection);
    record.number = static_cast<int32_t>(event.stream);
    record.count = event.bytes;
    record.isSend = event.direction == 0;
    record.stamp = static_cast<uint64_t>(event.startNs);
  }
}

template <int version, typename Descriptor>
void readSinceV5(const Descriptor &from, Reading reading, Record &record) {
  switch (uint64_t(1) << record.type) {
  case abi::kGroupApi:
    record.number = from.groupApi.groupDepth;
    record.isSend = from.groupApi.graphCaptured;
    break;
  case abi::kCollApi:
    readCall(from.collApi, reading, record);
    record.peer = from.collApi.root;
    record.isSend = from.collApi.graphCaptured;
    if constexpr (version >= 7)
      record.userTag = reading.hasV7Fields ? from.collApi.userTag : 0;
    break;
  case abi::kP2pApi:
    readCall(from.p2pApi, reading, record);
    record.isSend = from.p2pApi.graphCaptured;
    if constexpr (version >= 7)
      record.userTag = reading.hasV7Fields ? from.p2pApi.userTag : 0;
    break;
  default:
    if constexpr (version >= 6) {
      if (uint64_t(1) << record.type == abi::kCeColl) {
        readCall(from.ceColl, reading, record);
        record.seq = from.ceColl.seqNumber;
        record.peer = from.ceColl.root;
        record.variant = reading.names.number(from.ceColl.syncStrategy);
        if constexpr (version >= 7)
          record.userTag = reading.hasV7Fields ? from.ceColl.userTag : 0;
      } else if (uint64_t(1) << record.type == abi::kCeSync) {
        record.number = from.ceSync.nRanks;
      } else if (uint64_t(1) << record.type == abi::kCeBatch) {
        record.number = from.ceBatch.numOps;
        record.count = from.ceBatch.totalBytes;
      }
    }
    if constexpr (version >= 7)
      if (uint64_t(1) << record.type == abi::kKernelPhase) {
        record.channel = from.kernelPhase.channelId;
        record.number = from.kernelPhase.phaseId;
        record.func = reading.names.number(from.kernelPhase.phaseName);
        record.stamp = from.kernelPhase.pTimer;
      }
    break;
  }
}

// Fills in the fields of the event's type; `record.type` is already set. Returns the parent.
template <int version, typename Descriptor>
uint64_t read(const Descriptor &from, Reading reading, Record &record) {
  const void *parent = from.parent;
  switch (uint64_t(1) << record.type) {
  case abi::kColl:
    readColl(from.coll, reading, record);
    if constexpr (version <= 3)
      record.channel = from.coll.nMaxChannels;
    else
      record.channel = from.coll.nChannels;
    if constexpr (version >= 5)
      parent = parent ? parent : from.coll.parentGroup;
    if constexpr (version >= 7)
      if (reading.hasV7Fields) {
        record.variant = reading.names.number(from.coll.kernelVariant);
        record.userTag = from.coll.userTag;
      }
    break;
  case abi::kP2p:
    readCall(from.p2p, reading, record);
    record.peer = from.p2p.peer;
    if constexpr (version >= 4)
      record.channel = from.p2p.nChannels;
    if constexpr (version >= 5)
      parent = parent ? parent : from.p2p.parentGroup;
    if constexpr (version >= 7)
      record.userTag = reading.hasV7Fields ? from.p2p.userTag : 0;
    break;
  case abi::kProxyOp:
    record.channel = from.proxyOp.channelId;
    record.peer = from.proxyOp.peer;
    record.number = from.proxyOp.nSteps;
    record.chunkBytes = from.proxyOp.chunkSize;
    record.isSend = from.proxyOp.isSend != 0;
    record.stamp = static_cast<uint64_t>(from.proxyOp.pid);
    break;
  case abi::kProxyStep:
    record.number = from.proxyStep.step;
    break;
  default:
    if constexpr (version >= 3) {
      if (uint64_t(1) << record.type == abi::kKernelCh) {
        record.channel = from.kernelCh.channelId;
        if constexpr (version >= 4)
          record.stamp = from.kernelCh.pTimer;
      } else if (uint64_t(1) << record.type == abi::kNetPlugin) {
        readNet(from.netPlugin, reading, record);
      } else if constexpr (version >= 5) {
        readSinceV5<version>(from, reading, record);
      }
    }
    break;
  }
  return reinterpret_cast<uint64_t>(parent);
}

// `args` may be null if the state has none.
template <int version, typename StateArgs>
void readState(abi::EventState state, const StateArgs *args, Record &record) {
  record.state = static_cast<int16_t>(state);
  if (!args)
    return;
  if constexpr (version <= 3) {
    if (state <= abi::kProxyOpRecvDone)
      record.count = args->proxyOp.transSize;
  } else {
    if ((state >= abi::kProxyStepSendGpuWait && state <= abi::kProxyStepRecvGpuWait) ||
        state == abi::kProxyStepSendPeerWait)
      record.count = args->proxyStep.transSize;
    if (state == abi::kKernelChStop || state == abi::kKernelPhaseStop)
      record.stamp = args->kernelCh.pTimer;
  }
  if (state >= abi::kProxyCtrlIdle && state <= abi::kProxyCtrlAppendEnd)
    record.number = args->proxyCtrl.appendedProxyOps;
}

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TRANSLATE_H
