#include "runtime/profiler/host/translate.h"

namespace coll::profiler {

using namespace abi;

namespace {

const char *orEmpty(const char *text) { return text ? text : ""; }

//===-- the parts that differ between versions ----------------------------------===//

// The fields that all versions have for a collective.
template <typename From, typename To>
void copyColl(const From &from, To &to) {
  to = {};
  to.seqNumber = from.seqNumber;
  to.func = orEmpty(from.func);
  to.sendBuff = from.sendBuff;
  to.recvBuff = from.recvBuff;
  to.count = from.count;
  to.root = from.root;
  to.datatype = orEmpty(from.datatype);
  to.nWarps = from.nWarps;
  to.algo = orEmpty(from.algo);
  to.proto = orEmpty(from.proto);
}

template <typename From, typename To>
void copyP2p(const From &from, To &to) {
  to = {};
  to.func = orEmpty(from.func);
  to.buff = from.buff;
  to.datatype = orEmpty(from.datatype);
  to.count = from.count;
  to.peer = from.peer;
}

void lowerColl(const CollV7 &from, CollV2 &to) {
  copyColl(from, to);
  to.name = "";
  to.nMaxChannels = from.nChannels;
}
void lowerColl(const CollV7 &from, CollV3 &to) {
  copyColl(from, to);
  to.name = "";
  to.nMaxChannels = from.nChannels;
}
void lowerColl(const CollV7 &from, CollV4 &to) {
  copyColl(from, to);
  to.nChannels = from.nChannels;
}
void lowerColl(const CollV7 &from, CollV5 &to) {
  copyColl(from, to);
  to.nChannels = from.nChannels;
  to.parentGroup = from.parentGroup;
}

void raiseColl(const CollV2 &from, CollV7 &to) {
  copyColl(from, to);
  to.nChannels = from.nMaxChannels;
}
void raiseColl(const CollV3 &from, CollV7 &to) {
  copyColl(from, to);
  to.nChannels = from.nMaxChannels;
}
void raiseColl(const CollV4 &from, CollV7 &to) {
  copyColl(from, to);
  to.nChannels = from.nChannels;
}
void raiseColl(const CollV5 &from, CollV7 &to) {
  copyColl(from, to);
  to.nChannels = from.nChannels;
  to.parentGroup = from.parentGroup;
}

void lowerP2p(const P2pV7 &from, P2pV2 &to) {
  copyP2p(from, to);
  to.name = "";
}
void lowerP2p(const P2pV7 &from, P2pV4 &to) {
  copyP2p(from, to);
  to.nChannels = from.nChannels;
}
void lowerP2p(const P2pV7 &from, P2pV5 &to) {
  copyP2p(from, to);
  to.nChannels = from.nChannels;
  to.parentGroup = from.parentGroup;
}

void raiseP2p(const P2pV2 &from, P2pV7 &to) { copyP2p(from, to); }
void raiseP2p(const P2pV4 &from, P2pV7 &to) {
  copyP2p(from, to);
  to.nChannels = from.nChannels;
}
void raiseP2p(const P2pV5 &from, P2pV7 &to) {
  copyP2p(from, to);
  to.nChannels = from.nChannels;
  to.parentGroup = from.parentGroup;
}

template <typename From, typename To>
void copyCollApi(const From &from, To &to) {
  to = {};
  to.func = orEmpty(from.func);
  to.count = from.count;
  to.datatype = orEmpty(from.datatype);
  to.root = from.root;
  to.stream = from.stream;
  to.graphCaptured = from.graphCaptured;
}

template <typename From, typename To>
void copyP2pApi(const From &from, To &to) {
  to = {};
  to.func = orEmpty(from.func);
  to.count = from.count;
  to.datatype = orEmpty(from.datatype);
  to.stream = from.stream;
  to.graphCaptured = from.graphCaptured;
}

template <typename From, typename To>
void copyCeColl(const From &from, To &to) {
  to = {};
  to.seqNumber = from.seqNumber;
  to.func = orEmpty(from.func);
  to.sendBuff = from.sendBuff;
  to.recvBuff = from.recvBuff;
  to.count = from.count;
  to.root = from.root;
  to.datatype = orEmpty(from.datatype);
  to.syncStrategy = orEmpty(from.syncStrategy);
  to.intraBatchSync = from.intraBatchSync;
  to.batchSize = from.batchSize;
  to.numBatches = from.numBatches;
  to.ceSeqNum = from.ceSeqNum;
  to.stream = from.stream;
}

//===-- whole descriptors -------------------------------------------------------===//

template <typename From, typename To>
void copyHead(const From &from, To &to) {
  to = {};
  to.type = static_cast<decltype(to.type)>(from.type);
  to.parent = from.parent;
  to.rank = from.rank;
}

// Converts the events that are the same in all versions that have them; false: not one of them.
template <typename From, typename To>
bool copyProxy(const From &from, To &to) {
  switch (from.type) {
  case kGroup:
  case kProxyCtrl:
    return true;
  case kProxyOp:
    to.proxyOp = from.proxyOp;
    return true;
  case kProxyStep:
    to.proxyStep = from.proxyStep;
    return true;
  default:
    return false;
  }
}

template <typename From, typename To>
bool copySinceV5(const From &from, To &to) {
  switch (from.type) {
  case kGroupApi:
    to.groupApi = from.groupApi;
    return true;
  case kCollApi:
    copyCollApi(from.collApi, to.collApi);
    return true;
  case kP2pApi:
    copyP2pApi(from.p2pApi, to.p2pApi);
    return true;
  case kKernelLaunch:
    to.kernelLaunch = from.kernelLaunch;
    return true;
  case kKernelCh:
    to.kernelCh = from.kernelCh;
    return true;
  case kNetPlugin:
    to.netPlugin = from.netPlugin;
    return true;
  default:
    return copyProxy(from, to);
  }
}

template <typename From, typename To>
bool copySinceV6(const From &from, To &to) {
  switch (from.type) {
  case kCeColl:
    copyCeColl(from.ceColl, to.ceColl);
    return true;
  case kCeSync:
    to.ceSync = from.ceSync;
    return true;
  case kCeBatch:
    to.ceBatch = from.ceBatch;
    return true;
  default:
    return copySinceV5(from, to);
  }
}

// Until version 4 the group is the parent of a collective or transfer.
template <typename To>
bool lowerTask(const EventDescriptorV7 &from, To &to) {
  if (from.type == kColl) {
    lowerColl(from.coll, to.coll);
    to.parent = from.coll.parentGroup;
    return true;
  }
  if (from.type == kP2p) {
    lowerP2p(from.p2p, to.p2p);
    to.parent = from.p2p.parentGroup;
    return true;
  }
  return false;
}

template <typename From>
bool raiseTask(const From &from, EventDescriptorV7 &to) {
  if (from.type == kColl) {
    raiseColl(from.coll, to.coll);
    to.coll.parentGroup = from.parent;
  } else if (from.type == kP2p) {
    raiseP2p(from.p2p, to.p2p);
    to.p2p.parentGroup = from.parent;
  } else {
    return false;
  }
  to.parent = nullptr; // there are no events of calls
  return true;
}

// Versions 5 and 6.
template <typename To>
bool lowerTaskSinceV5(const EventDescriptorV7 &from, To &to) {
  if (from.type == kColl)
    lowerColl(from.coll, to.coll);
  else if (from.type == kP2p)
    lowerP2p(from.p2p, to.p2p);
  else
    return false;
  return true;
}

template <typename From>
bool raiseTaskSinceV5(const From &from, EventDescriptorV7 &to) {
  if (from.type == kColl)
    raiseColl(from.coll, to.coll);
  else if (from.type == kP2p)
    raiseP2p(from.p2p, to.p2p);
  else
    return false;
  return true;
}

template <typename Descriptor>
bool copyNet(const EventDescriptorV7 &from, Descriptor &to) {
  if (from.type != kNetPlugin)
    return false;
  to.netPlugin = from.netPlugin;
  return true;
}

} // namespace

bool lower(const EventDescriptorV7 &from, EventDescriptorV2 &to) {
  copyHead(from, to);
  return lowerTask(from, to) || copyProxy(from, to);
}

bool lower(const EventDescriptorV7 &from, EventDescriptorV3 &to) {
  copyHead(from, to);
  if (from.type == kKernelCh) {
    to.kernelCh.channelId = from.kernelCh.channelId;
    return true;
  }
  return lowerTask(from, to) || copyNet(from, to) || copyProxy(from, to);
}

bool lower(const EventDescriptorV7 &from, EventDescriptorV4 &to) {
  copyHead(from, to);
  if (from.type == kKernelCh) {
    to.kernelCh = from.kernelCh;
    return true;
  }
  return lowerTask(from, to) || copyNet(from, to) || copyProxy(from, to);
}

bool lower(const EventDescriptorV7 &from, EventDescriptorV5 &to) {
  copyHead(from, to);
  return lowerTaskSinceV5(from, to) || copySinceV5(from, to);
}

bool lower(const EventDescriptorV7 &from, EventDescriptorV6 &to) {
  copyHead(from, to);
  return lowerTaskSinceV5(from, to) || copySinceV6(from, to);
}

bool lower(const EventDescriptorV7 &from, EventDescriptorV7 &to) {
  to = from;
  return from.type != 0 && (from.type & ~allEvents(7)) == 0 && (from.type & (from.type - 1)) == 0;
}

bool raise(const EventDescriptorV2 &from, EventDescriptorV7 &to) {
  copyHead(from, to);
  return raiseTask(from, to) || copyProxy(from, to);
}

bool raise(const EventDescriptorV3 &from, EventDescriptorV7 &to) {
  copyHead(from, to);
  if (from.type == kKernelCh)
    to.kernelCh.channelId = from.kernelCh.channelId;
  else if (from.type == kNetPlugin)
    to.netPlugin = from.netPlugin;
  else
    return raiseTask(from, to) || copyProxy(from, to);
  return true;
}

bool raise(const EventDescriptorV4 &from, EventDescriptorV7 &to) {
  copyHead(from, to);
  if (from.type == kKernelCh)
    to.kernelCh = from.kernelCh;
  else if (from.type == kNetPlugin)
    to.netPlugin = from.netPlugin;
  else
    return raiseTask(from, to) || copyProxy(from, to);
  return true;
}

bool raise(const EventDescriptorV5 &from, EventDescriptorV7 &to) {
  copyHead(from, to);
  return raiseTaskSinceV5(from, to) || copySinceV5(from, to);
}

bool raise(const EventDescriptorV6 &from, EventDescriptorV7 &to) {
  copyHead(from, to);
  return raiseTaskSinceV5(from, to) || copySinceV6(from, to);
}

bool raise(const EventDescriptorV7 &from, EventDescriptorV7 &to) { return lower(from, to); }

bool hasState(int version, EventState state) {
  if (state >= kProxyStepSendGpuWait && state <= kProxyCtrlAppendEnd)
    return true;
  if (state < kProxyStepSendGpuWait)
    return state >= 0 && version < 4;
  if (state <= kKernelChStop)
    return version >= 4;
  if (state <= kGroupEndApiStart)
    return version >= 5;
  return state <= kCeBatchComplete ? version >= 6 : state == kKernelPhaseStop && version >= 7;
}

StateArgsV2 lowerArgs(EventState state, const StateArgsV7 &args) {
  StateArgsV2 lowered = {};
  if (state >= kProxyCtrlIdle && state <= kProxyCtrlAppendEnd)
    lowered.proxyCtrl = args.proxyCtrl;
  return lowered;
}

StateArgsV7 raiseArgs(EventState state, const StateArgsV2 *args) {
  StateArgsV7 raised = {};
  if (args && state >= kProxyCtrlIdle && state <= kProxyCtrlAppendEnd)
    raised.proxyCtrl = args->proxyCtrl;
  return raised;
}

uint64_t closedUpwards(int version, uint64_t mask) {
  // From the inside out: the parents of each line are in later lines.
  constexpr struct {
    uint64_t children, parents;
  } kParents[] = {
      {kNetPlugin, kProxyStep},
      {kProxyStep, kProxyOp},
      {kKernelPhase, kKernelCh},
      {kProxyOp | kKernelCh, kColl | kP2p},
      {kCeSync | kCeBatch, kCeColl},
      {kColl | kP2p, kGroup},
      {kColl | kCeColl, kCollApi},
      {kP2p, kP2pApi},
      {kCollApi | kP2pApi | kKernelLaunch, kGroupApi},
  };
  for (const auto &level : kParents)
    if (mask & level.children)
      mask |= level.parents;
  return mask & allEvents(version);
}

} // namespace coll::profiler
