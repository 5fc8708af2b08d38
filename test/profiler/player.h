// player.h - simulates NCCL for a profiler plugin: makes the calls in the order and with the
// parents of each version of the ABI.

#ifndef COLL_TEST_PROFILER_PLAYER_H
#define COLL_TEST_PROFILER_PLAYER_H

#include "runtime/profiler/abi/tables.h"
#include "runtime/profiler/perfetto/writer.h"

#include <cstdarg>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>

namespace coll::profiler::test {

template <int version>
struct Abi;
#define COLL_ABI(number)                                                                           \
  template <>                                                                                      \
  struct Abi<number> {                                                                             \
    using Table = abi::ProfilerV##number;                                                          \
    using Descriptor = abi::EventDescriptorV##number;                                              \
    using Args = abi::StateArgsV##number;                                                          \
    static constexpr char kSymbol[] = "ncclProfiler_v" #number;                                    \
  }
COLL_ABI(2);
COLL_ABI(3);
COLL_ABI(4);
COLL_ABI(5);
COLL_ABI(6);
COLL_ABI(7);
#undef COLL_ABI

inline void silentLogger(abi::NcclLogLevel, unsigned long, const char *, int, const char *, ...) {}

// One communicator of one rank.
template <int version>
class Player {
public:
  using Descriptor = typename Abi<version>::Descriptor;
  using Args = typename Abi<version>::Args;

  Player(typename Abi<version>::Table *table, uint64_t id, int rank = 0, int ranks = 2)
      : table_(table), rank_(rank) {
    if constexpr (version <= 3)
      result = table->init(&context, &mask);
    else if constexpr (version == 4)
      result = table->init(&context, &mask, "player", id, 1, ranks, rank, silentLogger);
    else
      result = table->init(&context, id, &mask, "player", 1, ranks, rank, silentLogger);
  }
  abi::NcclResult finalize() { return table_->finalize(context); }

  Descriptor describe(uint64_t type, void *parent) const {
    Descriptor descriptor;
    std::memset(static_cast<void *>(&descriptor), 0, sizeof(descriptor));
    descriptor.type = static_cast<decltype(descriptor.type)>(type);
    descriptor.parent = parent;
    descriptor.rank = rank_;
    return descriptor;
  }
  void *start(Descriptor descriptor) { return start(context, descriptor); }
  void *start(void *ofContext, Descriptor descriptor) {
    void *handle = &handle; // is to be overwritten
    table_->startEvent(ofContext, &handle, &descriptor);
    return handle;
  }
  void stop(void *handle) { table_->stopEvent(handle); }
  void record(void *handle, abi::EventState state, Args *args = nullptr) {
    table_->recordEventState(handle, state, args);
  }

  Descriptor coll(void *parent, uint64_t seq, int channels = 1, uint64_t tag = 0) const {
    Descriptor descriptor = describe(abi::kColl, parent);
    auto &coll = descriptor.coll;
    coll.seqNumber = seq;
    coll.func = "AllReduce";
    coll.count = 1024;
    coll.datatype = "ncclFloat32";
    coll.algo = "RING";
    coll.proto = "SIMPLE";
    if constexpr (version <= 3)
      coll.nMaxChannels = static_cast<uint8_t>(channels);
    else
      coll.nChannels = static_cast<uint8_t>(channels);
    if constexpr (version >= 7) {
      coll.userTag = tag;
      coll.kernelVariant = "ring_simple";
    }
    return descriptor;
  }
  Descriptor proxyOp(void *parent, bool isSend, int pid = getpid(), int channel = 0) const {
    Descriptor descriptor = describe(abi::kProxyOp, parent);
    descriptor.proxyOp.pid = pid;
    descriptor.proxyOp.channelId = static_cast<uint8_t>(channel);
    descriptor.proxyOp.peer = 1;
    descriptor.proxyOp.nSteps = 2;
    descriptor.proxyOp.chunkSize = 2048;
    descriptor.proxyOp.isSend = isSend;
    return descriptor;
  }

  // The enqueueing of a collective; returns its handle, which has stopped.
  void *enqueue(uint64_t seq, int channels = 1, uint64_t tag = 0) {
    void *group = nullptr, *call = nullptr;
    if constexpr (version >= 5) {
      group = start(describe(abi::kGroupApi, nullptr));
      Descriptor api = describe(abi::kCollApi, group);
      api.collApi.func = "AllReduce";
      api.collApi.datatype = "ncclFloat32";
      api.collApi.count = 1024;
      call = start(api);
      record(group, abi::kGroupStartApiStop);
      stop(call);
      record(group, abi::kGroupEndApiStart);
    } else {
      call = start(describe(abi::kGroup, nullptr));
    }
    void *handle = start(coll(call, seq, channels, tag));
    if constexpr (version >= 5) {
      void *launch = start(describe(abi::kKernelLaunch, group));
      stop(launch);
      stop(handle);
      stop(group);
    } else {
      stop(handle);
      stop(call);
    }
    return handle;
  }

  // The progress thread: two proxy ops with two steps each, and the kernel's channels.
  void progress(void *handle, int channels = 1) {
    for (int channel = 0; channel < channels; ++channel) {
      void *send = start(proxyOp(handle, true, getpid(), channel));
      void *receive = start(proxyOp(handle, false, getpid(), channel));
      const uint64_t stamp = perfetto::monotonicNs() - kGpuLagNs;
      kernel(handle, channel, stamp, stamp + 500);
      for (int step = 0; step < 2; ++step) {
        this->step(send, step, {abi::kProxyStepSendGpuWait, abi::kProxyStepSendWait});
        this->step(receive, step, {abi::kProxyStepRecvWait, abi::kProxyStepRecvGpuWait});
      }
      stop(send);
      stop(receive);
    }
  }
  void step(void *op, int number, std::initializer_list<abi::EventState> states) {
    Descriptor descriptor = describe(abi::kProxyStep, op);
    descriptor.proxyStep.step = number;
    void *handle = start(descriptor);
    for (abi::EventState state : states) {
      Args args;
      std::memset(&args, 0, sizeof(args));
      if constexpr (version >= 4)
        args.proxyStep.transSize = 2048;
      record(handle, state, &args);
    }
    stop(handle);
  }
  // How far the GPU's clock is behind the host's.
  static constexpr uint64_t kGpuLagNs = 1'000'000'000;
  void kernel(void *parent, int channel, uint64_t startStamp, uint64_t stopStamp) {
    if constexpr (version >= 3) {
      Descriptor descriptor = describe(abi::kKernelCh, parent);
      descriptor.kernelCh.channelId = static_cast<uint8_t>(channel);
      if constexpr (version >= 4)
        descriptor.kernelCh.pTimer = startStamp;
      void *handle = start(descriptor);
      if constexpr (version >= 4) {
        Args args;
        args.kernelCh.pTimer = stopStamp;
        record(handle, abi::kKernelChStop, &args);
      }
      stop(handle);
    }
  }

  void *context = nullptr;
  int mask = -1;
  abi::NcclResult result;

private:
  typename Abi<version>::Table *table_;
  int rank_;
};

} // namespace coll::profiler::test

#endif // COLL_TEST_PROFILER_PLAYER_H
