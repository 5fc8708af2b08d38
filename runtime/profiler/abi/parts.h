// parts.h - the members of the event descriptors' and state arguments' unions. A name with a
// version is the layout since that version, until the next one.

#ifndef COLL_RUNTIME_PROFILER_ABI_PARTS_H
#define COLL_RUNTIME_PROFILER_ABI_PARTS_H

#include <cstddef>
#include <cstdint>

namespace coll::profiler::abi {

struct CollV2 {
  const char *name;
  uint64_t commHash;
  uint64_t seqNumber;
  const char *func;
  const void *sendBuff;
  void *recvBuff;
  size_t count;
  int root;
  const char *datatype;
  size_t trafficBytes;
  uint8_t nMaxChannels;
  uint8_t nWarps;
  const char *algo;
  const char *proto;
};

struct CollV3 {
  const char *name;
  uint64_t commHash;
  uint64_t seqNumber;
  const char *func;
  const void *sendBuff;
  void *recvBuff;
  size_t count;
  int root;
  const char *datatype;
  uint8_t nMaxChannels;
  uint8_t nWarps;
  const char *algo;
  const char *proto;
};

struct CollV4 {
  uint64_t seqNumber;
  const char *func;
  const void *sendBuff;
  void *recvBuff;
  size_t count;
  int root;
  const char *datatype;
  uint8_t nChannels;
  uint8_t nWarps;
  const char *algo;
  const char *proto;
};

struct CollV5 {
  uint64_t seqNumber;
  const char *func;
  const void *sendBuff;
  void *recvBuff;
  size_t count;
  int root;
  const char *datatype;
  uint8_t nChannels;
  uint8_t nWarps;
  const char *algo;
  const char *proto;
  void *parentGroup; // the parent, until v4
};

struct CollV7 {
  uint64_t seqNumber;
  const char *func;
  const void *sendBuff;
  void *recvBuff;
  size_t count;
  int root;
  const char *datatype;
  uint8_t nChannels;
  uint8_t nWarps;
  const char *algo;
  const char *proto;
  void *parentGroup;
  const char *kernelVariant;
  bool isSymColl;
  uint64_t userTag; // 0: none
};

struct P2pV2 {
  const char *name;
  uint64_t commHash;
  const char *func;
  void *buff;
  const char *datatype;
  size_t count;
  int peer;
};

struct P2pV4 {
  const char *func;
  void *buff;
  const char *datatype;
  size_t count;
  int peer;
  uint8_t nChannels;
};

struct P2pV5 {
  const char *func;
  void *buff;
  const char *datatype;
  size_t count;
  int peer;
  uint8_t nChannels;
  void *parentGroup;
};

struct P2pV7 {
  const char *func;
  void *buff;
  const char *datatype;
  size_t count;
  int peer;
  uint8_t nChannels;
  void *parentGroup;
  uint64_t userTag;
};

struct ProxyOp {
  int pid; // of the process that made the parent: ignore the parent if it is another process
  uint8_t channelId;
  int peer;
  int nSteps;
  int chunkSize;
  int isSend;
};

struct ProxyStep {
  int step;
};

struct KernelChV3 {
  uint8_t channelId;
};

struct KernelChV4 {
  uint8_t channelId;
  uint64_t pTimer; // the GPU's globaltimer at the start
};

struct NetPlugin {
  int64_t id; // network type << 16 | version of `data`
  void *data; // during the call only
};

struct GroupApiV5 {
  bool graphCaptured;
  int groupDepth;
};

struct CollApiV5 {
  const char *func;
  size_t count;
  const char *datatype;
  int root;
  void *stream;
  bool graphCaptured;
};

struct CollApiV7 {
  const char *func;
  size_t count;
  const char *datatype;
  int root;
  void *stream;
  bool graphCaptured;
  uint64_t userTag;
};

struct P2pApiV5 {
  const char *func;
  size_t count;
  const char *datatype;
  void *stream;
  bool graphCaptured;
};

struct P2pApiV7 {
  const char *func;
  size_t count;
  const char *datatype;
  void *stream;
  bool graphCaptured;
  uint64_t userTag;
};

struct KernelLaunchV5 {
  void *stream;
};

struct CeCollV6 {
  uint64_t seqNumber;
  const char *func;
  const void *sendBuff;
  void *recvBuff;
  size_t count;
  int root;
  const char *datatype;
  const char *syncStrategy;
  bool intraBatchSync;
  uint32_t batchSize;
  uint32_t numBatches;
  uint32_t ceSeqNum;
  void *stream;
};

struct CeCollV7 {
  uint64_t seqNumber;
  const char *func;
  const void *sendBuff;
  void *recvBuff;
  size_t count;
  int root;
  const char *datatype;
  const char *syncStrategy;
  bool intraBatchSync;
  uint32_t batchSize;
  uint32_t numBatches;
  uint32_t ceSeqNum;
  void *stream;
  uint64_t userTag;
};

struct CeSyncV6 {
  bool isComplete;
  int nRanks;
};

struct CeBatchV6 {
  int numOps;
  size_t totalBytes;
  bool useIntraSync;
};

struct KernelPhaseV7 {
  uint8_t channelId;
  uint8_t phaseId; // 0 initial synchronisation, 1 compute, 2 final synchronisation
  const char *phaseName;
  uint64_t pTimer; // the GPU's globaltimer at the start
};

// Arguments of states.

struct ProxyOpStateV2 {
  size_t transSize;
  int steps;
};
struct ProxyStepStateV4 {
  size_t transSize;
};
struct ProxyCtrlState {
  int appendedProxyOps;
};
struct NetPluginStateV4 {
  void *data;
};
struct KernelChStateV4 {
  uint64_t pTimer; // the GPU's globaltimer at the stop
};

} // namespace coll::profiler::abi

#endif // COLL_RUNTIME_PROFILER_ABI_PARTS_H
