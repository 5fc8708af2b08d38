// host.h - reports this runtime's events to profiler plugins that were built for NCCL.
//
// It listens to the trace (base/trace.h) and converts it to NCCL's events:
//
//   trace        events
//   Call         GroupApi > CollApi or P2pApi, then Group > Coll or P2p
//   Group        GroupApi and Group of the calls in it
//   ProxyOp      ProxyOp, below Coll or P2p
//   ProxyStep    ProxyStep, with the states SendWait, RecvWait, RecvGPUWait
//   NetPart      NetPlugin, with a CollNetEvent
//   Device       KernelCh of channel 0 below Coll or P2p, with the GPU's stamps
//
// A call outside of a Group is a group of one, as in NCCL. The API events stop when the call has
// returned, Coll and P2p when the operation is complete on this rank (NCCL stops those when they
// are enqueued). userTag is the op id + 1, because 0 means that there is none.
//
// A communicator is announced to the plugins at its first call, and finalized with the host.

#ifndef COLL_RUNTIME_PROFILER_HOST_HOST_H
#define COLL_RUNTIME_PROFILER_HOST_HOST_H

#include "runtime/base/trace.h"
#include "runtime/profiler/host/multiplexer.h"
#include "runtime/profiler/host/span_table.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace coll::profiler {

class Host final : public rt::TraceSink {
public:
  // Listens from now on, if there is a plugin.
  explicit Host(std::vector<std::shared_ptr<Plugin>> plugins);
  // No span may be in progress. Dropped events are reported in one warning.
  ~Host() override;

  void onEvent(const rt::TraceEvent &event) override;
  Multiplexer::Drops drops() const;

  // The host of this process's plugins, which lives as long as one caller holds it; null if there
  // are none. COLL_PROFILER_PLUGINS names them. If that is unset and NCCL, which would look for
  // them itself, is not in use: NCCL_PROFILER_PLUGIN, or libnccl-profiler.so.
  static std::shared_ptr<Host> ofEnvironment(bool ncclIsInUse);

private:
  // A rank's membership of a communicator, identified by the description in its calls.
  struct Member {
    const rt::TraceGroup *group;
    uint64_t id;
    void *context;
    std::vector<int32_t> ranks;
    uint64_t numCollectives = 0;
  };
  // The open events of a span.
  struct Span {
    void *context = nullptr;
    void *groupApi = nullptr, *api = nullptr, *group = nullptr; // null below Call, or not its own
    void *launch = nullptr;                                     // of a call on a GPU's stream
    void *handle = nullptr;                                     // Coll, P2p, ProxyOp, …
    int32_t member = -1;
    int64_t bytes = 0;
    bool isSend = false;
  };
  // Ranks share a few of these, so that their threads seldom meet.
  struct Shard {
    std::mutex mutex; // for look-ups only; plugins are called without it
    SpanTable<Span> spans;
    std::vector<Member> members;
  };
  static constexpr size_t kNumShards = 64;

  Shard &shardOf(int32_t rank) { return shards_[static_cast<size_t>(rank) % kNumShards]; }
  bool find(int32_t rank, uint64_t id, Span &span);
  void keep(int32_t rank, uint64_t id, const Span &span);
  int32_t memberOf(const rt::TraceEvent &event, Span &span);
  int positionOf(int32_t rank, int32_t member, int32_t peer);
  uint64_t nextNumber(int32_t rank, int32_t member);

  void begin(const rt::TraceEvent &event);
  void beginGroup(const rt::TraceEvent &event);
  void beginCall(const rt::TraceEvent &event);
  void beginBelow(const rt::TraceEvent &event);
  void onDevice(const rt::TraceEvent &event);
  void startApi(const rt::TraceEvent &event, void *groupApi, Span &span);
  void startTask(const rt::TraceEvent &event, void *group, Span &span);
  void startLaunch(const rt::TraceEvent &event, void *groupApi, Span &span);
  void startGroup(int32_t rank, Span &span);
  void stopApi(Span &span);
  void endCall(const rt::TraceEvent &event);
  void state(const rt::TraceEvent &event);

  Multiplexer multiplexer_;
  std::unique_ptr<Shard[]> shards_;
  std::atomic<uint64_t> droppedSpans_{0};
};

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_HOST_H
