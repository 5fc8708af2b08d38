// events.h - the common part of all versions of NCCL's profiler ABI: event types, states, results
// and the logger.
//
// A profiler plugin exports tables named ncclProfiler_v2 … _v7; NCCL takes the newest that it
// knows: v2 since NCCL 2.24.3, v3 since 2.26.2, v4 since 2.27.3, v5 since 2.28.3, v6 since 2.29.2,
// v7 since 2.31.2. The layouts follow src/include/plugin/profiler/ of NCCL, where they are frozen;
// the assertions of layout.cc check them. The names are this project's, the order of fields is
// NCCL's.
//
// Threads: init and finalize come from the thread that makes or destroys a communicator; API
// events, collectives and launches from threads of the application; proxy and kernel-channel
// events from the communicator's progress thread. Calls of different threads overlap.

#ifndef COLL_RUNTIME_PROFILER_ABI_EVENTS_H
#define COLL_RUNTIME_PROFILER_ABI_EVENTS_H

#include <cstddef>
#include <cstdint>

namespace coll::profiler::abi {

enum NcclResult : int {
  kNcclSuccess = 0,
  kNcclSystemError = 2,
  kNcclInternalError = 3,
  kNcclInvalidArgument = 4,
  kNcclInvalidUsage = 5,
};

enum NcclLogLevel : int { kNcclLogWarn = 2, kNcclLogInfo = 3 };
inline constexpr unsigned long kNcclLogInit = 0x1, kNcclLogProfile = 0x4000;
using NcclLogger = void (*)(NcclLogLevel level, unsigned long subsystems, const char *file,
                            int line, const char *format, ...);

// An activation mask is an OR of these. A bit also makes NCCL start the parents of its events.
enum EventType : uint64_t {
  kGroup = 1u << 0,
  kColl = 1u << 1,
  kP2p = 1u << 2,
  kProxyOp = 1u << 3,
  kProxyStep = 1u << 4,
  kProxyCtrl = 1u << 5,
  kKernelCh = 1u << 6,      // since v3
  kNetPlugin = 1u << 7,     // since v3
  kGroupApi = 1u << 8,      // since v5
  kCollApi = 1u << 9,       // since v5
  kP2pApi = 1u << 10,       // since v5
  kKernelLaunch = 1u << 11, // since v5
  kCeColl = 1u << 12,       // since v6
  kCeSync = 1u << 13,       // since v6
  kCeBatch = 1u << 14,      // since v6
  kKernelPhase = 1u << 15,  // since v7
};

inline constexpr int kOldestVersion = 2, kNewestVersion = 7;

// All events of a version; 0 for an unknown version.
inline constexpr uint64_t allEvents(int version) {
  constexpr uint64_t kBits[] = {6, 8, 8, 12, 15, 16};
  return version < kOldestVersion || version > kNewestVersion
             ? 0
             : (uint64_t(1) << kBits[version - kOldestVersion]) - 1;
}

// Not all versions report all states; a plugin must ignore a state that it does not know.
enum EventState : int {
  // A proxy op's, until v3.
  kProxyOpSendPosted = 0,
  kProxyOpSendRemFifoWait = 1,
  kProxyOpSendTransmitted = 2,
  kProxyOpSendDone = 3,
  kProxyOpRecvPosted = 4,
  kProxyOpRecvReceived = 5,
  kProxyOpRecvTransmitted = 6,
  kProxyOpRecvDone = 7,
  // A proxy step's. Each state lasts until the next one, or until the step stops.
  kProxyStepSendGpuWait = 8, // the GPU has not yet written the data
  kProxyStepSendWait = 9,    // the network sends the data
  kProxyStepRecvWait = 10,   // the data has not arrived yet
  kProxyStepRecvFlushWait = 11,
  kProxyStepRecvGpuWait = 12, // the GPU has not yet taken the data
  // The progress thread's (ProxyCtrl).
  kProxyCtrlIdle = 13,
  kProxyCtrlActive = 14,
  kProxyCtrlSleep = 15,
  kProxyCtrlWakeup = 16,
  kProxyCtrlAppend = 17,
  kProxyCtrlAppendEnd = 18,
  kProxyOpInProgress = 19,     // since v4
  kProxyStepSendPeerWait = 20, // since v4: the receiver has not given a place for the data yet
  kNetPluginUpdate = 21,       // since v4
  kKernelChStop = 22,          // since v4, with the GPU's stamp
  kGroupStartApiStop = 23,     // since v5
  kGroupEndApiStart = 24,      // since v5
  kCeCollStart = 25,           // since v6
  kCeCollComplete = 26,
  kCeSyncStart = 27,
  kCeSyncComplete = 28,
  kCeBatchStart = 29,
  kCeBatchComplete = 30,
  kKernelPhaseStop = 31, // since v7, with the GPU's stamp
};

} // namespace coll::profiler::abi

#endif // COLL_RUNTIME_PROFILER_ABI_EVENTS_H
